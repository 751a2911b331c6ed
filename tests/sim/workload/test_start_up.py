"""Start-up commands reach their nodes as soon as these are up."""

from typing import Any

import numpy as np
import pytest

from halfway.adapters.commands import commands
from halfway.core.kinds import Kinds
from halfway.protocols.parts import application
from halfway.sim.engine.changes import changes, no_changes
from halfway.sim.simulation import Simulation
from halfway.sim.workload.start_up import StartUp
from halfway.world.faults import Crash
from halfway.world.outages import LINK_DOWN, LOST, NODE_DOWN, NODE_UP
from halfway.world.workload.demand import Listed
from tests.networks import line

DOWN, UP = NODE_DOWN, NODE_UP


def test_a_command_to_a_node_that_is_down_is_repeated_when_it_is_up() -> None:
    """Row 0 is down at first; 1 is down twice, at its command's time and at the repetition."""
    given = commands([0.0, 2.0, 2.0, 2.0, 9.0], [0, 0, 1, 2, 3], 1, [10, 11, 12, 13, 14])
    start_up = StartUp(given, np.array([0], np.int32), Kinds())
    turns = [
        (1.0, DOWN, 1), (1.0, LINK_DOWN, 3), (1.5, UP, 0), (2.5, DOWN, 2), (3.0, UP, 1),
        (3.9, DOWN, 1), (4.0, DOWN, 3), (5.0, UP, 2), (5.0, UP, 1), (7.0, UP, 3), (8.0, DOWN, 3),
    ]  # fmt: skip
    window = changes(*zip(*((t, kind, a, -1) for t, kind, a in turns), strict=True))
    repeated = [
        (round(float(some.at[k]), 9), int(some.row[k]), int(some.topic[k]))
        for happens in (window, no_changes(), changes([11.0], [UP], [3], [-1]))
        for some in start_up.repeat(happens)
        for k in range(len(some.at))
    ]
    assert repeated == [(1.5, 0, 10), (4.0, 1, 12), (4.0 + 1.1, 1, 12), (9.0 + 3.0, 3, 14)]
    assert given.at.tolist() == [0.0, 2.0, 2.0, 2.0, 9.0]


BEGIN, END = int(application.SUBSCRIBE), int(application.UNSUBSCRIBE)


@pytest.mark.parametrize(
    ("sent", "up_at", "again"),
    [
        # A subscription that is over does not begin again; one that is in force does.
        ([(0.0, BEGIN, 7), (30.0, END, 7), (0.0, BEGIN, 8)], 51.0, [(51.0, BEGIN, 8)]),
        ([(0.0, BEGIN, 7), (51.0, END, 7)], 51.0, []),
        # The second subscription to a topic is in force.
        ([(0.0, BEGIN, 7), (10.0, END, 7), (20.0, BEGIN, 7)], 51.0, [(51.0, BEGIN, 7)]),
        # The pause of 20 s counts, but not beyond the end of the subscription.
        ([(0.0, BEGIN, 8), (20.0, BEGIN, 7)], 51.0, [(51.0, BEGIN, 8), (71.0, BEGIN, 7)]),
        (
            [(0.0, BEGIN, 8), (20.0, BEGIN, 7), (60.0, END, 7)], 51.0,
            [(51.0, BEGIN, 8), (51.0, BEGIN, 7)],
        ),
        # The command that an end belongs to need not be a start-up command.
        ([(30.0, END, 7)], 51.0, [(51.0, END, 7)]),
    ],
)  # fmt: skip
def test_a_node_without_memory_begins_nothing_again_that_is_over(
    sent: list[tuple[float, int, int]], up_at: float, again: list[tuple[float, int, int]]
) -> None:
    """Its application sends the commands in force, in the order of their pauses."""
    at, kind, topic = zip(*sent, strict=True)
    start_up = StartUp(commands(at, 0, kind, topic), np.zeros(0, np.int32), application.KINDS)
    up = changes([up_at - 1.0, up_at], [DOWN, UP], [0, 0], [-1, LOST])
    repeated = [
        (round(float(some.at[k]), 9), int(some.kind[k]), int(some.topic[k]))
        for some in start_up.repeat(up)
        for k in range(len(some.at))
    ]
    assert sorted(repeated) == sorted(again)


def test_a_node_that_was_down_at_both_commands_of_a_subscription_begins_none() -> None:
    """The subscription from 10 s to 30 s is over when the node comes up at 40 s."""
    given = commands([0.0, 10.0, 30.0], 0, [BEGIN, BEGIN, END], [8, 7, 7])
    start_up = StartUp(given, np.zeros(0, np.int32), application.KINDS)
    assert not list(start_up.repeat(changes([5.0, 40.0], [DOWN, UP], [0, 0], [-1, -1])))


@pytest.mark.parametrize("memory", ["kept", "lost"])
def test_no_event_reaches_a_node_whose_subscription_is_over(memory: Any) -> None:
    """The node crashes at 50 s, after its subscription from 0 s to 30 s."""
    demand = Listed([(0, 0)], [(5.0, 2, 0), (60.0, 2, 0)], periods={(0, 0): (0.0, 30.0)})
    crash = Crash(node=0, at=50.0, for_=1.0, memory=memory)
    run = Simulation(
        "flooding", line(3), workload=demand, seconds=70.0, faults=[crash], stretch=False
    )
    outcome = run.run()
    assert (outcome.delivered, outcome.unsolicited) == (1, 0)
