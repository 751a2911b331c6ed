"""Delivery accounting and the outcome of a run."""
