"""Plots of a comparison as SVG, and the mark of each system in them."""
