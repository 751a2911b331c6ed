"""The walk systems of paper 1: directional and pure random walks, and what they share."""
