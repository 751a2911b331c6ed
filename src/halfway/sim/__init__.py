"""The simulator: the engine that drives messages, and the bulk driver of walks."""
