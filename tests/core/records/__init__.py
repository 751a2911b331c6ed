"""Records at the border of a node."""
