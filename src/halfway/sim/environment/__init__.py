"""The environment of a run: links, mobility, faults, clock errors and neighbour discovery."""
