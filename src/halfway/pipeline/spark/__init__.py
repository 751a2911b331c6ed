"""Spark: sessions, clusters, batches of runs, their account, and errors."""
