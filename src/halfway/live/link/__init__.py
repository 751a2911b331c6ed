"""Links of a node: its sockets, its hellos and its neighbours."""
