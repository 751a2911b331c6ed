"""Both walks in bulk."""
