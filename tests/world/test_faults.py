"""Tests of fault schedules against brute-force intervals: nesting, recovery, determinism."""

import math
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.fault_times import schedule
from halfway.world.faults import Churn, Crash, Fault, LinkCut, Partition
from halfway.world.graphs.network import Network
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP, FaultEvents
from tests.networks import disk, from_links, line

Thing = tuple[int, int]  # (row, -1) or (row, row)
SECONDS = 20.0


def down_at(events: FaultEvents, t: float) -> set[Thing]:
    """Return what is down after all events up to t; check that events alternate."""
    down: set[Thing] = set()
    for at, kind, a, b in zip(*(column.tolist() for column in events), strict=True):
        if at > t:
            break
        assert (b == -1) == (kind in (NODE_DOWN, NODE_UP))
        assert b == -1 or a < b
        assert ((a, b) in down) == (kind in (NODE_UP, LINK_UP))
        down ^= {(a, b)}
    return down


def holds(fault: Fault, network: Network, t: float) -> set[Thing]:
    """Return what one fault without randomness holds down at t, by definition."""
    assert not isinstance(fault, Churn)
    if not fault.at <= t < fault.at + (math.inf if fault.for_ is None else fault.for_):
        return set()
    if isinstance(fault, Crash):
        return {(int(fault.node or 0), -1)}
    if isinstance(fault, LinkCut):
        return {(min(int(fault.a), int(fault.b)), max(int(fault.a), int(fault.b)))}
    links = {(i, int(j)) for i in range(network.n) for j in network.neighbours(i) if i < j}
    return {(i, j) for i, j in links if (i in (fault.nodes or ())) != (j in (fault.nodes or ()))}


whole = st.integers(0, 12).map(float)
duration = st.none() | st.integers(1, 8).map(float)
ROWS = 6
row = st.integers(0, ROWS - 1)
plain = st.one_of(
    st.builds(Crash, node=row, at=whole, for_=duration),
    st.builds(
        lambda a, at, for_: LinkCut(a=a + 1, b=a, at=at, for_=for_),
        st.integers(0, ROWS - 2), whole, duration,
    ),
    st.builds(Partition, nodes=st.frozensets(row), at=whole, for_=duration),
)  # fmt: skip


@given(st.lists(plain, max_size=8), st.lists(st.floats(0, SECONDS, exclude_max=True), max_size=4))
def test_overlapping_faults_nest(faults: list[Fault], times: list[float]) -> None:
    network = line(ROWS)
    events = schedule(faults, network, 1, SECONDS)
    assert (np.diff(events.t) >= 0).all()
    for t in (0.0, 5.0, 12.0, *times):
        expected = set().union(*(holds(fault, network, t) for fault in faults))
        assert down_at(events, t) == expected


def test_a_node_crashed_twice_recovers_when_the_last_fault_ends() -> None:
    faults = [Crash(node=2, at=1, for_=5), Crash(node=2, at=3, for_=10), Crash(node=2, at=13)]
    events = schedule(faults[:2], 4, 0, SECONDS)
    assert events.t.tolist() == [1.0, 13.0]
    assert events.kind.tolist() == [NODE_DOWN, NODE_UP]
    assert schedule(faults, 4, 0, SECONDS).t.tolist() == [1.0]  # no gap at 13, and no recovery


def test_events_outside_the_run_are_left_out() -> None:
    faults = [Crash(node=0, at=30, for_=1), Crash(node=1, at=10, for_=10), LinkCut(a=1, b=0, at=0)]
    events = schedule(faults, 2, 0, SECONDS)
    assert events.t.tolist() == [0.0, 10.0]
    assert events.kind.tolist() == [LINK_DOWN, NODE_DOWN]
    assert not len(schedule([], 2, 0, SECONDS).t)


def test_a_line_cuts_exactly_the_links_that_cross_it_and_recovers() -> None:
    network = disk()
    x = network.position[:, 0] if network.position is not None else np.empty(0)
    events = schedule([Partition(line=(0.5, 0, 0.5, 1), at=2, for_=3)], network, 0, SECONDS)
    crossing = {
        (i, int(j))
        for i in range(network.n)
        for j in network.neighbours(i)
        if i < j and (x[i] < 0.5) != (x[j] < 0.5)
    }
    assert crossing
    assert down_at(events, 2.0) == crossing
    assert down_at(events, 5.0) == set()
    assert len(events.t) == 2 * len(crossing)


def test_nodes_cut_from_all_others_where_links_change() -> None:
    events = schedule([Partition(nodes=frozenset({0, 3}), at=1)], 4, 0, SECONDS)
    assert down_at(events, 1.0) == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_a_share_is_exact_drawn_and_nested() -> None:
    def crashed(share: float, seed: int = 1, index: int = 0) -> set[Thing]:
        faults: list[Fault] = [LinkCut(a=0, b=1, at=99)] * index + [Crash(share=share, at=0)]
        return down_at(schedule(faults, 1000, seed, SECONDS), 0.0)

    assert [len(crashed(share)) for share in (0.0, 0.1, 0.25, 1.0)] == [0, 100, 250, 1000]
    assert crashed(0.1) < crashed(0.25)
    assert crashed(0.1) == crashed(0.1)
    assert crashed(0.1) != crashed(0.1, seed=2)
    assert crashed(0.1) != crashed(0.1, index=1)


def test_churn_is_exponential_and_reaches_its_balance() -> None:
    events = schedule([Churn(mean_up_s=30, mean_down_s=10)], 2000, 5, 1000.0)
    spans: dict[int, list[float]] = {NODE_DOWN: [], NODE_UP: []}
    for node in range(2000):
        mine = events.a == node
        kinds = events.kind[mine].tolist()
        assert kinds == [NODE_DOWN, NODE_UP] * (len(kinds) // 2) + [NODE_DOWN] * (len(kinds) % 2)
        times = events.t[mine].tolist()[:15]  # a fixed number: no bias towards short ones
        for (t0, t1), kind in zip(pairwise(times), kinds, strict=False):
            spans[kind].append(t1 - t0)
    for kind, mean in ((NODE_DOWN, 10.0), (NODE_UP, 30.0)):
        span = np.array(spans[kind])
        error = 4 * mean / np.sqrt(len(span))
        assert span.mean() == pytest.approx(mean, abs=error)
        assert span.std() == pytest.approx(mean, abs=3 * error)
        assert (span > 2 * mean).mean() == pytest.approx(np.exp(-2), abs=0.02)
    first = np.array([events.t[events.a == node][0] for node in range(2000)])
    assert first.mean() == pytest.approx(30.0, abs=4 * 30 / np.sqrt(2000))
    for t in (200.0, 900.0):
        assert len(down_at(events, t)) / 2000 == pytest.approx(0.25, abs=0.04)


def test_churn_ends_and_keeps_to_its_share_and_its_random_state() -> None:
    churn = Churn(mean_up_s=2, mean_down_s=1, share=0.3, until=10)
    events = schedule([churn], 100, 5, 60.0)
    assert len(set(events.a.tolist())) <= 30
    assert events.t[events.kind == NODE_DOWN].max() < 10.0
    assert down_at(events, 59.0) == set()
    again = schedule([churn, Crash(node=0, at=59.5)], 100, 5, 60.0)
    assert all(np.array_equal(one, two[:-1]) for one, two in zip(events, again, strict=True))
    longer = schedule([msgspec.structs.replace(churn, until=None)], 100, 5, 60.0)
    early = longer.t < 10.0
    assert np.array_equal(longer.t[early], events.t[events.t < 10.0])


def splitmix(word: int) -> tuple[int, int]:
    """Return the next random state and its 64 bits, in integers."""
    word = (word + 0x9E3779B97F4A7C15) % 2**64
    bits = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) % 2**64
    return word, bits ^ bits >> 31


def exponential(word: int) -> tuple[int, float]:
    """Draw von Neumann's exponential time of mean 1, number by number."""
    for whole in range(1000):
        word, bits = splitmix(word)
        run = [(bits >> 11) / 2**53]
        while len(run) < 2 or run[-1] < run[-2]:
            word, bits = splitmix(word)
            run.append((bits >> 11) / 2**53)
        if len(run) % 2 == 0:  # the last number did not fall
            return word, whole + run[0]
    raise AssertionError


def named(seed: int, name: int) -> int:
    """Return the first random state of stream `name`: the mix of the seed and the mixed name."""
    bits = splitmix(name)[1]
    return splitmix((seed ^ bits) - 0x9E3779B97F4A7C15)[1]


def test_churn_equals_integer_arithmetic_on_any_machine() -> None:
    events = schedule([Churn(mean_up_s=4, mean_down_s=0.5)], 20, 77, 50.0)
    for node in range(20):
        word, _ = splitmix(named(named(77, 0), node))
        expected: list[float] = []
        t = 0.0
        while t < 50.0:
            word, up = exponential(word)
            word, down = exponential(word)
            expected += [t + up * 4, t + up * 4 + down * 0.5]
            t = expected[-1]
        mine = events.t[events.a == node].tolist()
        assert mine == pytest.approx([t for t in expected if t < 50.0], rel=1e-12)


def test_faults_are_read_from_a_scenario() -> None:
    source = b"""[
      {"fault": "crash", "share": 0.1, "at": 5, "for": 2.5},
      {"fault": "churn", "mean_up_s": 60, "mean_down_s": 5},
      {"fault": "link-cut", "a": 0, "b": "1", "at": 3},
      {"fault": "partition", "nodes": [0, 2], "at": 1, "for": 2},
      {"fault": "partition", "line": [0, 0, 1, 1], "at": 1}
    ]"""
    faults = msgspec.json.decode(source, type=list[Fault])
    assert faults[0] == Crash(share=0.1, at=5.0, for_=2.5)
    assert faults[2] == LinkCut(a=0, b="1", at=3.0)
    assert faults[3] == Partition(nodes=frozenset({0, 2}), at=1.0, for_=2.0)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'[{"fault": "crash", "node": 1, "at": 1, "For": 2}]', type=list[Fault])


def test_labels_name_nodes() -> None:
    plain_network = from_links(3, [(0, 1), (1, 2)])
    labels = np.array(["ann", "bob", "cy"])
    network = Network(plain_network.start, plain_network.who, labels=labels)
    events = schedule([Crash(node="bob", at=0), LinkCut(a="cy", b="bob", at=0)], network, 0, 1.0)
    assert down_at(events, 0.0) == {(1, -1), (1, 2)}
    for unknown in ("dan", 1):  # where nodes have labels, a row is not a label
        with pytest.raises(Problem, match=f"node: there is no node '{unknown}'.*ann, bob"):
            schedule([Crash(node=unknown, at=0)], network, 0, 1.0)


def test_numbers_are_labels_where_a_network_has_labels() -> None:
    plain_network = from_links(3, [(0, 1), (1, 2)])
    for labels in (np.array(["7", "2", "0"]), np.array([7, 2, 0], np.int32)):
        network = Network(plain_network.start, plain_network.who, labels=labels)
        faults = [Crash(node=0, at=0), LinkCut(a=2, b="7", at=0), Crash(node="7", at=0)]
        assert down_at(schedule(faults, network, 0, 1.0), 0.0) == {(2, -1), (0, 1), (0, -1)}
        apart = [Partition(nodes=frozenset({7, "2"}), at=0)]
        assert down_at(schedule(apart, network, 0, 1.0), 0.0) == {(1, 2)}
    # Rows of a drawn network have another order than its labels.
    drawn = disk(20, 0.5)
    one = int(np.flatnonzero(drawn.labels != np.arange(20))[0])
    events = schedule([Crash(node=int(drawn.label(one)), at=0)], drawn, 0, 1.0)
    assert down_at(events, 0.0) == {(one, -1)}


@pytest.mark.parametrize("tiny", [5e-324, 1e-9, 1e-5])
def test_churn_too_fast_to_be_drawn_is_refused(tiny: float) -> None:
    with pytest.raises(Problem, match=r"outages: expected at most 10,000,000.*longer mean_up_s"):
        schedule([Churn(mean_up_s=tiny, mean_down_s=tiny)], 100, 1, SECONDS)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Crash(at=1), "neither node nor share is given: expected exactly one"),
        (Crash(node=1, share=0.5, at=1), "node and share are both given: expected exactly one"),
        (Crash(node=4, at=1), "node = 4: expected a node from 0 to 3"),
        (Crash(node="x", at=1), "node = x"),
        (Crash(node=1, at=-1), "at = -1: expected a finite time >= 0"),
        (Crash(node=1, at=math.nan), "at = nan"),
        (Crash(node=1, at=1, for_=0), "for = 0: expected a positive"),
        (Crash(share=1.5, at=1), "share = 1.5: expected 0 to 1"),
        (Churn(mean_up_s=0, mean_down_s=1), "mean_up_s = 0: expected a positive"),
        (Churn(mean_up_s=1, mean_down_s=math.inf), "mean_down_s = inf"),
        (Churn(mean_up_s=1, mean_down_s=1, share=-1), "share = -1"),
        (Churn(mean_up_s=1, mean_down_s=1, until=-1), "until = -1"),
        (LinkCut(a=1, b=1, at=1), "a = b = 1: expected two different nodes"),
        (LinkCut(a=1, b=9, at=1), "b = 9: expected a node"),
        (Partition(at=1), "neither line nor nodes is given: expected exactly one"),
        (Partition(line=(0, 0, 1, 1), at=1), "expected a network with positions"),
        (Partition(line=(1, 1, 1, 1), at=1), "two different"),
        (Partition(nodes=frozenset({7}), at=1), "nodes = 7"),
    ],
)
def test_bad_values_are_named(fault: Fault, said: str) -> None:
    with pytest.raises(Problem) as caught:
        schedule([LinkCut(a=0, b=1, at=0), fault], 4, 0, SECONDS)
    assert said in str(caught.value)
    assert caught.value.where.startswith("fault 1 (")


def test_bad_runs_are_named() -> None:
    for n, seed, seconds in ((0, 0, 1.0), (2, -1, 1.0), (2, 0, 0.0), (2, 0, math.inf)):
        with pytest.raises(Problem):
            schedule([], n, seed, seconds)
    with pytest.raises(Problem, match="a = 0, b = 2: expected two linked nodes"):
        schedule([LinkCut(a=0, b=2, at=1)], line(3), 0, 1.0)


@given(st.integers(0, 2**32), st.lists(st.floats(0.0, 50.0), max_size=6))
def test_pieces_of_a_schedule_are_the_whole(seed: int, cuts: list[float]) -> None:
    faults = [
        Churn(mean_up_s=4.0, mean_down_s=2.0, until=40.0),
        Churn(mean_up_s=9.0, mean_down_s=0.5, share=0.5),
        Crash(share=0.3, at=10.0, for_=7.0),
        Partition(nodes=frozenset({0, 1}), at=5.0, for_=20.0),
    ]
    whole = schedule(faults, 6, seed, 50.0)
    ends = [0.0, *sorted(cuts), 50.0]
    parts = [schedule(faults, 6, seed, end, begin) for begin, end in pairwise(ends) if end > begin]
    for column in range(4):
        assert np.concatenate([part[column] for part in parts]).tolist() == whole[column].tolist()
