"""Pictures of networks, walks and cells."""
