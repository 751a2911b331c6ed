"""Events through trees with queues: against a simulator in plain Python, and arithmetic."""

import heapq
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.bulk.broker_trees.broker_overlay import Overlay, Rules
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.load import BALANCES, loads, passage
from halfway.bulk.broker_trees.queues import ROUTES, UP, QueuedPaths, queued_paths, stress
from halfway.core.filters import match_matrix
from halfway.problem import Problem
from halfway.world.underlays.underlay import Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.content import Content, content
from tests.networks import from_links

BITS = 400.0


def grown(seed: int, brokers: int = 12, n: int = 60) -> Overlay:
    """Brokers that joined on random nodes of a small Waxman network."""
    overlay = Overlay(waxman(Waxman(n=n, side=100), seed), Rules())
    for row in np.random.default_rng(seed).choice(n, brokers, replace=False):
        join(overlay, int(row))
    return overlay


class SlowTree:
    """A simulator with one object a message in one list; nothing is precomputed."""

    def __init__(self, paths: QueuedPaths, drawn: Content, balance: str, window: float) -> None:
        self.paths, self.drawn, self.balance, self.window = paths, drawn, balance, window
        self.free = [0.0] * len(paths.service_s)
        self.uses = [0] * len(paths.unloaded_s)
        self.turns: dict[int, int] = {}
        self.latencies: list[float] = []
        self.due: list[tuple[float, int, int, list[int], int, int]] = []
        self.order = itertools.count()

    def queues(self, route: int) -> list[int]:
        """The queues of a route."""
        return self.paths.queue[self.paths.first[route] : self.paths.first[route + 1]].tolist()

    def wants(self, event: int, broker: int) -> bool:
        """Whether any client at a broker or below wants an event."""
        children = np.flatnonzero(self.paths.parent == broker)
        return bool(self.drawn.wanted[event, broker]) or any(self.wants(event, c) for c in children)

    def chosen(self, broker: int, direction: int, now: float) -> int:
        """The route that a balance picks."""
        one, two = ROUTES * broker + direction, ROUTES * broker + 2 + direction
        if self.balance == "direct" or not self.queues(two):
            return one
        if self.balance == "halves":
            self.turns[one] = self.turns.get(one, 0) + 1
            return one if self.turns[one] % 2 else two
        cost = [max(self.free[self.queues(path)[0]] - now, 0.0) for path in (one, two)]
        if self.balance == "earliest":
            cost = [c + self.paths.unloaded_s[w] for c, w in zip(cost, (one, two), strict=True)]
        return two if cost[1] < cost[0] else one

    def send(self, now: float, event: int, path: int, to: int, source: int) -> None:
        """Enter the first queue."""
        self.uses[path] += 1
        self.enqueue(now, event, self.queues(path), to, source)

    def enqueue(self, now: float, event: int, left: list[int], to: int, source: int) -> None:
        """Leave a queue after service and travel."""
        q = left[0]
        self.free[q] = max(now, self.free[q]) + self.paths.service_s[q]
        out = self.free[q] + self.paths.delay_s[q]
        heapq.heappush(self.due, (out, next(self.order), event, left[1:], to, source))

    def arrive(self, now: float, event: int, here: int, source: int) -> None:
        """Notify clients, then the parent, then children."""
        begun = float(self.drawn.at[event] * self.window)
        self.latencies += [now - begun] * int(self.drawn.wanted[event, here])
        parent = int(self.paths.parent[here])
        if parent >= 0 and parent != source:
            self.send(now, event, self.chosen(here, UP, now), parent, here)
        for child in np.flatnonzero(self.paths.parent == here).tolist():
            if child != source and self.wants(event, child):
                self.send(now, event, self.chosen(child, 1 - UP, now), child, here)

    def run(self) -> None:
        """Run all events."""
        for event, at in enumerate(self.drawn.at):
            self.until(float(at * self.window))
            self.arrive(float(at * self.window), event, int(self.drawn.publisher[event]), -1)
        self.until(np.inf)

    def until(self, moment: float) -> None:
        """Handle all that is due before."""
        while self.due and self.due[0][0] < moment:
            now, _, event, left, to, source = heapq.heappop(self.due)
            if left:
                self.enqueue(now, event, left, to, source)
            else:
                self.arrive(now, event, to, source)


@settings(max_examples=30)
@given(
    st.integers(0, 50),
    st.sampled_from(BALANCES),
    st.sampled_from(["overlay", "underlay"]),
    st.sampled_from(["selective", "all"]),
    st.sampled_from([1e-4, 1e-2, 10.0]),
)
def test_passages_equal_those_of_the_slow_simulator(
    seed: int, balance: str, queueing: str, interest: str, window: float
) -> None:
    """[uas §5, Figures 6 to 8] The latency, and the uses of links, of each rule of balance."""
    overlay = grown(seed)
    drawn = content(12, 60, 40, interest, seed)  # type: ignore[arg-type]
    paths = queued_paths(overlay, aware=balance != "direct", queueing=queueing, message_bits=BITS)  # type: ignore[arg-type]
    fast = passage(paths, drawn, balance, window)  # type: ignore[arg-type]
    slow = SlowTree(paths, drawn, balance, window)
    slow.run()
    assert fast.notifications == len(slow.latencies) == drawn.wanted.sum()
    assert fast.uses.tolist() == slow.uses
    if slow.latencies:
        assert fast.latency_s == pytest.approx(float(np.mean(slow.latencies)), rel=1e-12)


def star() -> Overlay:
    """A root with two brokers on a ring of six equal links of 1 ms and 1 Mb/s."""
    network = from_links(6, [(i, (i + 1) % 6) for i in range(6)])
    underlay = Underlay(network, np.full(12, 1e-3), np.full(12, 1e6))
    overlay = Overlay(underlay, Rules())
    for row in (0, 2, 4):
        join(overlay, row)
    return overlay


def wanted_by_all(at: list[float], publisher: int) -> Content:
    """One client at each of three brokers, interested in all events."""
    drawn = content(3, 3, len(at), "all", 1)
    wanted = np.ones((len(at), 3), np.int64)
    return drawn._replace(at=np.array(at), wanted=wanted, publisher=np.full(len(at), publisher))


def test_the_latency_of_one_event_is_arithmetic() -> None:
    paths = queued_paths(star(), aware=False, queueing="overlay", message_bits=BITS)
    found = passage(paths, wanted_by_all([0.5], 0), "direct", 1.0)
    assert found.notifications == 3
    # Two links of 1 ms and one service of 0.4 ms to each of two brokers, nothing to the root's own.
    assert found.latency_s == pytest.approx((0.0 + 2.4e-3 + 2.4e-3) / 3)
    hop_by_hop = queued_paths(star(), aware=False, queueing="underlay", message_bits=BITS)
    slower = passage(hop_by_hop, wanted_by_all([0.5], 0), "direct", 1.0)
    assert slower.latency_s == pytest.approx((0.0 + 2.8e-3 + 2.8e-3) / 3)


def test_a_second_event_waits_for_the_first_or_takes_the_second_path() -> None:
    """[uas §5] "distributed among the two different paths": one event on each."""
    both = wanted_by_all([0.0, 0.0], 0)
    waiting = passage(
        queued_paths(star(), aware=False, queueing="overlay", message_bits=BITS),
        both,
        "direct",
        1.0,
    )
    assert waiting.latency_s == pytest.approx((2 * 2.4e-3 + 2 * 2.8e-3) / 6)
    round_about = passage(
        queued_paths(star(), aware=True, queueing="overlay", message_bits=BITS), both, "halves", 1.0
    )
    assert round_about.uses.sum() == 4
    assert round_about.uses.reshape(3, 4)[1:, 1].tolist() == [1, 1]  # down, direct
    assert round_about.uses.reshape(3, 4)[1:, 3].tolist() == [1, 1]  # down, second


def test_loads_are_messages_times_their_size_over_all_links() -> None:
    overlay = star()
    paths = queued_paths(overlay, aware=False, queueing="overlay", message_bits=BITS)
    found = passage(paths, wanted_by_all([0.1, 0.2, 0.3, 0.4], 0), "direct", 1.0)
    plain = loads(found, stress(overlay, aware=False), 50.0)
    assert plain.overlay_mean == pytest.approx(4 * 50 / 1000)
    assert plain.overlay_deviation == 0.0
    assert plain.used_mean == pytest.approx(0.2)
    assert plain.all_mean == pytest.approx(0.2 * 4 / 6)
    aware = stress(overlay, aware=True)
    # Two links to the root; the first broker's second path is bare, the other's leads by the first.
    assert aware.links == 4
    assert aware.used_wires == 6


def test_halves_never_beat_the_direct_path_where_nothing_waits() -> None:
    """[uas §5] the alternate path is longer, so that strict halves cost latency without queues."""
    overlay = grown(3, 25, 200)
    drawn = content(25, 100, 60, "selective", 3)
    latency_s = {
        balance: passage(
            queued_paths(overlay, aware=balance != "direct", queueing="overlay", message_bits=BITS),
            drawn,
            balance,
            1000.0,
        ).latency_s
        for balance in ("direct", "halves", "earliest")
    }
    assert latency_s["halves"] > latency_s["direct"]
    assert latency_s["earliest"] <= latency_s["direct"]


@pytest.mark.parametrize(
    ("balance", "window", "message"),
    [("thirds", 1.0, "balance = 'thirds'"), ("direct", 0.0, "window_s = 0.0")],
)
def test_unknown_balances_and_windows_are_refused(
    balance: str, window: float, message: str
) -> None:
    paths = queued_paths(star(), aware=False, queueing="overlay", message_bits=BITS)
    with pytest.raises(Problem, match=message):
        passage(paths, wanted_by_all([0.0], 0), balance, window)  # type: ignore[arg-type]


def test_a_workload_counts_the_clients_whose_filter_matches() -> None:
    drawn = content(7, 90, 50, "selective", 5)
    matched = match_matrix(drawn.filters, drawn.values)
    for event, broker in itertools.product(range(50), range(7)):
        assert drawn.wanted[event, broker] == (matched[event] & (drawn.home == broker)).sum()
    assert (np.diff(drawn.at) >= 0).all()


def test_selective_clients_want_about_one_event_in_a_hundred() -> None:
    drawn = content(10, 1000, 2000, "selective", 6)
    assert drawn.wanted.sum() / (1000 * 2000) == pytest.approx(0.01, rel=0.1)
    assert (content(10, 50, 20, "all", 6).wanted.sum(axis=1) == 50).all()
