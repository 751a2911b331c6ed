"""The system of a stepper: state and rules of one live node, and their message kinds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from halfway.core.kinds import Kinds


class SystemNode(NamedTuple):
    """One node of a system, ready to run: the live face of what an adapter makes for a run."""

    state: Any  # with one row
    rules: Any
    most_emissions: int  # of one call of the handler
    kinds: Kinds
    limits: Mapping[str, int]  # of the ranges of its records, by name
    numbered: bool = True  # whether topics are the node's own numbers; else equal on all nodes
