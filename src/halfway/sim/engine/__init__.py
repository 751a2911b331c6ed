"""The engine of a simulation: event loop, queue, records in flight, and changes of the world."""
