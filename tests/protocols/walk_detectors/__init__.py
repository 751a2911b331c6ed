"""Failure detectors over walks: broken paths, and what mends them."""
