"""What a node of the overlay of walks makes room for, and whom it believes what."""

import numpy as np

from halfway.core.compiled import kernel
from halfway.core.message import MESSAGE
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.launch import place_for
from halfway.protocols.walk_overlay.messages import (
    CHUNK,
    EVENT,
    HEIR_NAME,
    INITIATOR,
    JOINING,
    LINK,
    NUMBER,
    PRICE,
    RANK,
    ROOT,
    SEEKS,
    STANDING,
    WATCH,
)
from halfway.protocols.walk_overlay.reliable_hop import has_room
from halfway.protocols.walk_overlay.repair import inherit
from halfway.protocols.walk_overlay.state import ASKING
from halfway.protocols.walk_overlay.walk import take_bid
from tests.networks import line
from tests.protocols.walk_overlay.history import RULES, History


# Rooms of a protocol can be called by compiled code alone.
@kernel
def room_for(memory, rules, i, to, chunk):
    return has_room(memory, rules, i, to, chunk)


@kernel
def placed(memory, i, initiator, number):
    return place_for(memory, i, initiator, number)


@kernel
def heard_heir(memory, i, records):
    inherit(memory, i, records[0])


@kernel
def heard_bid(memory, i, records):
    take_bid(memory, i, records[0])


def chain() -> History:
    """0 to 5 in a row, the ends are initiators."""
    history = History(line(6), 1)
    history.begin(0, 5)
    return history


def test_a_node_knows_again_every_hop_that_its_neighbours_may_repeat() -> None:
    memory = walk_overlay.state(np.arange(2, dtype=np.int32), 1, 1, 1, 1, 0, watched=24)
    assert memory.answered.shape[1] >= 2 * memory.hops.shape[1]


def test_chunks_leave_room_for_what_else_needs_care() -> None:
    memory = walk_overlay.state(np.arange(2, dtype=np.int32), 1, 1, 1, 1, 0, watched=24)
    rules = RULES._replace(retries=1)
    memory.hops.kind[0, :15] = EVENT
    assert room_for(memory, rules, 0, 1, 0)
    memory.hops.kind[0, 15] = CHUNK
    memory.hops.to[0, 15] = 1
    assert room_for(memory, rules, 0, 1, 0)  # in place of an older one
    assert not room_for(memory, rules, 0, 1, 7)


def test_walks_that_only_marked_a_node_are_forgotten_first() -> None:
    memory = walk_overlay.state(np.arange(1, dtype=np.int32), 1, 1, 1, 1, 0, places=3)
    for number in (1, 2, 3):
        placed(memory, 0, 5, number)
    memory.passages.back[0, [0, 2]] = 7  # been here
    assert [int(placed(memory, 0, 5, number)) for number in (4, 5)] == [1, 1]
    assert memory.members.forgotten[0] == 0
    memory.passages.back[0, 1] = 7
    placed(memory, 0, 5, 6)
    assert memory.members.forgotten[0] == 1


def test_a_bid_for_another_walk_is_dropped() -> None:
    memory = walk_overlay.state(np.arange(2, dtype=np.int32), 1, 1, 1, 1, 0)
    for initiator in (5, 6):
        placed(memory, 0, initiator, 1)
    memory.passages.did[0, 0] |= ASKING
    memory.asked[0, 0, 0] = 1
    record = np.zeros(1, MESSAGE).view(np.recarray)
    record["source"] = record["args"][0, NUMBER] = 1
    for initiator, taken in ((6, 0.0), (5, 2.5)):
        record.args[0, INITIATOR] = initiator
        record.reals[0, PRICE] = 2.5
        heard_bid(memory, 0, record)
        assert memory.bids[0, 0, 0] == taken


def test_only_the_root_of_a_part_tells_it_who_its_heir_is() -> None:
    """A neighbour that was a root and lost may say late whom it had named."""
    history = chain()
    members = history.state.members
    root = int(members.root[0])
    near = root + 1 if root < 5 else root - 1
    other = next(row for row in (near - 1, near + 1) if row not in (root, -1, 6))
    named = (int(members.heir_of[near]), int(members.heir[near]))
    assert named[0] == root
    record = np.zeros(1, MESSAGE).view(np.recarray)
    record["source"] = other
    record["args"][0, [HEIR_NAME, SEEKS, RANK, ROOT]] = other, 1, JOINING, other
    for rank, heir_of in ((JOINING, root), (STANDING + 9, other)):
        record.args[0, RANK] = rank
        heard_heir(history.state, near, record)
        assert members.heir_of[near] == heir_of


def test_a_link_that_nobody_acknowledges_is_asked_for_again() -> None:
    history = chain()
    history.state.links.ready[0, 0] = 0
    before = int(history.engine.counters.heard_kind[LINK])
    history.post(WATCH, 0)
    history.settle()
    assert int(history.engine.counters.heard_kind[LINK]) == before + 1
    assert history.is_a_tree()
