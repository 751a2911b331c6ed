"""Whole-graph drivers of protocol decisions, and a model of broker trees: no engine, no Spark."""
