"""The event queue of the engine: a calendar queue, its heaps, and the width of its buckets."""
