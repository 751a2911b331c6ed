"""The environment of a run: reach, mobility, faults and neighbour discovery."""
