"""[uas §4] Brokers of the underlay-aware tree that leave at the same time: one after another."""

from collections.abc import Iterator
from itertools import islice

import pytest

from halfway.bulk.broker_trees.overlay_repair import leave
from halfway.core.missing import NONE
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE
from halfway.protocols.broker_trees.records.messages import LEAVE, SUBSCRIBE
from halfway.protocols.broker_trees.underlay import underlay_messages
from tests.protocols.broker_trees.test_siena import MATCHES
from tests.protocols.broker_trees.test_underlay_siena import (
    BROKERS,
    LONG,
    NODES,
    WORLDS,
    LiveTree,
    grown,
    is_tree,
)

STEP = 0.05  # seconds between two looks at the tree


def families(live: LiveTree) -> Iterator[tuple[int, int]]:
    """A parent that is not the root, and its child."""
    for child in range(BROKERS):
        parent = live.parent(child)
        if parent >= 0 and live.parent(parent) != NONE:
            yield parent, child


def departures(live: LiveTree, leaving: tuple[int, ...]) -> list[set[int]]:
    """The sets of brokers that left, each once, in the order in which they occur."""
    for number in leaving:
        live.say(live.row(number), int(LEAVE))
    seen = [set[int]()]
    for _ in range(int(LONG / STEP)):
        live.settle(STEP)
        gone = {number for number in leaving if live.parent(number) == OUTSIDE}
        if gone != seen[-1]:
            seen.append(gone)
    return seen[1:]


@pytest.mark.parametrize("seed", range(WORLDS))
def test_of_a_parent_and_a_child_that_leave_at_once_the_child_goes_first(seed: int) -> None:
    """[uas §4] "allows nodes lower in the hierarchy to leave" first: the parent waits, here for a
    broker that its own parent granted a leave and that fell silent."""
    for parent, child in islice(families(LiveTree(*grown(seed))), 2):
        live = LiveTree(*grown(seed))
        overlay = live.overlay.twin()
        live.settle(LONG)
        top = live.state.broker_index[live.row(live.parent(parent))]
        live.state.leaves.granted[top], live.state.leaves.silent[top] = NODES, 0
        order = departures(live, (parent, child))
        assert order == [{child}, {parent, child}]
        leave(overlay, child)
        leave(overlay, parent)
        assert is_tree(live)
        for number, broker in overlay.brokers.items():
            assert live.parent(number) == broker.parent


def test_of_two_children_of_a_broker_that_leave_at_once_one_waits() -> None:
    """[uas §4] A parent grants one leave at a time, in a tree where the second child asks before
    the first one has left.
    """
    waits = []
    for seed in range(WORLDS):
        live = LiveTree(*grown(seed))
        live.settle(LONG)
        ups = [live.parent(number) for number in range(BROKERS)]
        parent = next(up for up in ups if up >= 0 and ups.count(up) > 1)
        pair = tuple(number for number in range(BROKERS) if ups[number] == parent)[:2]
        order = departures(live, pair)
        assert order[-1] == set(pair)
        assert is_tree(live)
        waits.append(len(order) == len(pair))
    assert any(waits)


def test_all_brokers_but_the_root_leave_at_once_and_no_client_misses_an_event() -> None:
    """[uas §4] A chain of waits ends, because no broker waits for one above it."""
    live = LiveTree(*grown(1))
    client = BROKERS + 1
    live.say(client, int(SUBSCRIBE), 0)
    live.settle(LONG)
    content = int(MATCHES[:, 0].argmax())
    root = next(number for number in range(BROKERS) if live.parent(number) == NONE)
    others = tuple(number for number in range(BROKERS) if number != root)
    order = departures(live, others)
    assert order[-1] == set(others)
    assert len(order) > 2
    event = live.publish(client + 1, content)
    assert live.settle(1.0) == [(client, event)]


def test_a_broker_whose_parent_does_not_answer_leaves_all_the_same() -> None:
    live = LiveTree(*grown(0))
    live.settle(LONG)
    parent, child = next(families(live))
    live.kill(live.row(parent))
    live.say(live.row(child), int(LEAVE))
    live.settle(LONG)
    assert live.parent(child) == OUTSIDE
    assert live.state.leaves.waits.max() == 0


@pytest.mark.parametrize("waits", [False, True])
def test_a_broker_that_waits_to_leave_accepts_no_child(waits: bool) -> None:
    """[uas §4] "Any new broker trying to contact this node, will find another alternate path"."""
    live = LiveTree(*grown(0))
    live.settle(LONG)
    parent, child = next(families(live))
    b = live.state.broker_index[live.row(parent)]
    live.state.leaves.granted[b], live.state.leaves.silent[b] = live.row(child), 0
    if waits:
        live.say(live.row(parent), int(LEAVE))
    above, at = {parent, child}, parent
    while live.parent(at) >= 0:
        at = live.parent(at)
        above.add(at)
    other = next(n for n in range(BROKERS) if n not in above and live.parent(n) != parent)
    c = live.state.broker_index[live.row(other)]
    live.state.grandparent[c] = live.row(parent)
    live.state.missed[c, :] = live.rules.missed_pings + 1  # it asks `parent` for a place
    live.settle(1.2)
    assert (live.state.leaves.waits[b] > 0) == waits
    assert live.engine.counters.sent_kind[underlay_messages.ASK_LEAVE] == 0
    assert (live.row(other) in live.state.children.child[b]) != waits
