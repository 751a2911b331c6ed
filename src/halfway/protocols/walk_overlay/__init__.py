"""The walk overlay of paper 2: directional walks that meet form a tree, and Bloom filters on its
links guide the events.
"""
