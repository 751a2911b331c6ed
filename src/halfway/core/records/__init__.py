"""Records at the border of a node: the check before its handler, and their form on the wire."""
