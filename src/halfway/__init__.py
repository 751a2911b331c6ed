"""Halfway: publish/subscribe for networks without brokers.

Published systems, each implemented once, with their results compared with the published results.
Importing this package is cheap: compiled modules load when they are first used.

>>> halfway.simulate("scenario.toml", "gossip").delivery_ratio  # doctest: +SKIP
>>> halfway.compare("scenario.toml", "gossip,flooding").table("energy")  # doctest: +SKIP
"""

from typing import Any

from halfway.package import __version__ as __version__
from halfway.problem import Problem as Problem


def __getattr__(name: str) -> Any:
    """Import `halfway.compare`, `halfway.groups` and `halfway.simulate` on first use."""
    if name == "compare":
        from halfway.api.comparison import compare

        return compare
    if name == "groups":
        from halfway.api.groups import groups

        return groups
    if name == "simulate":
        from halfway.api.simulation import simulate

        return simulate
    raise AttributeError(f"module 'halfway' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), "compare", "groups", "simulate"])
