"""The walk systems of paper 1: directional walks, pure random walks, and their common modules."""
