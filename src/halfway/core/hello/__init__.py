"""Hellos: how a node learns which neighbours it has, and which neighbours these have."""
