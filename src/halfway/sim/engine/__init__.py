"""The event loop, its queue, the records in flight, and changes of the world."""
