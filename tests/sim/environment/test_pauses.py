"""Nodes that pause: they neither handle nor send, and then work through what waited."""

from typing import Any

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.protocols.gossip import KINDS, ROUND
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio, Radio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.fault_times import schedule
from halfway.world.faults import Churn, Crash, Fault, Pause
from halfway.world.outages import NODE_PAUSED, NODE_RESUMED
from halfway.world.workload.demand import Listed
from tests.networks import disk, line

EVENTS = 6
PUSH = KINDS.number("push")


def run(
    *faults: Fault,
    system: str = "flooding",
    radio: Radio | None = None,
    options: dict[str, Any] | None = None,
) -> Simulation:
    """Events of the left end of a chain of three nodes, one a second from 1 s on."""
    demand = Listed([(2, 0)], [(1.0 + k, 0, 0) for k in range(EVENTS)])
    simulation = Simulation(
        system, line(3), workload=demand, seconds=20.0, faults=faults,
        inspection=Inspection(received_records=1 << 14),
        radio=radio or IdealRadio(delay_s=0.001), options=options,
        hello=None,
    )  # fmt: skip
    simulation.run()
    return simulation


def arrivals(simulation: Simulation, row: int) -> list[tuple[float, int]]:
    """When the application of a row received which event."""
    reports, rows = simulation.reports()
    mine = reports[rows == row]
    return [(float(one["at"]), int(one["event"])) for one in mine]


@pytest.mark.parametrize("radio", [IdealRadio(delay_s=0.001), CsmaRadio()])
def test_a_paused_node_handles_everything_in_order_when_it_goes_on(radio: Radio) -> None:
    simulation = run(Pause(node=1, at=2.5, for_=2.75), radio=radio)
    found = arrivals(simulation, 2)
    assert [event for _, event in found] == [*range(EVENTS)]
    assert found[1][0] < 2.5
    waited = [at for at, event in found if event in (2, 3, 4)]
    assert len(waited) == 3
    assert all(5.25 <= at < 5.35 for at in waited)
    assert simulation.outcome().delivery_ratio == 1.0


def test_a_paused_publisher_sends_later() -> None:
    found = arrivals(run(Pause(node=0, at=0.5, for_=4.0)), 2)
    assert [event for _, event in found] == [*range(EVENTS)]
    assert all(at >= 4.5 for at, _ in found[:4])


def test_timers_come_before_records_when_a_node_goes_on() -> None:
    """A round of gossip is due after a record arrived: the timer is still handled first."""
    options = {"fanout": -1, "rounds": 3, "period_s": 1.25, "jitter_s": 0.0}
    simulation = run(Pause(node=1, at=1.5, for_=2.75), system="gossip", options=options)
    records, rows = simulation.received_records()
    then = (rows == 1) & (records["at"] == 4.25)
    kinds = records["kind"][then].tolist()
    # The timer was due at 2.251 s, the record of the second event arrived at 2.001 s.
    assert kinds[:2] == [ROUND, PUSH]
    early = (rows == 1) & (records["at"] > 1.5) & (records["at"] < 4.25)
    assert not early.any()


def test_a_node_that_crashes_while_it_pauses_loses_what_waits() -> None:
    faults = Pause(node=1, at=2.5, for_=2.75), Crash(node=1, at=4.5, for_=0.25)
    assert [event for _, event in arrivals(run(*faults), 2)] == [0, 1, 4, 5]


def test_pauses_repeat_and_the_schedule_joins_in_windows() -> None:
    network, pause = disk(n=40, radius=0.4, seed=1), Pause(share=0.25, at=1.0, for_=0.5, every_s=2)
    whole = schedule([pause], network, 3, 21.0)
    assert set(whole.kind.tolist()) == {NODE_PAUSED, NODE_RESUMED}
    begins = whole.t[whole.kind == NODE_PAUSED]
    assert np.unique(begins).tolist() == [1.0 + 2.0 * k for k in range(10)]
    assert len(begins) == 10 * 10
    halves = [schedule([pause], network, 3, end, begin) for begin, end in ((0.0, 9.2), (9.2, 21.0))]
    for column in range(4):
        np.testing.assert_array_equal(
            whole[column], np.concatenate([half[column] for half in halves])
        )


@pytest.mark.parametrize(
    ("pause", "what"),
    [
        (
            Pause(node=1, at=1.0, for_=2.0, every_s=2.0),
            "every_s = 2: expected a finite time longer",
        ),
        (Pause(at=1.0, for_=2.0), "neither node nor share is given: expected exactly one"),
        (Pause(share=0.5, at=1.0, for_=1e-9, every_s=2e-9), "pauses: expected at most"),
    ],
)
def test_impossible_pauses_are_refused(pause: Pause, what: str) -> None:
    with pytest.raises(Problem, match=what):
        schedule([pause], line(3), 1, 20.0)


def test_a_run_refuses_times_of_faults_that_are_not_positive() -> None:
    for fault, what in (
        (Pause(node=1, at=1.0, for_=2.0, every_s=0.0), "every_s = 0"),
        (Churn(mean_up_s=0.0, mean_down_s=0.0), "mean_up_s = 0"),
    ):
        with pytest.raises(Problem, match=what):
            run(fault)
