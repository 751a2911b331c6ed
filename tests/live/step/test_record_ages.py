"""Ages of the records that a live node sends to itself."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.core.handler import handles
from halfway.core.kinds import Channel, Kinds
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import emit
from halfway.core.values.ranges import AGE_S
from halfway.live.step.node_stepper import Stepper
from halfway.live.step.system_node import SystemNode

KINDS = Kinds({"age_s": AGE_S})
HOLD = KINDS.command(1, "hold", "the node holds a record of 1 s for 2.5 s")
HELD = KINDS.network(2, "held", "the record", reals={"age_s": 0}, also=Channel.TIMER, age="age_s")


class HoldingRules(NamedTuple):
    """The rules of a node that holds a record."""

    delay_s: float = 2.5


class HoldingState(NamedTuple):
    """The state of a node that holds a record."""

    node_id: Any  # [1]
    age: Any  # [1] of the last record, in s


@handles(HoldingState)
def handle(state, rules, _neighbourhood, i, message, out):
    if message.kind == HOLD:
        emit(out, HELD, rules.delay_s, state.node_id[i]).reals[0] = 1.0
    else:
        state.age[i] = message.reals[0]


def test_a_record_that_a_live_node_holds_ages_by_the_clock() -> None:
    """The node wakes half a second late."""
    state = HoldingState(np.array([5], np.int32), np.zeros(1))
    none = np.zeros(0, np.int32)
    around = Neighbourhood(
        np.zeros(1, np.uint32), np.zeros(1, np.uint32), none, none, np.zeros(0), np.zeros(0)
    )
    node = SystemNode(state, HoldingRules(), 1, KINDS, {})
    stepper = Stepper(node, around, node_id=5, incarnation=0, hashes=np.zeros(0, np.uint64))
    stepper.set_time(100.0)
    assert stepper.command(int(HOLD))
    (held,) = stepper.emissions()
    assert held.at == 102.5
    stepper.set_time(103.0)
    assert stepper.wake(held.slot)
    assert state.age[0] == pytest.approx(4.0)
