"""The door: a handler called by its address does what the handler does, errors included."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from halfway.core.compiled import kernel
from halfway.core.door import Door, enter, enter_all
from halfway.core.handler import handle, handles
from halfway.core.message import RECORD
from halfway.core.outbox import emit, outbox


class Tally(NamedTuple):
    seen: npt.NDArray[np.int64]  # [rows]


class Other(NamedTuple):
    seen: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int64]


class Step(NamedTuple):
    step: int


@handles(Tally)
def count(state, rules, neighbourhood, i, message, out):  # noqa: ARG001
    if message.kind == 9:
        raise ValueError("kind 9 is refused")
    state.seen[i] += rules.step
    emit(out, np.uint8(3), 0.5, np.int32(i)).event = message.event


@handles(Other)
def weigh(state, rules, neighbourhood, i, message, out):  # noqa: ARG001
    state.seen[i] += rules.step * state.weight[i]


@kernel
def driven(door, messages, times):
    for k in range(times):
        enter(door, np.uint32(k % 2), messages[k % messages.shape[0]])


@kernel
def driven_at_once(door, rows, count, messages, times):
    for k in range(times):
        enter_all(door, rows, count, messages[k])


@kernel
def direct(state, rules, messages, out, times):
    for k in range(times):
        handle(state, rules, rules, np.uint32(k % 2), messages[k % messages.shape[0]], out)


def messages(*kinds: int) -> npt.NDArray[np.void]:
    found = np.zeros(len(kinds), RECORD).view(np.recarray)
    found.kind = kinds
    found.event = range(len(kinds))
    return found


def test_a_door_leads_to_the_handler() -> None:
    state, again, out, beside = (
        Tally(np.zeros(2, np.int64)), Tally(np.zeros(2, np.int64)), outbox(64), outbox(64),
    )  # fmt: skip
    driven(Door(state, Step(2), Step(0), out), messages(1, 2, 3), 21)
    direct(again, Step(2), messages(1, 2, 3), beside, 21)
    assert state.seen.tolist() == again.seen.tolist() == [22, 20]
    assert out.tally.tolist() == beside.tally.tolist() == [43, 0]
    assert out.pool.tobytes() == beside.pool.tobytes()


def test_rows_that_enter_by_one_call_handle_the_message_in_turn() -> None:
    one, other = Tally(np.zeros(4, np.int64)), Tally(np.zeros(4, np.int64))
    out, beside, rows = outbox(16), outbox(16), np.array([3, 1, 2, 0], np.uint32)
    driven_at_once(Door(one, Step(2), Step(0), out), rows, 3, messages(1, 2), 2)
    door = Door(other, Step(2), Step(0), beside)
    for message in messages(1, 2):
        for row in rows[:3]:
            enter(door, row, message)
    assert one.seen.tolist() == other.seen.tolist() == [0, 4, 4, 4]
    for ours, theirs in zip(out, beside, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    slots = out.free[out.tally[0] : 16][::-1]  # in the order of emission
    assert out.row[slots].tolist() == [3, 1, 2, 3, 1, 2]
    assert out.pool["next"][slots].tolist() == [3, 1, 2, 3, 1, 2]


def test_one_driver_enters_every_door() -> None:
    one, other = Tally(np.zeros(2, np.int64)), Other(np.zeros(2, np.int64), np.array([1, 10]))
    before = len(driven.overloads)  # type: ignore[attr-defined]
    for state in (one, other):
        driven(Door(state, Step(1), Step(0), outbox(8)), messages(1), 4)
    assert other.seen.tolist() == [2, 20]
    assert len(driven.overloads) <= max(before, 1)  # type: ignore[attr-defined]


def test_an_error_of_the_handler_reaches_the_caller() -> None:
    door = Door(Tally(np.zeros(2, np.int64)), Step(1), Step(0), outbox(8))
    with pytest.raises(ValueError, match="kind 9 is refused"):
        driven(door, messages(1, 9, 1), 3)
    assert door.node.value.state.seen.tolist() == [1, 0]
    enter(door, 1, messages(1)[0])  # the door still opens
    assert door.node.value.state.seen.tolist() == [1, 1]


def test_a_state_without_a_handler_has_no_door() -> None:
    with pytest.raises(Exception, match="handle"):
        Door(Step(1), Step(1), Step(0), outbox(8))
