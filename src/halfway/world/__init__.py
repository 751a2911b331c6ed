"""The simulated world, unknown to the nodes: networks, underlays, mobility, faults, workloads."""
