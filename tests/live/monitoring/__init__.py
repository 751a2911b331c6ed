"""Tests of metrics and of the status page."""
