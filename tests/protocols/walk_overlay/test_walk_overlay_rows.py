"""A walk-overlay node's tables: hops, trails, bids, successors and links."""

from typing import Any

import numpy as np

from halfway.core.message import RECORD
from halfway.core.outbox import outbox
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.bids import receive_bid
from halfway.protocols.walk_overlay.event_forwarding import clear_filters, receive_chunk
from halfway.protocols.walk_overlay.hop_table import has_slot
from halfway.protocols.walk_overlay.messages import (
    CHECK_LINKS,
    CHUNK,
    CONTENT_EVENT,
    ESTABLISHED,
    EVENT,
    INITIATOR,
    JOINING,
    LINK,
    NUMBER,
    PRICE,
    RANK,
    ROOT,
    ROOT_SEARCHES,
    SUCCESSOR_ID,
    WORDS,
)
from halfway.protocols.walk_overlay.repair import receive_successor
from halfway.protocols.walk_overlay.state import ASKING, link_of, trail_for
from tests.interpreted import uncompiled
from tests.networks import line
from tests.protocols.walk_overlay.history import RULES, History


def blank(n: int, **sizes: int) -> Any:
    """The state of n nodes with one neighbour, one subscription and one publisher each."""
    node_ids = np.arange(n, dtype=np.int32)
    return walk_overlay.state(
        node_ids, 1, 1, 1, 1, 0, links=1, branches=2, buffered_events=0, **sizes
    )


placed = uncompiled(trail_for)
successor_received = uncompiled(receive_successor)
bid_received = uncompiled(receive_bid)


@uncompiled
def slot_for(state, rules, i, to, chunk):
    return has_slot(state, rules, i, CHUNK, to, chunk)


@uncompiled
def filter_received_anew(state, rules, i, record, out):
    p = link_of(state, i, record.source)
    clear_filters(state, i, p)
    receive_chunk(state, rules, i, p, record, out)


def chain() -> History:
    """0 to 5 in a row, the ends are initiators."""
    history = History(line(6), 1)
    history.begin(0, 5)
    return history


def test_a_node_remembers_every_hop_that_its_neighbours_may_retransmit() -> None:
    state = blank(2, tracked_hops=24)
    assert state.hops.accepted.of.shape[1] >= 2 * state.hops.record.shape[1]


def test_chunks_leave_room_for_other_reliable_hops() -> None:
    state = blank(2, tracked_hops=24)
    rules = RULES._replace(retries=1)
    state.hops.record.sequence[0, :15] = np.arange(1, 16)
    state.hops.record.kind[0, :15] = EVENT
    assert slot_for(state, rules, 0, 1, 0)
    state.hops.record.sequence[0, 15] = 16
    state.hops.record.kind[0, 15] = CHUNK
    state.hops.record.next[0, 15] = 1
    assert slot_for(state, rules, 0, 1, 0)  # in place of an older one
    assert not slot_for(state, rules, 0, 1, 7)


def test_trails_of_walks_that_only_marked_a_node_are_evicted_first() -> None:
    """[dwo §V-B] A node that is not part of a walk keeps only the mark of its neighbour."""
    state = blank(1, trails=3)
    for number in (1, 2, 3):
        placed(state, 0, 5, number)
    state.trails.back[0, [0, 2]] = 7  # visited
    assert [int(placed(state, 0, 5, number)) for number in (4, 5)] == [1, 1]
    assert state.members.trails_evicted[0] == 0
    state.trails.back[0, 1] = 7
    placed(state, 0, 5, 6)
    assert state.members.trails_evicted[0] == 1


def test_a_bid_for_another_walk_is_dropped() -> None:
    """[dwo Alg. 2, lines 18-26] A node compares the costs of one walk's candidates."""
    state = blank(2)
    for initiator in (5, 6):
        placed(state, 0, initiator, 1)
    state.trails.marks[0, 0] |= ASKING
    state.bidders[0, 0, 0] = 1
    record = np.zeros(1, RECORD).view(np.recarray)
    record["source"] = record["args"][0, NUMBER] = 1
    for initiator, taken in ((6, 0.0), (5, 2.5)):
        record.args[0, INITIATOR] = initiator
        record.reals[0, PRICE] = 2.5
        bid_received(state, 0, record[0])
        assert state.bids[0, 0, 0] == taken


def test_only_the_root_of_a_fragment_names_its_successor() -> None:
    """[dwo Alg. 1] Walks join one after another. Ours: the successor of a root goes on. The record
    of a neighbour that is a root no longer may come late.
    """
    history = chain()
    members = history.state.members
    root = int(members.root[0])
    near = root + 1 if root < 5 else root - 1
    other = next(row for row in (near - 1, near + 1) if row not in (root, -1, 6))
    assert members.successor_of[near] == root
    record = np.zeros(1, RECORD).view(np.recarray)
    record["source"] = other
    record["args"][0, [SUCCESSOR_ID, ROOT_SEARCHES, RANK, ROOT]] = other, 1, JOINING, other
    for rank, successor_of in ((JOINING, root), (ESTABLISHED + 9, other)):
        record.args[0, RANK] = rank
        successor_received(history.state, near, record[0])
        assert members.successor_of[near] == successor_of


def test_a_link_that_is_not_acknowledged_is_requested_again() -> None:
    """[dwo §III] The overlay is a tree over the walks that met. Ours: both ends confirm a link."""
    history = chain()
    history.state.links.ready[0, 0] = 0
    before = int(history.engine.counters.received_kind[LINK])
    history.post(CHECK_LINKS, 0)
    history.settle()
    assert int(history.engine.counters.received_kind[LINK]) == before + 1
    assert history.is_a_tree()


def test_a_new_link_brings_no_event_that_the_neighbour_has() -> None:
    """[dwo §III] A filter admits the events that go over a link. A link that ends and returns has
    empty filters, and both sides have the same events.
    """
    history = History(line(4), 1, buffered_events=4)
    history.begin(0, 3)
    history.subscribe(3, 0)
    delivered, due = history.published(0, 0)
    assert delivered == due == [3]
    for row, neighbour, incarnation, sent in ((2, 1, 0, 0), (2, 1, 1, 1), (1, 2, 0, 1)):
        chunk = np.zeros(1, RECORD).view(np.recarray)
        chunk.source, chunk.incarnation, chunk.at = neighbour, incarnation, history.now
        chunk.args[:, WORDS:] = -1  # a filter that admits every event
        out = outbox(64)
        filter_received_anew(history.state, history.rules, row, chunk[0], out)
        kinds = out.pool["kind"][: int(out.tally[0])].tolist()
        assert kinds.count(CONTENT_EVENT) == sent
