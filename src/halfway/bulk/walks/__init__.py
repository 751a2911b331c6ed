"""Bulk runs of random and directional walks."""
