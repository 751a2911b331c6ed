"""The scenario file: its fields, its reading, and the simulation that it describes."""
