"""The environment of a run: links, mobility, faults, lost memory, clock errors, the discovery of
neighbours, and what adapters may know of all this.
"""
