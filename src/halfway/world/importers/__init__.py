"""Importers: networks and underlays from BRITE, GraphML and table files."""
