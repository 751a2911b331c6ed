"""The tables of the walk systems: their entries, the place of each member, and the next nodes."""
