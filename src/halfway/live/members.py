"""The members that a live node of a failure detector knows, and the changes of their states."""

import logging
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from halfway.live.mesh import Refusal

MOST_FOLLOWERS = 512  # commands and programs that follow the changes at one node
_LOG = logging.getLogger("halfway.live.members")


class MemberState(StrEnum):
    """The state of a member at a monitor."""

    TRUSTED = "trusted"
    SUSPECTED = "suspected"


_STATES = frozenset(str(state) for state in MemberState)  # names of the reports, too


class Watched(NamedTuple):
    """A member as the state of a failure detector has it."""

    node_id: int
    is_suspected: bool
    incarnation: int


class KnownMember(NamedTuple):
    """A member that a live node knows. since_s: seconds for which the member has had its state.

    name: empty if the member has never been a neighbour of the node. incarnation: in a
    detector that probes members, the number that grows when the member refutes a suspicion; in
    other detectors, the incarnation of the member's node.
    """

    node_id: int
    name: str
    state: MemberState
    since_s: float
    incarnation: int


class Watching(Protocol):
    """The interface to the state of a failure detector, which has its members."""

    def watched(self) -> list[Watched]:
        """Return the members in the state of a failure detector, in ascending order of ids."""
        ...

    def watched_member(self, node_id: int) -> Watched | None:
        """Return one member from the state of a failure detector, or None for an unknown node."""
        ...


class Members:
    """The members that one live node knows. The state of the failure detector has the members; this
    class adds the times of their changes, and calls its followers at each change.

    owner: name of the node. capacity: members for which the detector has room. now: the node's
    clock in seconds. name_of: returns the name of a node, or "" if the node does not hear it.
    """

    def __init__(
        self,
        owner: str,
        capacity: int,
        watching: Watching,
        now: Callable[[], float],
        name_of: Callable[[int], str],
    ) -> None:
        self._owner, self._capacity, self._watching = owner, capacity, watching
        self._now, self._name_of = now, name_of
        self._since: dict[int, float] = {}
        self._names: dict[int, str] = {}
        self._followers: list[Callable[[KnownMember], None]] = []
        self.changes = Counter[MemberState]()

    def take_report(self, kind: str, node_id: int) -> None:
        """Take a report of the failure detector, given by the name of its kind. Reports of the
        walks below a detector have no effect.
        """
        if kind in _STATES:
            self.take(node_id, MemberState(kind))

    def take(self, node_id: int, state: MemberState) -> None:
        """Take the report of the failure detector that a member has another state from now on."""
        if node_id not in self._since and len(self._since) >= self._capacity:
            self._forget_evicted()
        is_new = node_id not in self._since
        self._since[node_id] = self._now()
        self.changes[state] += 1
        watched = self._watching.watched_member(node_id)
        member = KnownMember(
            node_id, self._name(node_id), state, 0.0, 0 if watched is None else watched.incarnation
        )
        _LOG.info("%s %s", self._owner, _sentence(member, is_new=is_new))
        for follower in list(self._followers):
            follower(member)

    def all(self) -> list[KnownMember]:
        """Return all members that the live node knows now, in ascending order of ids."""
        now = self._now()
        return [
            KnownMember(
                member.node_id,
                self._name(member.node_id),
                MemberState.SUSPECTED if member.is_suspected else MemberState.TRUSTED,
                max(now - self._since.get(member.node_id, now), 0.0),
                member.incarnation,
            )
            for member in self._watching.watched()
        ]

    def totals(self) -> dict[MemberState, int]:
        """Return how many members the live node trusts, and how many it suspects."""
        watched = self._watching.watched()
        suspected = sum(member.is_suspected for member in watched)
        return {
            MemberState.TRUSTED: len(watched) - suspected,
            MemberState.SUSPECTED: suspected,
        }

    def follow(self, follower: Callable[[KnownMember], None]) -> None:
        """Call a function after each change of a member at the live node, with the new state.

        The function must not block, and must not raise. Raises Refusal: "too many followers".
        """
        if len(self._followers) >= MOST_FOLLOWERS:
            raise Refusal("too many followers", f"limit {MOST_FOLLOWERS}")
        self._followers.append(follower)

    def unfollow(self, follower: Callable[[KnownMember], None]) -> None:
        """End `follow` at the live node for a function; no effect on a function that does not
        follow.
        """
        if follower in self._followers:
            self._followers.remove(follower)

    def note_names(self) -> None:
        """Remember the names of the members that are neighbours of the live node now."""
        for node_id in self._since:
            self._name(node_id)

    def _name(self, node_id: int) -> str:
        """Return the name of a member, which the live node remembers after it loses the link."""
        if (name := self._name_of(node_id)) and node_id in self._since:
            self._names[node_id] = name
        return name or self._names.get(node_id, "")

    def _forget_evicted(self) -> None:
        """Forget the members that the failure detector no longer has in its table."""
        kept = {member.node_id for member in self._watching.watched()}
        self._since = {key: since for key, since in self._since.items() if key in kept}
        self._names = {key: name for key, name in self._names.items() if key in kept}


def named(member: KnownMember) -> str:
    """Return a live node's member in words: its name and its id, or only its id."""
    return f"{member.name} ({member.node_id})" if member.name else str(member.node_id)


def _sentence(member: KnownMember, *, is_new: bool) -> str:
    if member.state is MemberState.SUSPECTED:
        return f"suspects {named(member)}"
    return f"trusts {named(member)}{', a new member' if is_new else ' again'}"
