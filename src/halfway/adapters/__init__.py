"""Adapters: how applications speak to a system, the options and table sizes of the system, and the
registry of systems.
"""
