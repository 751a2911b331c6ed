"""The testbed: real nodes on the air run a scenario, which is also simulated."""
