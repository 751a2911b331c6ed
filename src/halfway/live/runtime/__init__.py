"""A live node: its links, its events and its driver together."""
