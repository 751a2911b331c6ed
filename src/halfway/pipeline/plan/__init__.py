"""The plan of a sweep: runs, their seeds and their keys."""
