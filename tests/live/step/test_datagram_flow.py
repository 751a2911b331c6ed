"""The flow of a node: neighbours, bodies and topics for machine code, and frames out of it."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.neighbourhood import Neighbourhood
from halfway.live.limits import Limits
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.step.datagram_flow import Flow
from halfway.live.step.node_driver import Driver
from halfway.live.step.node_stepper import Stepper
from halfway.live.step.record_head import head_of
from halfway.live.step.timers import Timers
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.live.wire.frames import BODY, RECORD, frame, frames, key_bytes, key_in
from halfway.protocols import gossip

_LIMITS, _TOPICS = Limits(publishers=8, topics=8), 8
_BODY = bytes(range(40))


def flow(capacity: int = 500) -> Flow:
    """A flow of a node of gossip."""
    return Flow(gossip.KINDS, capacity, np.zeros(_TOPICS + 1, np.int64))


class Lone:
    """A node of flooding without sockets, and what is around its driver."""

    def __init__(self, node_id: int, *, compiled: bool = True) -> None:
        face = face_of("flooding", {}, NodeParameters(node_id, 1, 1, _LIMITS))
        self.flow = Flow(face.node.kinds, 500, np.zeros(_TOPICS + 1, np.int64))
        around: Neighbourhood = HelloTable(node_id, 0, 4, 4).neighbourhood
        hashes = np.arange(1, _TOPICS + 1, dtype=np.uint64)
        self.stepper = Stepper(
            face.node, around, node_id=node_id, incarnation=0, hashes=hashes, flow=self.flow
        )
        self.timers, self.sent, self.reports, self.refusals = Timers(), [], [], 0
        self.driver = Driver(self.stepper, self, self.timers)
        if compiled:
            self.stepper.compile()
        self.kinds = face.node.kinds

    def transmit(self, record: Any, data: bytes) -> None:
        """Keep a record that the flow did not take."""
        self.sent.append((head_of(record), data))

    def report(self, record: Any) -> None:
        """Keep a report."""
        self.reports.append(head_of(record))

    def timer_ran(self) -> None:
        """Do nothing."""

    def count_full(self) -> None:
        """Do nothing: the driver counts what it dropped."""

    def refused(self) -> None:
        """Count it."""
        self.refusals += 1

    def publish(self, number: int, topic: int = 0) -> list[tuple[int, bytes]]:
        """Publish an event; return the datagrams that the node writes."""
        self.driver.command(0.0, self.kinds.number("publish"), topic=topic, event=number)
        self.timers.run_due(10.0, 100)
        return list(self.flow.taken_datagrams())


def test_a_body_is_found_until_newer_ones_need_its_place() -> None:
    one = flow()
    keys = [(number, 7, number) for number in range(600)]
    for key in keys:
        assert one.body_slot(key) == -1
        slot = one.add_body(key, _BODY, 0.0, 1.0)
        assert one.body_slot(key) == slot
    known = [key for key in keys if one.body_slot(key) >= 0]
    assert keys[0] not in known
    assert set(keys[-100:]) <= set(known)
    one.forget_body(keys[-1])
    assert one.body_slot(keys[-1]) == -1


def test_a_large_arena_of_bodies_forgets_the_bytes_first() -> None:
    one = flow(capacity=70_000)
    keys = [(1, 0, number) for number in range(5)]
    for key in keys:
        one.add_body(key, bytes(60_000), 0.0, 1.0)
    assert [one.body_slot(key) >= 0 for key in keys] == [False, False, False, True, True]


def test_a_neighbour_that_leaves_takes_what_it_had_with_it() -> None:
    one = flow()
    one.set_neighbours([30, 10, 20])
    slot = one.add_body((1, 2, 3), _BODY, 0.0, 1.0)
    for peer in (10, 20):
        one.note_holder(slot, peer)
    one.set_neighbours([20, 40])
    assert [one.has_body(slot, peer) for peer in (10, 20, 40)] == [False, True, False]
    one.set_neighbours(range(100))
    assert len(one.place_of) == 64
    assert one.has_body(slot, 20)
    assert one.has_body(slot, 99) is False


@pytest.mark.parametrize("compiled", [True, False])
def test_an_event_goes_to_all_neighbours_behind_its_body(compiled: bool) -> None:
    one = Lone(1, compiled=compiled)
    one.flow.set_neighbours([2, 3])
    slot = one.flow.add_body((1, 0, 0), _BODY, 0.0, float("inf"))
    one.flow.note_holder(slot, 3)
    found = one.publish(0)
    if not compiled:  # Python writes the frames
        assert [head.key for head, _ in one.sent] == [(1, 0, 0)]
        assert not found
        return
    assert not one.sent
    frame_types = {peer: [frame_type for frame_type, _ in frames(plain)] for peer, plain in found}
    assert frame_types == {2: [BODY, RECORD], 3: [RECORD]}
    assert key_in(next(frames(dict(found)[2]))[1]) == (1, 0, 0)
    assert one.flow.taken_counts() == (0, 2, 1)


def test_a_node_finds_the_machine_code_of_another_process() -> None:
    assert Lone(1).stepper.compiled
    waiting = Lone(2, compiled=False).stepper
    assert waiting.is_stored()
    assert not waiting.compiled


def test_what_machine_code_cannot_do_is_left_to_python() -> None:
    one, far = Lone(1), Lone(2)
    one.flow.set_neighbours([2])
    assert not one.publish(0)  # the body is not here
    one.flow.add_body((1, 0, 1), _BODY, 0.0, -1.0)
    assert not one.publish(1)  # it has expired
    assert len(one.sent) == 2
    one.flow.add_body((1, 0, 2), _BODY, 0.0, float("inf"))
    ((_, plain),) = one.publish(2)
    place = len(frame(BODY, key_bytes((1, 0, 2)) + _BODY))
    far.flow.set_neighbours([1])
    assert far.driver.handle_frames(0.0, 9, plain, 0) == 0  # no neighbour
    assert far.driver.handle_frames(0.0, 1, plain, 0) == 0  # an unknown body
    far.flow.add_body((1, 0, 2), _BODY, 0.0, float("inf"))
    assert far.driver.handle_frames(0.0, 1, plain, 0) == place  # an unknown topic
    far.flow.know_topic(1, 0)
    assert far.driver.handle_frames(0.0, 1, plain, 0) == len(plain)
    assert far.flow.taken_counts()[0] == 1


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_bytes_are_left_or_refused_and_never_read_beyond_the_end(data: st.DataObject) -> None:
    sent, far = _sent_and_known()
    plain = bytearray(sent)
    for _ in range(data.draw(st.integers(0, 4))):
        plain[data.draw(st.integers(0, len(plain) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(plain[: data.draw(st.integers(0, len(plain)))])
    begin = data.draw(st.integers(0, len(cut)))
    stopped = far.driver.handle_frames(0.0, 1, cut, begin)
    assert begin <= stopped <= len(cut)
    list(far.flow.taken_datagrams())


@cache
def _sent_and_known() -> tuple[bytes, Lone]:
    """A datagram of an event, and a node that knows its body and its topic; compiled once."""
    one, far = Lone(1), Lone(2)
    one.flow.set_neighbours([2])
    far.flow.set_neighbours([1])
    far.flow.know_topic(1, 0)
    for each in (one, far):
        each.flow.add_body((1, 0, 5), _BODY, 0.0, float("inf"))
    return one.publish(5)[0][1], far
