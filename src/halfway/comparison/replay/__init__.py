"""One run of each system as plain data for the replay map."""
