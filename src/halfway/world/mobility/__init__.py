"""Mobility: random waypoint, trace files, and the links of moving nodes."""
