"""Broker trees in bulk: joins, repairs, failures, load."""
