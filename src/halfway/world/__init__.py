"""What the simulator knows and no node does: networks, positions, true shortest paths."""
