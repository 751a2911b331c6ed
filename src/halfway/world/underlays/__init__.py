"""Wired underlays: their generators, routes, and disjoint paths."""
