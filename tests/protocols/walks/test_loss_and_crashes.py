"""Walks under loss and crashes: walks are redrawn and launched again, paths heal."""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.protocols.walks import directional_walk, random_walk
from halfway.protocols.walks.messages import (
    GENERATION,
    MATCHED,
    STEP,
    STEPS,
    SUBSCRIBES,
    UNMATCHED,
)
from halfway.protocols.walks.tables.counts import DIED, EVICTED, LAUNCHED, LOST, REDRAWN
from halfway.world.graphs.network import Network
from tests.networks import from_links, line
from tests.protocols.walks.tables import check_paths, paths_at, trail_at, walks_of
from tests.protocols.walks.walk_run import WalkRun, reliable
from tests.protocols.worlds import networks

BOTH = pytest.mark.parametrize("protocol", [directional_walk, random_walk])


def ring(n: int) -> Network:
    """0 - 1 - … - n-1 - 0."""
    return from_links(n, ((i, (i + 1) % n) for i in range(n)))


@BOTH
def test_a_walk_redraws_a_step_to_a_dead_neighbour(protocol: ModuleType) -> None:
    """Both neighbours on a ring are chosen in the end; the walks meet on the other side."""
    run = WalkRun(protocol, ring(6), [(0, 3)], reliable())
    run.crash(1)
    run.publish(300.0, 1)
    run.until(400.0)
    assert sorted(row for row, _, _ in run.reports(MATCHED)) == [0, 3]
    assert run.events() == [1]
    assert 1 not in run.path(4, 0)


def test_a_walk_whose_neighbours_are_all_dead_ends_and_is_counted() -> None:
    run = WalkRun(directional_walk, line(4), [(0, 3)], reliable())
    run.crash(1)
    run.crash(2)
    assert run.until(1e4).idle
    assert run.count(DIED) == 2
    assert run.count(REDRAWN) == 2


@BOTH
def test_an_unanswered_walk_is_launched_again_up_to_its_limit(protocol: ModuleType) -> None:
    rules = reliable(retries=0, relaunch_s=20.0, launches=4)
    isolated = WalkRun(protocol, line(4), [(0, 3)], rules, success=0.0)
    assert isolated.until(1e4).idle
    assert isolated.count(LAUNCHED) == 2 * 3
    run = WalkRun(protocol, line(4), [(0, 3)], rules, success=0.0)
    run.publish(90.0, 1)
    run.until(30.0)
    run.radio.success[:] = 1.0
    run.until(1e4)
    assert sorted(row for row, _, _ in run.reports(MATCHED)) == [0, 3]
    assert run.events() == [1]
    assert run.count(LAUNCHED) == 2 * 2  # at 20 s in vain, at 40 s not


@settings(max_examples=25)
@given(
    networks(most=10),
    st.sampled_from([directional_walk, random_walk]),
    st.integers(0, 2**32),
    st.sampled_from([0.3, 0.7, 1.0]),
    st.lists(st.integers(0, 9), max_size=3),
    st.booleans(),
)
def test_back_pointers_end_at_the_initiator_over_any_launches_losses_and_crashes(
    network: Network, protocol: ModuleType, seed: int, success: float, down: list[int], hear: bool
) -> None:
    """[drw §3] "the path that goes back to the initiator is loop-erased": no cycle."""
    rules = reliable(
        advertise=hear, retries=seed % 3, relaunch_s=7.0, launches=5, refresh_s=17.0, until_s=60.0
    )
    ends = [(0, network.n - 1), (network.n - 1, 0)]
    run = WalkRun(protocol, network, ends, rules, seed=seed, success=success)
    for event in range(40):
        run.publish(2.0 * event, event, event % 2)
    for number, time in enumerate(range(4, 120, 8)):
        run.until(time)
        for row in down:
            if row < network.n:
                (run.crash if number % 2 else run.come_back)(row)
        for walk in range(4):
            for row in range(network.n):
                if trail_at(run.tables, row, walk) is not None:
                    end = run.path(row, walk)[-1]
                    assert end == ends[walk >> 1][walk & 1] or time > rules.refresh_s
        for topic in (0, 1):
            check_paths(run.tables, topic)
    assert run.until(1e5).idle  # neither a walk nor an event circulates for ever
    assert len(run.events()) == len(set(run.events()))


@BOTH
def test_a_crash_on_the_path_costs_the_events_until_the_next_refresh(protocol: ModuleType) -> None:
    """[drw §2] The paper's algorithm "does not manage the failure of the nodes that compose the
    routing path". A ring has two paths: the one in use, and the other when a node of it is down.
    """
    rules = reliable(refresh_s=100.0, until_s=350.0, relaunch_s=40.0, launches=3)
    run = WalkRun(protocol, ring(8), [(0, 4)], rules).until(50.0)
    towards = paths_at(run.tables, 0, 0)[SUBSCRIBES, 4]
    data = [1, 2, 3] if towards == 1 else [7, 6, 5]
    run.publish(55.0, 0)
    run.until(60.0)
    run.crash(data[1])
    for event in range(1, 30):
        run.publish(60.0 + 10.0 * event, event)
    run.until(500.0)
    lost = sorted(set(range(30)) - set(run.events()))
    assert lost == list(range(1, len(lost) + 1))  # those published from the crash until the refresh
    assert 3 <= len(lost) <= 8
    assert run.count(LOST) > len(lost)  # these events, and the news of members


@pytest.mark.parametrize(("down", "back"), [(True, 45.0), (True, 140.0), (False, 45.0)])
def test_an_initiator_launches_again_after_a_crash(down: bool, back: float) -> None:
    """Its timers ended with the crash; they still run if the node was not down."""
    rules = reliable(refresh_s=50.0, until_s=400.0)
    run = WalkRun(random_walk, line(4), [(0, 3)], rules).until(40.0)
    if down:
        run.crash(0)
    run.until(back)
    run.come_back(0)
    before = int(run.tables.roles.launches[0, 0])
    run.publish(390.0, 5)
    run.until(500.0)
    assert run.idle
    # Once on the start event and then every 50 s: timers of earlier launches have no effect.
    assert run.tables.roles.launches[0, 0] - before == 1 + (400.0 - back) // 50.0
    assert run.events() == [5]


def test_events_before_the_meeting_are_buffered_and_the_oldest_is_evicted() -> None:
    """[drw §3] Data need the path that the meeting makes. We let the publisher keep the newest
    events.
    """
    run = WalkRun(directional_walk, line(30), [(0, 29)], reliable(), buffer_size=3)
    for event in range(5):
        run.publish(0.3 + 0.1 * event, event)
    run.until(1e3)
    assert run.events() == [2, 3, 4]
    assert [event for _, _, event in run.reports(UNMATCHED)] == [0, 1]
    assert run.count(EVICTED) == 2


def test_an_event_published_twice_is_delivered_once() -> None:
    run = WalkRun(random_walk, line(4), [(0, 3)], reliable())
    for at, event in ((100, 9), (101, 9), (102, 4), (103, 9), (104, 4)):
        run.publish(at, event)
    assert run.until(1e3).events() == [9, 4]


def test_a_forked_walk_ends_on_the_trail_of_the_other_fork() -> None:
    """All acknowledgements of one step are lost: the walk forks, until one fork is outrun."""
    run = WalkRun(random_walk, ring(12), [(0, 6)], reliable(most_steps=10**6), seed=5).until(0.5)
    run.crash(6)
    run.hearing(1, 0, 0.0)
    run.hearing(11, 0, 0.0)
    run.until(30.0)
    assert run.count(REDRAWN) > 0
    for neighbour in (1, 11):
        run.hearing(neighbour, 0, 1.0)
    run.until(800.0)
    steps, _ = run.received(STEP)
    late = steps[(steps["at"] > 700.0) & (walks_of(steps) == 0)]
    assert len(late) > 0
    assert (late["args"][:, GENERATION] == 0).all()
    assert len(set(late["args"][:, STEPS])) == len(late)  # one walk is left
