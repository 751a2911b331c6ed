"""The system of a live node's stepper: state and rules of the node, and their record kinds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from halfway.core.kinds import Kinds


class SystemNode(NamedTuple):
    """One live node of a system, ready to run: the part of a system instance that a live node
    needs.
    """

    state: Any  # with one row
    rules: Any
    most_emissions: int  # of one call of the handler
    kinds: Kinds
    limits: Mapping[str, int]  # limits of the ranges of record fields, by name
    numbered: bool = True  # whether topics are the node's own numbers; else equal on all nodes
