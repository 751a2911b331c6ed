"""The event overlay built of walks that meet, with Bloom filters for forwarding (paper 2)."""
