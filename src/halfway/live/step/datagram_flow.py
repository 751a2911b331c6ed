"""The flow of datagrams of a live node, the Python side of the datagram kernel: it enters
neighbours, topics and bodies in the tables of the kernel, and takes the written frames out of them.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiler.entry import entry_point
from halfway.core.compiler.interpreted import interpreted
from halfway.core.compiler.lent import lent
from halfway.core.kinds import Kinds, carrying
from halfway.core.missing import NO_PLACE
from halfway.core.records.wire import HEADER_BYTES, wire_parts
from halfway.live.step.datagram_tables import (
    NEXT_SLOT,
    PLACES,
    RECEIVED,
    SENT,
    TRANSMITTED,
    USED,
    WAYS,
    DatagramTables,
    add_body,
    find_body,
)
from halfway.live.step.wire_tables import MOST_BYTES
from halfway.live.wire.frames import HEAD_BYTES

BODIES, ARENA = 512, 1 << 17
DATAGRAMS = 8 * PLACES  # datagrams that wait until the end of a turn
_LEAST_CAPACITY = HEAD_BYTES + MOST_BYTES  # for a record alone
EventKey = tuple[int, int, int]  # publisher, epoch, number


class EventPlaces(NamedTuple):
    """The offsets of the parts of an event's id in the compact form of a record."""

    publisher: int
    epoch: int
    event: int
    least: int  # bytes of such a record


class FlowCounts(NamedTuple):
    """The numbers of records that passed through the flow of datagrams."""

    received: int
    sent: int  # to one neighbour each
    transmissions: int  # of the driver, to one neighbour or to all


def event_places(kinds: Kinds) -> dict[int, EventPlaces]:
    """Return the places at which the flow of datagrams finds the event id, for each kind of record
    with an event.
    """
    slots = {}
    for number in carrying(kinds):
        at, places = HEADER_BYTES, {}
        for part in wire_parts(kinds[number]):
            if part.field in ("args", "reals"):
                break
            places[part.field] = at
            at += part.range.form.itemsize
        slots[number] = EventPlaces(places["publisher"], places["epoch"], places["event"], at)
    return slots


class Flow:
    """The flow of one node's datagrams: the tables of the datagram kernel, with the methods that
    fill and empty these tables.

    The kernel uses them once the node runs machine code. capacity: bytes of frames in one datagram.
    topic_used: [topics + 1] see `TopicTable.used`.
    """

    def __init__(self, kinds: Kinds, capacity: int, topic_used: npt.NDArray[np.int64]) -> None:
        event_at = np.zeros((256, 4), np.int64)
        self.places = event_places(kinds)
        for kind, places in self.places.items():
            event_at[kind] = places
        age, topic_sets = np.zeros(1), 1 << len(topic_used).bit_length()
        self.tables = DatagramTables(
            peer=np.full(PLACES, NO_PLACE, np.int32),
            open=np.full(PLACES, NO_PLACE, np.int64),
            to=np.zeros(DATAGRAMS, np.int64),
            fill=np.zeros(DATAGRAMS, np.int64),
            frames=np.zeros((DATAGRAMS, max(capacity, _LEAST_CAPACITY)), np.uint8),
            capacity=np.array([capacity]),
            event_at=event_at,
            topic_at=np.full(topic_sets * WAYS, NO_PLACE, np.int32),
            topic_used=topic_used,
            key=np.full((BODIES, 3), NO_PLACE, np.int64),
            begin=np.zeros(BODIES, np.int64),
            size=np.zeros(BODIES, np.int64),
            holders=np.zeros(BODIES, np.uint64),
            times=np.zeros((BODIES, 2)),
            body_at=np.full(BODIES * WAYS, NO_PLACE, np.int32),
            arena=np.zeros(ARENA, np.uint8),
            age=age,
            age_bytes=age.view(np.uint8),
            tally=np.zeros(NEXT_SLOT + 1, np.int64),
        )
        self.place_of: dict[int, int] = {}  # of each neighbour that has one, by node id
        self._row, self._capacity = self.tables.frames.shape[1], capacity
        self._frames, self._arena = self.tables.frames.reshape(-1).data, self.tables.arena.data
        self._tally, self._begin = self.tables.tally.data, self.tables.begin.data
        self._holders = self.tables.holders.data
        self._times: Any = self.tables.times.reshape(-1).data
        self.find_entry_points(compiled=False)

    def find_entry_points(self, *, compiled: bool) -> None:
        """Find the entry points of the look-ups in the flow of datagrams."""
        if compiled:
            self.lent = lent(self.tables)
            self._find = entry_point(find_body, self.lent, 0, 0, 0)
            self._add = entry_point(add_body, self.lent, 0, 0, 0, 0)
        else:
            self.lent = self.tables
            self._find, self._add = quiet(interpreted(find_body)), quiet(interpreted(add_body))

    def set_neighbours(self, node_ids: Iterable[int]) -> None:
        """Give each neighbour a place while places are left; former neighbours lose theirs.

        No datagram may wait.
        """
        wanted, tables = set(node_ids), self.tables
        for node_id in self.place_of.keys() - wanted:
            place = self.place_of.pop(node_id)
            tables.peer[place] = NO_PLACE
            holders = tables.holders
            holders &= ~(np.uint64(1) << np.uint64(place))
        free = np.flatnonzero(tables.peer == NO_PLACE).tolist()
        for place, node_id in zip(free, sorted(wanted - self.place_of.keys()), strict=False):
            tables.peer[place], self.place_of[node_id] = node_id, place

    def know_topic(self, hash64: int, number: int) -> None:
        """Enter the number of a topic that the node has met."""
        index = self.tables.topic_at
        first = hash64 % (len(index) // WAYS) * WAYS
        ways = index[first : first + WAYS].tolist()
        if number not in ways:
            index[first + (ways.index(NO_PLACE) if NO_PLACE in ways else number % WAYS)] = number

    def body_slot(self, key: EventKey) -> int:
        """Return the slot of an event's body, or -1 without a body."""
        return int(self._find(self.lent, *key))

    def add_body(self, key: EventKey, data: bytes, born: float, ends: float) -> int:
        """Add a new body to the flow of datagrams, in the form of its frame, with times in seconds.
        Return its slot.

        A body that no datagram has room for has a slot, and its bytes are not kept.
        """
        size = len(data) if len(data) <= self._capacity else 0
        slot = int(self._add(self.lent, *key, size))
        at = self._begin[slot] % ARENA
        self._arena[at : at + size] = data[:size]
        self._times[2 * slot], self._times[2 * slot + 1] = born, ends
        return slot

    def forget_body(self, key: EventKey) -> None:
        """Forget a body, if it is there."""
        slot = self.body_slot(key)
        if slot >= 0:
            self.tables.key[slot] = NO_PLACE

    def has_body(self, slot: int, peer: int) -> bool:
        """Return whether a neighbour has a body, or False for a neighbour without a slot."""
        place = self.place_of.get(peer)
        return slot >= 0 and place is not None and bool(self._holders[slot] >> place & 1)

    def note_holder(self, slot: int, peer: int) -> None:
        """Note in the flow of datagrams that a neighbour has a body; no effect for a neighbour
        without a slot.
        """
        place = self.place_of.get(peer)
        if slot >= 0 and place is not None:
            self._holders[slot] |= 1 << place

    def taken_datagrams(self) -> Iterable[tuple[int, bytes]]:
        """Take the waiting datagrams of the flow: the node id of each receiver, and its frames."""
        used = self._tally[USED]
        if not used:
            return ()
        tables, row = self.tables, self._row
        peers = tables.peer[tables.to[:used]].tolist()
        fills = tables.fill[:used].tolist()
        tables.open.fill(NO_PLACE)
        self._tally[USED] = 0
        frames, begins = self._frames, range(0, used * row, row)
        return [
            (peer, bytes(frames[at : at + size]))
            for peer, at, size in zip(peers, begins, fills, strict=True)
        ]

    def taken_counts(self) -> FlowCounts:
        """Take the counts of records that passed since the last call."""
        tally = self._tally
        counts = FlowCounts(tally[RECEIVED], tally[SENT], tally[TRANSMITTED])
        tally[RECEIVED] = tally[SENT] = tally[TRANSMITTED] = 0
        return counts


def quiet(function: Callable[..., Any], *values: Any) -> Callable[..., Any]:
    """Return a function by which the flow of datagrams, or a stepper, calls an interpreted kernel
    without warnings of integer overflow.

    The arguments `values` stand before the arguments of each call.
    """

    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*values, *arguments)

    return call
