"""Fault declarations: crash, churn, pause, link cut, partition, and attacks.

`fault_times.py` computes the times of their events.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from halfway.world.attacks import FIELDS_OF_KIND, Attack, FaultDeclaration

Memory = Literal["kept", "lost"]
Node = int | str  # the label of a node in the network; its row where there are no labels


class Crash(FaultDeclaration, frozen=True, kw_only=True, tag="crash"):
    """A crash fault of one node, or of a share of nodes drawn by the seed, with optional recovery.

    Exactly round(share x n) nodes crash. Times in seconds; for_ None: no recovery. memory: whether
    a node comes back with what it knew, as from flash memory, or with an empty state.
    """

    node: Node | None = None
    share: float | None = None
    at: float
    for_: float | None = None
    memory: Memory = "kept"


class Churn(FaultDeclaration, frozen=True, kw_only=True, tag="churn"):
    """A churn fault of a share of nodes: alternating exponential times up and down, in seconds.

    All nodes are up at first, so the share that is up falls from 1 towards up / (up + down) within
    a few mean times. From `until` on (None: the end) no node goes down; those down recover.
    memory: as in a crash.
    """

    mean_up_s: float
    mean_down_s: float
    share: float = 1.0
    until: float | None = None
    memory: Memory = "kept"


class Pause(FaultDeclaration, frozen=True, kw_only=True, tag="pause"):
    """A pause fault of one node, or of a share of nodes drawn by the seed: slow nodes.

    A node that pauses neither handles nor sends. When the node resumes, it handles the due timers
    in their order, and then the arrived records in theirs (Dadgar, Phillips & Currey 2018, §V,
    block nodes like this). Times in seconds. every_s: from the start of a pause to the start of the
    next; None: one pause.
    """

    node: Node | None = None
    share: float | None = None
    at: float
    for_: float
    every_s: float | None = None


class LinkCut(FaultDeclaration, frozen=True, kw_only=True, tag="link-cut"):
    """A cut fault of the link of two nodes, both directions, with optional recovery (seconds)."""

    a: Node
    b: Node
    at: float
    for_: float | None = None


class Partition(FaultDeclaration, frozen=True, kw_only=True, tag="partition"):
    """A partition fault, which cuts all links between two sides of a line, or between some nodes
    and the rest.

    line: the infinite straight line through (x0, y0) and (x1, y1), in the network's units. A node
    on the line belongs to the right side, seen from (x0, y0) towards (x1, y1).
    """

    line: tuple[float, float, float, float] | None = None
    nodes: frozenset[Node] | None = None
    at: float
    for_: float | None = None


Fault = Crash | Churn | Pause | LinkCut | Partition | Attack


def turns_a_second(faults: Sequence[Fault], n: int) -> float:
    """Return the expected number of events per second among n nodes from fault declarations of
    churn and pauses.

    A fault whose times are not positive counts as none; `fault_times.schedule` refuses it.
    """
    turns = 0.0
    for fault in faults:
        match fault:
            case Churn() if fault.mean_up_s + fault.mean_down_s > 0.0:
                turns += 2.0 * n * fault.share / (fault.mean_up_s + fault.mean_down_s)
            case Pause(every_s=float(every_s)) if every_s > 0.0:
                turns += 2.0 * n * (1.0 if fault.share is None else fault.share) / every_s
    return turns


def loses_memory(faults: Sequence[Fault]) -> bool:
    """Return whether a fault declaration takes the memory of nodes."""
    return any(isinstance(fault, Crash | Churn) and fault.memory == "lost" for fault in faults)


def drop_defaults(fault: dict[str, Any]) -> None:
    """Remove from the plain values of a fault declaration the fields that a later version added, if
    they have their defaults.
    """
    if fault.get("memory") == "kept":
        del fault["memory"]
    if fault["fault"] != Attack.__struct_config__.tag:
        return
    for field in msgspec.structs.fields(Attack):
        if field.name in FIELDS_OF_KIND and fault[field.name] == field.default:
            del fault[field.name]
