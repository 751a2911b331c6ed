"""Nodes that move: random waypoint and recorded tracks."""
