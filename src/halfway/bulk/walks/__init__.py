"""Bulk walks: random and directional walks of many pairs on one network, without messages."""
