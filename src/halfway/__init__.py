"""Halfway: publish/subscribe for networks in which nobody is the broker.

Published designs, each implemented once, measured beside their printed numbers.
Importing this package costs nothing: the compiled rooms load when they are first used.

>>> halfway.compare("scenario.toml", systems=["gossip", "flooding"]).frame()  # doctest: +SKIP
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`halfway.compare`, loaded when it is first asked for."""
    if name == "compare":
        from halfway.comparison.api import compare

        return compare
    raise AttributeError(f"module 'halfway' has no attribute '{name}'")
