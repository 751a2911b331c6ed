"""Halfway: publish/subscribe for networks without brokers.

Published systems, each implemented once, with their results compared with the published ones.
Importing this package is cheap: compiled modules load when they are first used.

>>> halfway.compare("scenario.toml", systems=["gossip", "flooding"]).frame()  # doctest: +SKIP
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `halfway.compare` on first use."""
    if name == "compare":
        from halfway.comparison.api import compare

        return compare
    raise AttributeError(f"module 'halfway' has no attribute '{name}'")
