"""The interval of hellos unless another one is chosen, simulated and live."""

HELLO_PERIOD_S = 1.0  # mean time between two hellos of a node
