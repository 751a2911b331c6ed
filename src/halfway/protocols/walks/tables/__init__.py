"""The tables of the walk systems: their entries, the place of each member, and the next nodes.

[drw §3] a node has a routing table with the information and the node that transmitted it. The
limits and the layout of the tables are ours, because the paper states no limit of a node's memory.
"""
