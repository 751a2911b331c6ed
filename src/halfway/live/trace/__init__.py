"""The trace of a live node: the records that it handled, and their replay into the same handler."""
