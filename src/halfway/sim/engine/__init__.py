"""The engine of the simulator: event loop, queue, records in flight, and changes of the world."""
