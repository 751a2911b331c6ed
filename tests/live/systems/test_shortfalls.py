"""The shortfalls of a live node: the counts of its system, as a simulation shows them."""

import pytest

from halfway.live.limits import DEFAULT
from halfway.live.systems.face import Face, NodeParameters
from halfway.live.systems.live_systems import face_of, live_systems
from halfway.protocols.parts.reliable_hop import TABLE_FULL
from halfway.protocols.parts.shortfalls import OLD_EVENTS, UNACKNOWLEDGED, WITHOUT_ROUTE
from halfway.protocols.walk_overlay.state import UNSENT
from halfway.protocols.walks.tables.counts import LOST


def face(system: str) -> Face:
    """Return the face of a new node."""
    return face_of(system, {}, NodeParameters(node_id=7, key=1, seed=1, limits=DEFAULT))


@pytest.mark.parametrize("system", live_systems())
def test_a_new_node_has_no_shortfalls(system: str) -> None:
    assert face(system).shortfalls() == {}


def test_a_node_of_the_overlay_counts_the_events_that_it_could_not_send() -> None:
    node = face("walk-overlay")
    node.node.state.members[0].overrun = 3
    node.node.state.hops.counts[0, TABLE_FULL] = 2
    assert node.shortfalls() == {UNSENT: 3, UNACKNOWLEDGED: 2}


def test_a_node_of_the_walks_counts_the_messages_without_a_route() -> None:
    node = face("directional-walk")
    node.node.state.tables.counts[0, LOST] = 4
    assert node.shortfalls() == {WITHOUT_ROUTE: 4}


def test_a_node_counts_what_its_event_window_forgot() -> None:
    node = face("flooding")
    windows = next(part for part in node.node.state if hasattr(part, "counts"))
    windows.counts[0, :] = 5
    assert node.shortfalls()[OLD_EVENTS] == 5
