"""Whole-graph drivers of the protocols' decisions, without engine or Spark."""
