"""Hellos: how a node learns its neighbours, and the neighbours of its neighbours."""
