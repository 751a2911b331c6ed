"""Random and directional walks that meet: the handlers of paper 1's systems and their shared parts."""
