"""The commands that applications give to their nodes."""
