"""The default interval of hellos, in simulated and live nodes."""

HELLO_PERIOD_S = 1.0  # mean time between two hellos of a node
