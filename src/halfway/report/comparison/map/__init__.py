"""The map of a comparison page: its section, its packed replays, its scripts and its style."""
