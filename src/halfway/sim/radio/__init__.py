"""Radios of the simulator: ideal, distance, CSMA and wired; their energy."""
