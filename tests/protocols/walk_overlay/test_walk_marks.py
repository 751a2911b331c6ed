"""The marks and the bids of an overlay walk as messages: what one node emits for one record."""

from typing import Any

import numpy as np
import pytest

from halfway.core.message import EVERYONE, RECORD
from halfway.core.missing import NONE
from halfway.core.outbox import outbox
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.bids import MET, PASSED, send_bid
from halfway.protocols.walk_overlay.messages import (
    BID,
    INITIATOR,
    NEAR,
    NUMBER,
    PRICE,
    RANK,
    ROOT,
    STEPS,
)
from halfway.protocols.walk_overlay.overlay_walk import receive_near, receive_step
from halfway.protocols.walk_overlay.state import MARKED, VISITED, OverlayState, trail_for
from tests.interpreted import uncompiled
from tests.protocols.walk_overlay.history import RULES

_OWN, _OTHER = 5, 9  # the root of the walk, and a root of another overlay
_SLOTS = 16


step_received = uncompiled(receive_step)
near_received = uncompiled(receive_near)
asked = uncompiled(send_bid)
placed = uncompiled(trail_for)


def lone() -> OverlayState:
    """Node 1, outside the overlay."""
    return walk_overlay.state(
        np.ones(1, np.int32), 3, 1, 1, RULES.bits // 32, 0,
        links=2, branches=1, buffered_events=4,
    )  # fmt: skip


def emitted(call: Any, state: OverlayState, record: np.recarray) -> np.recarray:
    """The records that the lone node emits for a record."""
    out = outbox(_SLOTS)
    call(state, RULES, 0, record[0], out)
    return out.pool[: _SLOTS - int(out.tally[0])]


def bid_of(state: OverlayState) -> float:
    """The bid of the lone node for a step of the walk."""
    (bid,) = emitted(asked, state, record_of_walk(4))
    assert (bid.kind, bid.next) == (BID, 4)
    return float(bid.reals[PRICE])


def record_of_walk(source: int, target: int = NONE) -> np.recarray:
    """A record of walk 1 of initiator 5, whose fragment has the root 5."""
    record = np.zeros(1, RECORD).view(np.recarray)
    record.source, record.target = source, target
    record.args[0, [INITIATOR, NUMBER, STEPS, RANK, ROOT]] = _OWN, 1, 2, 0, _OWN
    return record


def test_the_neighbours_of_a_walks_node_are_marked_once_by_its_step() -> None:
    """[dwo §V-B, (4); Alg. 2, lines 14-16] "neighbors … are marked as part of the neighborhood of
    the walker": by the step that leaves the node, and the marked node states it once.
    """
    state = lone()
    for source, stated in ((2, [NEAR]), (3, [])):
        sent = emitted(step_received, state, record_of_walk(source, target=7))
        assert sent.kind.tolist() == stated
        assert (sent.next == EVERYONE).all()
        assert state.trails.marks[0, 0] == MARKED
        assert state.members.root[0] == NONE  # not part of the walk


@pytest.mark.parametrize("marked", [0, 1, 3])
def test_a_candidate_bids_the_number_of_its_marked_neighbours(marked: int) -> None:
    """[dwo §V-B, (3); Alg. 2, line 26] "has a cost of 3 because it has three neighbors marked"."""
    state = lone()
    for source in range(2, 2 + marked):
        emitted(near_received, state, record_of_walk(source))
    assert bid_of(state) == float(marked)


def test_a_node_that_is_part_of_the_walk_is_no_candidate() -> None:
    """[dwo Alg. 2, line 18] "already part of the DRW"."""
    state = lone()
    state.trails.marks[0, int(placed(state, 0, _OWN, 1))] |= VISITED
    state.members.root[0] = _OWN
    assert bid_of(state) == PASSED


@pytest.mark.parametrize(("root", "price"), [(_OTHER, MET), (NONE, 0.0)])
def test_a_node_of_another_walk_bids_the_meeting(root: int, price: float) -> None:
    """[dwo Alg. 2, line 22] "is part of other DRW"; a node outside the overlay is not."""
    state = lone()
    state.members.root[0] = root
    assert bid_of(state) == price
