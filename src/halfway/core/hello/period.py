"""The interval of hellos unless a user sets another one, simulated and live."""

HELLO_PERIOD_S = 1.0  # mean time between two hellos of a node
