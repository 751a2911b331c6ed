"""The trace of a live node: what it took in, and its replay into the same handler."""
