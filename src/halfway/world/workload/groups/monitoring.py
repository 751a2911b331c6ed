"""The workload of failure detection: members monitor each other, and no event is published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.workload.demand import Demand, Publications, drawn_order
from halfway.world.workload.named_roles import BrokerPeriod, Period

FEWEST = 2  # members: one has no other to monitor
_STREAM = 2**30 + 1  # random stream of the members; topics have lower numbers


@dataclass
class Monitoring:
    """The demand of members that monitor each other.

    start_s: the time in s from which the metrics count; before it, members learn of each other.
    members: rows of the members, each once; the other nodes are relays. None: every node is a
    member. Raises Problem for a time below 0, or not finite, and for fewer than two members.
    """

    start_s: float = 0.0
    members: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.start_s < np.inf:
            raise Problem(f"start_s = {self.start_s:g}: expected a finite time >= 0")
        if self.members is not None:
            _check_members(self.members)
        self.topics, self.has_payloads = 1, False
        self.periods: Mapping[tuple[int, int], Period] = {}
        self.publishing_periods: Mapping[tuple[int, int], Period] = {}
        self.brokers: tuple[BrokerPeriod, ...] = ()
        self.shape: tuple[int, ...] = ()
        self.publishers = [np.zeros(0, np.int32)]
        self.subscribers = [np.zeros(0, np.int32)]

    def next_at(self) -> float:
        """Return inf, as members that monitor each other publish nothing."""
        return np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return no publications of monitoring members."""
        del until, most
        none = np.zeros(0, np.int32)
        return Publications(np.zeros(0), none, none, none)

    def begun_again(self) -> "Monitoring":
        """Return the same demand of monitoring members."""
        return self


def _check_members(rows: Sequence[int]) -> None:
    """Raise Problem for rows that are not members which can monitor each other."""
    for row in rows:
        if row < 0:
            raise Problem(f"members: row {row}: expected a row >= 0")
    if len(set(rows)) < len(rows):
        twice = next(row for k, row in enumerate(rows) if row in rows[:k])
        raise Problem(f"members: row {twice}: expected each row once")
    if len(rows) < FEWEST:
        what = f"members = {list(rows)}: expected at least {FEWEST} nodes"
        raise Problem(what, remedy="name more members, or leave out members")


def drawn_members(n: int, count: int, seed: int) -> list[int]:
    """Draw monitoring members among n nodes: their rows, ascending. With one seed, a smaller number
    of members is a part of a larger one. Raises Problem for more members than nodes.
    """
    if count > n:
        what = f"members = {count}: expected at most {n}, the number of nodes"
        raise Problem(what, remedy="lower members, or use a larger network")
    return sorted(drawn_order(n, seed, _STREAM)[:count].tolist())


def relays_of(demand: Demand, n: int) -> npt.NDArray[np.bool_] | None:
    """Return which of n nodes are relays, [n]; None if a demand has members only.

    Raises Problem for a member that is not a node.
    """
    if not isinstance(demand, Monitoring) or demand.members is None:
        return None
    relays = np.ones(n, np.bool_)
    for row in demand.members:
        if row >= n:
            raise Problem(f"workload: node {row}: expected nodes from 0 to {n - 1}")
        relays[row] = False
    return relays if relays.any() else None
