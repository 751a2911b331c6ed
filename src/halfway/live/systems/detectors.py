"""The live faces of the failure detectors: the node is a member, and watches all other members.

A detector spreads no events, so it has no topics. The walks of some detectors belong to one topic,
the group of all members, which has the number 0 on every node.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from halfway.live.members import Members, Watched
from halfway.live.systems.face import Face, made
from halfway.protocols.failure_detectors import counter_records
from halfway.protocols.failure_detectors.member_index import MemberIndex, member_shortfalls
from halfway.protocols.failure_detectors.member_list import Probes
from halfway.protocols.failure_detectors.probe_messages import DEAD
from halfway.protocols.failure_detectors.silence import HeardMembers, counter_number
from halfway.protocols.walk_detectors.path_shortfalls import path_shortfalls

HOPS = 8  # in flight, for which a node has room beside those of its members
_COUNTERS = int(made(counter_number, 1, 0))  # of one incarnation
# Records have the number of a counter as a double of 52 bits, which has room for 21 bits of the
# incarnation.
MOST_COUNTED = int(counter_records.RANGES["counter"].high) // _COUNTERS


class DetectorFace(Face):
    """The live face of a failure detector."""

    numbered = False
    broadcast = False
    spreads_events = False

    def _made_rules(self) -> Any:
        return self.module.rules(self.values)

    def _made_state(self, rules: Any) -> Any:
        del rules
        parameters, members = self.parameters, int(self.values["members"])
        sizes = self._sizes(members)
        return made(self.module.state, self._node_ids(), members, parameters.seed, **sizes)

    def _sizes(self, members: int) -> dict[str, int]:
        """Return the sizes of the detector's tables beside the number of members: the window of φ,
        if the detector has one.
        """
        del members
        values = self.values
        return {"intervals": int(values["phi_intervals"])} if values.get("phi_threshold") else {}

    def shortfalls(self) -> dict[str, int]:
        """Return the members for which the node of a live detector had no room."""
        return {**super().shortfalls(), **_above_zero(member_shortfalls(self.node.state))}

    def member_view(
        self, owner: str, now: Callable[[], float], name_of: Callable[[int], str]
    ) -> Members:
        """Return the view of the members that the node of a live detector knows."""
        return Members(owner, int(self.values["members"]), self, now, name_of)

    def watched(self) -> list[Watched]:
        """Return the members in the state of a live detector, in ascending order of ids."""
        index = self._table().members
        return [self._watched_at(rank) for rank in range(int(index.known[0]))]

    def watched_member(self, node_id: int) -> Watched | None:
        """Return one member from the state of a live detector, or None for an unknown node."""
        index = self._table().members
        known = index.node_id[0, : int(index.known[0])]
        rank = int(np.searchsorted(known, node_id))
        if rank == len(known) or int(known[rank]) != node_id:
            return None
        return self._watched_at(rank)

    def _watched_at(self, rank: int) -> Watched:
        """Return the member with a rank in the index of the live detector's members."""
        table = self._table()
        index: MemberIndex = table.members
        known = table.entry[0, int(index.place[0, rank])]
        if isinstance(table, Probes):
            is_suspected, incarnation = known["status"] == DEAD, int(known["incarnation"])
        else:
            is_suspected = known["is_suspected"] == 1
            incarnation = int(index.number[0, rank]) // _COUNTERS
        return Watched(int(index.node_id[0, rank]), bool(is_suspected), incarnation)

    def _table(self) -> HeardMembers | Probes:
        """Return the table of members in the state of the live detector's node."""
        return next(_tables_in(self.node.state))


class CountingFace(DetectorFace):
    """The live face of a failure detector in which neighbours gossip counters."""

    most_incarnation = MOST_COUNTED


class WalkDetectorFace(DetectorFace):
    """The live face of a failure detector over walks."""

    def _sizes(self, members: int) -> dict[str, int]:
        """Return the sizes of the tables of a detector with walks: a node has a bounded number of
        neighbours.
        """
        return super()._sizes(members) | {"degree": self.parameters.limits.neighbours}


class WalkProbeFace(WalkDetectorFace):
    """The live face of the failure detector whose walks look for members."""

    most_incarnation = MOST_COUNTED


class PathFace(WalkDetectorFace):
    """The live face of a failure detector whose records follow the paths of a group."""

    def _sizes(self, members: int) -> dict[str, int]:
        """Return the sizes of the tables of a detector on paths, with its hops in flight."""
        # The records of all members may wait for the acknowledgement of one dead neighbour.
        hops = {"places": 2 * members + HOPS} if self.values["retries"] else {}
        return super()._sizes(members) | hops

    def shortfalls(self) -> dict[str, int]:
        """Return what the node of a live detector on paths forgot or gave up."""
        return {**super().shortfalls(), **_above_zero(path_shortfalls(self.node.state))}


class PathGossipFace(PathFace):
    """The live face of the failure detector with gossip of counters on paths."""

    most_incarnation = MOST_COUNTED


def _tables_in(state: Any) -> Iterator[HeardMembers | Probes]:
    """Yield the tables of members in the state of a live detector."""
    for part in state:
        if isinstance(part, HeardMembers | Probes):
            yield part


def _above_zero(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}
