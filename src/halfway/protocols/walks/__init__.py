"""Random and directional walks that meet: the systems of paper 1 and their shared parts."""
