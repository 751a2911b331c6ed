"""Network graphs: unit disk graphs, their components and degrees, and shortest paths."""
