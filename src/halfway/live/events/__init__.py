"""Topics, filters and bodies of events at one node."""
