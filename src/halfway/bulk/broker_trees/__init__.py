"""Broker trees in bulk: joins, repairs, failures and load over a whole overlay."""
