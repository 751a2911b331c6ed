"""Cell routing in bulk."""
