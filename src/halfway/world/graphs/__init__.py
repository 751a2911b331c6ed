"""Network graphs: unit disk graphs, compressed rows, statistics."""
