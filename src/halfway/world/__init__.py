"""The simulated world, which nodes do not know: networks, underlays, mobility, faults,
workloads.
"""
