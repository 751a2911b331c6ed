"""Sweeps as data: plan, simulate, measure, judge. The only room that knows Spark."""
