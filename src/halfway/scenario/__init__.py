"""The scenario file: its fields, its reading, sweeps, and the simulation that it describes."""
