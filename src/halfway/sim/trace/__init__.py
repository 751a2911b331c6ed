"""Traces of runs: written and rerun."""
