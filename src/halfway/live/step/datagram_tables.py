"""The tables of the datagram kernel: neighbours, topics and bodies of a live node, and the look-up
of a body by its event.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.missing import NO_PLACE

PLACES = 64  # neighbours with a place; the records of others pass through Python
WAYS = 4  # entries of a set of `topic_at` and `body_at`

# Places of `DatagramTables.tally`.
USED, RECEIVED, SENT, TRANSMITTED, WRITTEN, NEXT_SLOT = range(6)
# Places of `DatagramTables.event_at`.
PUBLISHER, EPOCH, EVENT, LEAST = range(4)


class DatagramTables(NamedTuple):
    """The tables in which the datagram kernel finds a node's neighbours, topics and bodies.

    `topic_at` and `body_at` are caches. Each is a hash table of sets with `WAYS` entries. A free
    entry is -1. Python looks up a missing entry. The bytes of a body stay in the arena until so
    many later bytes follow its first byte that they fill the arena.
    """

    peer: npt.NDArray[np.int32]  # [PLACES] node ids of the neighbours; -1: free
    open: npt.NDArray[np.int64]  # [PLACES] the last datagram for the neighbour; -1: none waits
    to: npt.NDArray[np.int64]  # [datagrams] the place of its receiver
    fill: npt.NDArray[np.int64]  # [datagrams] bytes
    frames: npt.NDArray[np.uint8]  # [datagrams, bytes] that wait for the end of the turn
    capacity: npt.NDArray[np.int64]  # [1] bytes of frames that share a datagram
    event_at: npt.NDArray[np.int64]  # [256, 4] by kind: places of the event id in the compact form
    topic_at: npt.NDArray[np.int32]  # [sets * WAYS] numbers of topics, by the low bits of the hash
    topic_used: npt.NDArray[np.int64]  # [topics + 1] the tick of the last use; the ticks so far
    key: npt.NDArray[np.int64]  # [bodies, 3] publisher, epoch and number of an event
    begin: npt.NDArray[np.int64]  # [bodies] bytes written to the arena before the body
    size: npt.NDArray[np.int64]  # [bodies] bytes; 0: longer than a datagram
    holders: npt.NDArray[np.uint64]  # [bodies] a bit for the place of each neighbour that has it
    times: npt.NDArray[np.float64]  # [bodies, 2] when it was published, and when it expires
    body_at: npt.NDArray[np.int32]  # [sets * WAYS] by the hash of the key
    arena: npt.NDArray[np.uint8]
    age: npt.NDArray[np.float64]  # [1] scratch
    age_bytes: npt.NDArray[np.uint8]  # [8] the bytes of `age`
    tally: npt.NDArray[np.int64]  # [6]


@inlined
def _set_of(publisher, epoch, number, entries):
    """Return the first entry of an event's set in the tables of the datagram kernel."""
    mixed = np.uint64(publisher) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(epoch) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed += np.uint64(number) * np.uint64(0x165667B19E3779F9)
    sets = np.uint64(entries // WAYS)
    return np.int64((mixed >> np.uint64(20)) % sets) * WAYS


@apart
def found_body(flow, publisher, epoch, number):
    """Return the slot of an event's body in the datagram tables, or NO_PLACE."""
    first = _set_of(publisher, epoch, number, flow.body_at.shape[0])
    for k in range(first, first + WAYS):
        slot = np.int64(flow.body_at[k])
        if (
            slot >= 0
            and flow.key[slot, 0] == publisher
            and flow.key[slot, 1] == epoch
            and flow.key[slot, 2] == number
            and flow.tally[WRITTEN] - flow.begin[slot] <= flow.arena.shape[0]
        ):
            return slot
    return NO_PLACE


@kernel
def find_body(flow, publisher, epoch, number):
    """Return the slot of an event's body in the datagram tables to a caller in Python, or
    NO_PLACE.
    """
    return found_body(flow, publisher, epoch, number)


@kernel
def add_body(flow, publisher, epoch, number, size):
    """Make room for a new body in the datagram tables; return its slot. The caller writes its
    bytes.
    """
    slot, capacity = flow.tally[NEXT_SLOT], flow.arena.shape[0]
    flow.tally[NEXT_SLOT] = (slot + 1) % flow.key.shape[0]
    begin = flow.tally[WRITTEN]
    if begin % capacity + size > capacity:  # a body does not wrap around the end of the arena
        begin += capacity - begin % capacity
    flow.tally[WRITTEN] = begin + size
    flow.key[slot, 0], flow.key[slot, 1], flow.key[slot, 2] = publisher, epoch, number
    flow.begin[slot], flow.size[slot] = begin, size
    flow.holders[slot] = 0
    first = _set_of(publisher, epoch, number, flow.body_at.shape[0])
    place = first + slot % WAYS
    for k in range(first, first + WAYS):
        if flow.body_at[k] == -1 or flow.body_at[k] == slot:
            place = k
    flow.body_at[place] = slot
    return slot
