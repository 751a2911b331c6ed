"""Replays: one run of each system of a comparison as plain data for the map."""
