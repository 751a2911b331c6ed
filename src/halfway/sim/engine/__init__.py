"""The event loop, the queue, and the records in flight."""
