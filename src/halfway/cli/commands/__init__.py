"""The commands of Halfway, one per file."""
