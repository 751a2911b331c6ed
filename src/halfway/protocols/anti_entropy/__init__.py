"""Anti-entropy: random neighbours compare their events, after Demers et al. 1987."""
