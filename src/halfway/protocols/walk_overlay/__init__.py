"""The event overlay of directional walks that meet, with Bloom filters for forwarding (paper 2)."""
