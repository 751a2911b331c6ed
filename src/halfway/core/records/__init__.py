"""Records at the border of a node: the check before the handler, and the form on the wire."""
