"""Walks under loss: hops are repeated and taken in once, walks are launched again, paths heal."""

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.protocols import reliable_hop as hop_care
from halfway.protocols.walks import directional_walk, random_walk, rendezvous
from halfway.protocols.walks.messages import GENERATION, SERIAL, STEPS, WALK_ID
from halfway.protocols.walks.state import is_better
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links, line
from tests.protocols.walks.walk_run import WalkRun, careful
from tests.protocols.worlds import networks

BOTH = pytest.mark.parametrize("protocol", [directional_walk, random_walk])
ENDS = [(0, 5)]


def ring(n: int) -> Network:
    """0 - 1 - … - n-1 - 0."""
    return from_links(n, ((i, (i + 1) % n) for i in range(n)))


def test_without_retries_a_lost_step_kills_a_walk_and_nobody_acknowledges() -> None:
    run = WalkRun(random_walk, line(2), [(0, 1)], careful(retries=0), success=0.0).until(1e3)
    assert run.idle
    assert run.told(rendezvous.MATCHED) == []
    assert run.count(hop_care.SENT) == 0


@BOTH
def test_a_hop_is_repeated_until_it_is_heard(protocol: ModuleType) -> None:
    run = WalkRun(protocol, line(6), ENDS, careful())
    run.hearing(2, 3, 0.0)
    run.hearing(3, 2, 0.0)
    assert run.until(1.12).told(rendezvous.MATCHED) == []
    for sender, receiver in ((2, 3), (3, 2)):
        run.hearing(sender, receiver, 1.0)
    run.publish(400.0, 7)
    run.until(500.0)
    assert sorted(row for row, _, _ in run.told(rendezvous.MATCHED)) == [0, 5]
    assert run.events() == [7]


@BOTH
def test_lost_acknowledgements_neither_fork_a_walk_nor_double_an_event(
    protocol: ModuleType,
) -> None:
    """Every third answer or so is lost; no hop fails for good, and each step is made once."""
    network = disk(n=40, radius=0.3, seed=3)
    run = WalkRun(
        protocol, network, [(0, 39), (5, 20)], careful(retries=60, hear=False), success=0.65, seed=4
    )
    for event in range(20):
        run.publish(1000.0 + event, event, event % 2)
    run.until(2000.0)
    steps, rows = run.received(rendezvous.STEP)
    made = {(s["args"][WALK_ID], s["args"][STEPS], r) for s, r in zip(steps, rows, strict=True)}
    assert len(steps) > len(made)  # some came twice,
    assert len({(walk, step) for walk, step, _ in made}) == len(made)  # none to two nodes
    data, _ = run.received(rendezvous.DATA)
    passed_on = {(d["source"], d["args"][SERIAL], d["event"]) for d in data}
    assert len(data) > len(passed_on)
    assert len({(source, event) for source, _, event in passed_on}) == len(passed_on)
    assert run.count(hop_care.REDRAWN) == run.count(hop_care.LOST) == 0
    assert sorted(run.events()) == list(range(20))


@BOTH
def test_a_dead_neighbour_is_walked_around(protocol: ModuleType) -> None:
    """Both neighbours of a ring's node are drawn in the end; the walks meet on the other side."""
    run = WalkRun(protocol, ring(6), [(0, 3)], careful())
    run.crash(1)
    run.publish(300.0, 1)
    run.until(400.0)
    assert sorted(row for row, _, _ in run.told(rendezvous.MATCHED)) == [0, 3]
    assert run.events() == [1]
    assert 1 not in run.path(4, 0)


def test_a_walk_among_the_dead_ends_and_is_counted() -> None:
    run = WalkRun(directional_walk, line(4), [(0, 3)], careful())
    run.crash(1)
    run.crash(2)
    assert run.until(1e4).idle
    assert run.count(hop_care.DIED) == 2
    assert run.count(hop_care.REDRAWN) == 2


def test_a_full_table_sends_without_care_and_says_so() -> None:
    pairs = [(0, 5)] * 6
    run = WalkRun(random_walk, line(6), pairs, careful(), slots=1).until(1e3)
    assert len(run.told(rendezvous.MATCHED)) == 12
    assert run.count(hop_care.CROWDED) > 0
    assert not run.trace.hops.args[..., SERIAL].any()


def test_numbers_of_hops_begin_anew_before_they_outgrow_a_record() -> None:
    """Each says where its hop is kept, so they grow by the places of the table."""
    run = WalkRun(random_walk, line(6), ENDS, careful(), success=0.7)
    run.trace.counts[:, hop_care.SENT] = (2**31 - 1) // run.trace.hops.shape[1] - 1
    run.publish(400.0, 7)
    run.until(500.0)
    kinds = (rendezvous.STEP, rendezvous.MATCH, rendezvous.DATA)
    numbers = np.concatenate([run.received(kind)[0]["args"][:, SERIAL] for kind in kinds])
    assert numbers.max() > 2**31 - 20
    assert 0 < numbers.min() < 20
    assert run.events() == [7]
    assert not run.trace.hops.args[..., SERIAL].any()


@BOTH
def test_an_unanswered_walk_is_launched_again_but_not_for_ever(protocol: ModuleType) -> None:
    rules = careful(retries=0, relaunch_s=20.0, launches=4)
    deaf = WalkRun(protocol, line(4), [(0, 3)], rules, success=0.0)
    assert deaf.until(1e4).idle
    assert deaf.count(hop_care.LAUNCHED) == 2 * 3
    run = WalkRun(protocol, line(4), [(0, 3)], rules, success=0.0)
    run.publish(90.0, 1)
    run.until(30.0)
    run.radio.success[:] = 1.0
    run.until(1e4)
    assert sorted(row for row, _, _ in run.told(rendezvous.MATCHED)) == [0, 3]
    assert run.events() == [1]
    assert run.count(hop_care.LAUNCHED) == 2 * 2  # at 20 s in vain, at 40 s not


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
    rules = careful(
        hear=hear, retries=seed % 3, relaunch_s=7.0, launches=5, refresh_s=17.0, until_s=60.0
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
            for row in np.flatnonzero(run.trace.back[:, walk] >= 0):
                assert run.path(int(row), walk)[-1] == ends[walk >> 1][walk & 1]
    assert run.until(1e5).idle  # no walk and no event goes round and round
    assert len(run.events()) == len(set(run.events()))


@BOTH
def test_a_crash_on_the_path_costs_the_events_until_the_next_refresh(protocol: ModuleType) -> None:
    """Two ways round: the path through one, and the other when a node of the first is gone."""
    rules = careful(refresh_s=100.0, until_s=350.0, relaunch_s=40.0, launches=3)
    run = WalkRun(protocol, ring(8), [(0, 4)], rules).until(50.0)
    data = [1, 2, 3] if run.trace.forth[0, 0] == 1 else [7, 6, 5]
    run.publish(55.0, 0)
    run.until(60.0)
    run.crash(data[1])
    for event in range(1, 30):
        run.publish(60.0 + 10.0 * event, event)
    run.until(500.0)
    lost = sorted(set(range(30)) - set(run.events()))
    assert lost == list(range(1, len(lost) + 1))  # from the crash on, then none any more
    assert 3 <= len(lost) <= 8
    assert run.count(hop_care.LOST) == len(lost)


@pytest.mark.parametrize(("down", "back"), [(True, 45.0), (True, 140.0), (False, 45.0)])
def test_an_initiator_that_comes_back_launches_anew(down: bool, back: float) -> None:
    """Its letters to itself died with it, due later or not; or they come, if it was never down."""
    rules = careful(refresh_s=50.0, until_s=400.0)
    run = WalkRun(random_walk, line(4), [(0, 3)], rules).until(40.0)
    if down:
        run.crash(0)
    run.until(back)
    run.come_back(0)
    before = int(run.trace.walks.generation[0, 0])
    run.publish(390.0, 5)
    run.until(500.0)
    assert run.idle
    # Once on coming back and then every 50 s: a reminder of an older launch is void.
    assert run.trace.walks.generation[0, 0] - before == 1 + (400.0 - back) // 50.0
    assert run.events() == [5]


def test_a_hop_in_flight_when_its_sender_crashed_is_repeated_on_return() -> None:
    """The other walk is over by then, so that nothing else wakes this one up."""
    run = WalkRun(random_walk, line(3), [(0, 2)], careful(most_steps=1), seed=2).until(0.9)
    run.crash(0)
    run.until(30.0)
    assert run.told(rendezvous.MATCHED) == []
    run.come_back(0)
    run.until(60.0)
    assert sorted(row for row, _, _ in run.told(rendezvous.MATCHED)) == [0, 2]


def test_events_before_the_meeting_are_kept_and_the_oldest_gives_way() -> None:
    run = WalkRun(directional_walk, line(30), [(0, 29)], careful(hold=3))
    for event in range(5):
        run.publish(0.1 * event, event)
    run.until(1e3)
    assert run.events() == [2, 3, 4]
    assert [event for _, _, event in run.told(rendezvous.UNMATCHED)] == [0, 1]
    assert run.count(hop_care.SPILLED) == 2
    assert run.count(hop_care.KEPT) == 0


def test_an_event_published_twice_is_delivered_once() -> None:
    run = WalkRun(random_walk, line(4), [(0, 3)], careful())
    for at, event in ((100, 9), (101, 9), (102, 4), (103, 9), (104, 4)):
        run.publish(at, event)
    assert run.until(1e3).events() == [9, 4]


def test_a_fork_ends_on_the_other_ones_trace() -> None:
    """All answers to one step are lost: the walk goes on twice, until one comes too late."""
    run = WalkRun(random_walk, ring(12), [(0, 6)], careful(most_steps=10**6), seed=5).until(0.5)
    run.crash(6)
    run.hearing(1, 0, 0.0)
    run.hearing(11, 0, 0.0)
    run.until(30.0)
    assert run.count(hop_care.REDRAWN) > 0
    for neighbour in (1, 11):
        run.hearing(neighbour, 0, 1.0)
    run.until(800.0)
    steps, _ = run.received(rendezvous.STEP)
    late = steps[(steps["at"] > 700.0) & (steps["args"][:, WALK_ID] == 0)]
    assert len(late) > 0
    assert (late["args"][:, GENERATION] == 0).all()
    assert len(set(late["args"][:, STEPS])) == len(late)  # one walk is left


def test_data_follow_the_launch_that_was_met_not_an_older_trace() -> None:
    """Between publisher and meeting lies an old trace of the subscriber, whose next node is gone.

    On the line 0 - … - 5 with a way round, 1 - 6 - 5: the nodes are told what walks would tell.
    """
    network = from_links(7, [(i, i + 1) for i in range(5)] + [(1, 6), (6, 5)])
    run = WalkRun(random_walk, network, [(0, 5)], careful(retries=0, most_steps=0)).until(10.0)
    trace = run.trace
    for row, back, generation in ((1, 2, 0), (2, 3, 0), (3, 4, 0), (4, 5, 0), (6, 5, 1), (5, 5, 1)):
        trace.back[row, 1], trace.walks[row, 1].generation = back, generation
    trace.forth[0, 0], trace.forth[1, 0] = 1, 6
    trace.walks[0, 0].told_other = trace.walks[1, 0].told_other = 1
    run.crash(3)
    run.publish(20.0, 4)
    assert run.until(30.0).events() == [4]


launches = st.integers(0, 4)


@given(launches, launches, launches, launches, st.booleans())
def test_a_meeting_is_better_if_its_launches_are_later(
    own: int, other: int, told: int, told_other: int, known: bool
) -> None:
    """The node's own walk decides, then the one that it met."""
    memory = rendezvous.trace(np.zeros(1, np.int32), 1, 1)
    memory.forth[0, 0] = 0 if known else -1
    memory.walks[0, 0].told, memory.walks[0, 0].told_other = told, told_other
    expected = not known or (own, other) > (told, told_other)
    assert is_better(memory, 0, 0, own, other) == expected
