"""The overlay of walks in bulk."""
