"""Failure detectors: each node learns which members exist, and suspects the members that are
down.
"""
