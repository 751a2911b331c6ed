"""What event windows and databases forget is counted, and windows are sized for fast publishers."""

from types import SimpleNamespace
from typing import Any

import pytest

from halfway.adapters.interface import RunContext
from halfway.protocols.anti_entropy.messages import SPAN
from halfway.protocols.parts.event_window import WINDOW, window_length
from halfway.protocols.parts.shortfalls import OLD_EVENTS
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Drawn
from halfway.world.workload.groups.group_workload import Groups, Stay
from halfway.world.workload.groups.member_topics import MessagedGroups
from tests.networks import line

_EVENTS, _N = 200, 9
_LEFT = f"events that left a database of {SPAN} before they arrived"


def fast(system: str, every_s: float = 0.01, window: int = 256, **options: Any) -> Simulation:
    """One publisher of many events, on a chain whose far end hears of them late."""
    demand = Drawn(_N, events=_EVENTS, every_s=every_s, start_s=1.0, subscribers_each=4, seed=1)
    return Simulation(
        system, line(_N), workload=demand, seconds=60.0, seed=1, window=window, stretch=False,
        options=options,
    )  # fmt: skip


def lacking(outcome: Outcome) -> int:
    """The expected notifications that did not arrive."""
    return outcome.expected - outcome.delivered


def test_windows_hold_the_events_that_a_publisher_publishes_meanwhile() -> None:
    assert window_length(fast("gossip").state.seen) == 256
    assert window_length(fast("gossip", window=100).state.seen) == 128
    assert window_length(fast("gossip", every_s=1.0).state.seen) == WINDOW


def test_gossip_loses_no_event_of_a_fast_publisher_without_a_word() -> None:
    """Each node waits for up to half a second, so events overtake each other by hundreds."""
    options = {"fanout": -1, "period_s": 0.5, "jitter_s": 1.5}
    enough = fast("gossip", **options).run()
    assert lacking(enough) == 0
    assert OLD_EVENTS not in enough.shortfalls
    short = fast("gossip", window=WINDOW, **options)
    outcome = short.run()
    assert outcome.shortfalls[OLD_EVENTS] > 0
    reached = int(short.state.seen.counts[:, 0].sum())
    assert reached < _EVENTS * _N  # events that some nodes accepted


def test_anti_entropy_counts_each_event_that_a_node_will_never_hold() -> None:
    run = fast("anti-entropy")
    outcome = run.run()
    assert lacking(outcome) > 0
    held = int(run.state.held.counts[:, 0].sum())
    assert outcome.shortfalls[_LEFT] == _EVENTS * _N - held


@pytest.mark.parametrize("system", ["gossip", "anti-entropy"])
def test_slow_publishers_have_no_shortfall(system: str) -> None:
    outcome = fast(system, every_s=0.2).run()
    assert lacking(outcome) == 0
    assert dict(outcome.shortfalls) == {}


def test_windows_have_room_for_events_that_members_publish_while_a_run_goes_on() -> None:
    demand = MessagedGroups((Stay(0, 0), Stay(1, 0)), announce_s=5.0, lifetime_s=15.0)
    context: Any = SimpleNamespace(demand=demand, seconds=60.0, window=256)
    in_flight = vars(RunContext)["in_flight"].fget
    assert in_flight(context) == 256  # no announcement needs more than WINDOW
    context.demand = Groups((Stay(0, 0), Stay(1, 0)), announce_s=5.0, lifetime_s=15.0)
    assert in_flight(context) == WINDOW
