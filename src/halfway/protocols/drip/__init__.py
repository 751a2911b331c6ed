"""DRIP: brokers that move and serve Voronoi regions (paper 4)."""
