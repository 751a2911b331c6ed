"""Failure detectors: each node learns which members there are, and suspects those that are down."""
