"""The air: a network of namespaces that can be broken on purpose, for real nodes and real packets.

The kernel removes everything here when its process ends, however it ends.
"""
