"""Failure detectors over walks: broken paths, and what ends the mistakes."""
