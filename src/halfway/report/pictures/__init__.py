"""Pictures of networks, walks, overlays and cells."""
