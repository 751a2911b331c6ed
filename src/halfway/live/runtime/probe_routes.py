"""The routes that `halfway route` follows at a live node, hop by hop: probes on a topic, and
searches for a node.

A probe is an event that no application receives: the system carries it like any event of its topic.
Each node that the probe reaches sends a HOP frame back to the neighbour that sent the probe.
Neighbours pass HOP frames on, so that the asking node learns every hop. A node passes a search on
to all neighbours. The answer comes back with a HOP of each node on the way. The tables are bounded.
"""

import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, Protocol

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventKey
from halfway.live.wire.frames import FrameType, frame

PASSED_ON, HERE = "passed on", "is here"
_KEY = struct.Struct("<III")  # who asks, its incarnation, its number
_SEARCH = struct.Struct("<B")  # hops so far
_HOP = struct.Struct("<IIBHfBB")  # node, parent, hops, subscriptions, held, bytes of why and name
MOST_TRACKED = 256  # probes and searches that a node remembers
_MOST_HOPS = 64
A_SECOND = 100  # searches of others that a node passes on
_MOST_WORDS = 63  # bytes of a name, and of a reason


class Hop(NamedTuple):
    """A hop of a route: the action of one node on a probe or a search."""

    node: int
    parent: int  # previous neighbour; at the origin, the node itself
    hops: int
    subscriptions: int  # at this node, that match
    held_s: float  # between the arrival and this answer
    why: str  # PASSED_ON, HERE, or the reason of a drop
    name: str


class NeighbourTable(Protocol):
    """The neighbours of a node, as its routes use them."""

    def neighbours(self) -> list[int]:
        """Return the ids of the neighbours to which a node passes its routes' probes and
        searches.
        """
        ...


class NeighbourLinks(Protocol):
    """The links of a node, as its routes use them."""

    @property
    def table(self) -> NeighbourTable:
        """The table of the neighbours to which a node passes its routes' probes and searches."""
        ...

    def send(self, peer: int, whole: bytes) -> None:
        """Queue a frame of a route for a neighbour."""
        ...


class _Tracked(NamedTuple):
    """A probe or a search at this node."""

    parent: int
    hops: int
    arrived: float


class Routes:
    """The probes and searches of one node: its id and name, its links, and its clock."""

    def __init__(
        self, node_id: int, name: str, links: NeighbourLinks, now: Callable[[], float], drops: Drops
    ) -> None:
        self._node_id, self._name, self._send = node_id, name, links.send
        self._links, self._now, self._drops = links, now, drops
        self._tracked: OrderedDict[EventKey, _Tracked] = OrderedDict()
        self._asked: dict[EventKey, Callable[[Hop, float], None]] = {}
        self._number, self._second, self._passed = 0, 0, 0

    def ask(self, key: EventKey, answered: Callable[[Hop, float], None]) -> None:
        """Call a function with each hop of a probe of this node's routes, and the seconds there and
        back.
        """
        self._track(key, _Tracked(self._node_id, 0, self._now()))
        self._asked[key] = answered

    def end(self, key: EventKey) -> None:
        """End the calls for a route's probe or search of this node."""
        self._asked.pop(key, None)

    def search(self, name: str, epoch: int, answered: Callable[[Hop, float], None]) -> EventKey:
        """Search for the route to a node by its name or id; call back as `ask` does. Returns the
        search's key.

        Only the route on which the search arrives first answers.
        """
        self._number = (self._number + 1) % 2**31
        key = self._node_id, epoch, self._number
        self.ask(key, answered)
        self._send_search(key, 0, name.encode()[:_MOST_WORDS], but=self._node_id)
        return key

    def on_frame(self, peer: int, frame_type: int, content: bytes) -> None:
        """Take a neighbour's SEARCH or HOP frame for a route. Raises ValueError for other bytes."""
        if frame_type == FrameType.SEARCH:
            self._take_search(peer, content)
        elif frame_type == FrameType.HOP:
            self._take_hop(content)

    def _take_search(self, peer: int, content: bytes) -> None:
        if not _KEY.size + _SEARCH.size < len(content) <= _KEY.size + _SEARCH.size + _MOST_WORDS:
            raise ValueError("out of range")
        publisher, epoch, number = _KEY.unpack_from(content)
        (hops,) = _SEARCH.unpack_from(content, _KEY.size)
        wanted = content[_KEY.size + _SEARCH.size :]
        key = publisher, epoch, number
        if key in self._tracked or publisher == self._node_id:
            return
        if not self._has_turn():
            self._drops.count(Drop.SEARCHES)
            return
        self._track(key, _Tracked(peer, hops + 1, self._now()))
        if wanted.decode() in (self._name, str(self._node_id)):
            self._answer(key, HERE, 0)
        elif hops + 1 < _MOST_HOPS:
            self._send_search(key, hops + 1, wanted, but=peer)

    def reached(self, key: EventKey, peer: int, hops: int) -> None:
        """Report a route's probe that a neighbour brought, the first time."""
        if key not in self._tracked:
            self._track(key, _Tracked(peer, hops, self._now()))
            self._answer(key, PASSED_ON, 0)

    def ended(self, key: EventKey, why: str, subscriptions: int = 0) -> None:
        """Report the end of a route's probe at this node, with the reason."""
        if key in self._tracked:
            self._answer(key, why, subscriptions)

    def _take_hop(self, content: bytes) -> None:
        """Pass a HOP frame on, or call the function of the route if this node asked."""
        key, hop = _hop_in(content)
        tracked = self._tracked.get(key)
        if tracked is None:
            self._drops.count(Drop.NO_ADDRESS)
        elif key in self._asked:
            self._asked[key](hop, max(self._now() - tracked.arrived - hop.held_s, 0.0))
        else:
            if hop.why == HERE:  # of a search: this node is on its way
                self._answer(key, PASSED_ON, 0)
            self._send(tracked.parent, frame(FrameType.HOP, content))

    def _answer(self, key: EventKey, why: str, subscriptions: int) -> None:
        parent, hops, arrived = self._tracked[key]
        now = self._now()
        hop = Hop(self._node_id, parent, hops, subscriptions, now - arrived, why, self._name)
        if key in self._asked:
            self._asked[key](hop, 0.0)
        elif parent != self._node_id:
            self._send(parent, frame(FrameType.HOP, _hop_bytes(key, hop)))

    def _send_search(self, key: EventKey, hops: int, wanted: bytes, but: int) -> None:
        whole = frame(FrameType.SEARCH, _KEY.pack(*key) + _SEARCH.pack(hops) + wanted)
        for peer in self._links.table.neighbours():
            if peer != but:
                self._send(peer, whole)

    def _track(self, key: EventKey, tracked: _Tracked) -> None:
        self._tracked[key] = tracked
        if len(self._tracked) > MOST_TRACKED:
            oldest, _ = self._tracked.popitem(last=False)
            self._asked.pop(oldest, None)

    def _has_turn(self) -> bool:
        second = int(self._now())
        if second != self._second:
            self._second, self._passed = second, 0
        self._passed += 1
        return self._passed <= A_SECOND


def _hop_bytes(key: EventKey, hop: Hop) -> bytes:
    why, name = hop.why.encode()[:_MOST_WORDS], hop.name.encode()[:_MOST_WORDS]
    fixed = _HOP.pack(
        hop.node, hop.parent, min(hop.hops, 255), min(hop.subscriptions, 65_535), hop.held_s,
        len(why), len(name),
    )  # fmt: skip
    return b"".join((_KEY.pack(*key), fixed, why, name))


def _hop_in(content: bytes) -> tuple[EventKey, Hop]:
    if len(content) < _KEY.size + _HOP.size:
        raise ValueError("too short")
    publisher, epoch, number = _KEY.unpack_from(content)
    node, parent, hops, count, held_s, why, name = _HOP.unpack_from(content, _KEY.size)
    at = _KEY.size + _HOP.size
    if len(content) != at + why + name or max(why, name) > _MOST_WORDS or not 0 <= held_s < 1e6:
        raise ValueError("out of range")
    words = content[at : at + why].decode(), content[at + why :].decode()
    return (publisher, epoch, number), Hop(node, parent, hops, count, held_s, *words)
