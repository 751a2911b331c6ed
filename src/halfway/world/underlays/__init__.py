"""Wired underlays, their routes, and disjoint paths."""
