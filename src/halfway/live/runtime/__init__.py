"""The runtime of a live node, which joins its links, its events and its driver."""
