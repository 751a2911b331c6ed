"""The published figures of the failure detectors, in their setting: all nodes are neighbours."""

import math
from statistics import fmean
from typing import Literal

import numpy as np
import pytest

from halfway.protocols.failure_detectors.probe_messages import PING
from halfway.protocols.failure_detectors.reports import SUSPECTED
from halfway.sim.run_settings import Inspection
from halfway.world.faults import Crash, Pause
from halfway.world.graphs.network import Network
from tests.networks import from_links
from tests.protocols.failure_detectors.runs import (
    NETWORKS,
    full,
    run,
    suspicions,
    views,
)
from tests.protocols.worlds import component
from tests.systems import DETECTORS


def interval(values: list[float]) -> tuple[float, float, float]:
    """Mean and ends of its 95 % interval, by the normal distribution."""
    mean, half = np.mean(values), 1.96 * np.std(values, ddof=1) / math.sqrt(len(values))
    return float(mean), float(mean - half), float(mean + half)


def first_detections(n: int, count: int) -> tuple[list[float], list[float]]:
    """Of SWIM without suspicion: the period after a crash in which the first ping to the crashed
    member is sent, and the time until the first member suspects it."""
    periods, times = [], []
    for seed in range(count):
        at = 20.0 + seed / count
        simulation = run(
            "swim", full(n), 32.0, Crash(node=0, at=at), start_s=5.0, seed=seed,
            options={"suspicion_factor": 0.0},
        )  # fmt: skip
        times.append(min(when for when, _, member in suspicions(simulation) if member == 0) - at)
        # Without a suspicion, a ping fails at the end of its period: one period after it was sent.
        periods.append(math.ceil(times[-1] - 1.0))
    return periods, times


@pytest.mark.slow
def test_swim_detects_a_crash_first_after_e_over_e_minus_1_periods() -> None:
    """[SWIM §3.1] Expected periods until some member probes the crashed one: e/(e - 1) = 1.58."""
    periods, times = first_detections(32, 300)
    _, low, high = interval(periods)
    assert low <= math.e / (math.e - 1.0) <= high
    # The ping comes at a random time of its period, and its member ends its own period later.
    assert interval(times)[1] <= 2.0 <= interval(times)[2]


@pytest.mark.one_clock  # the bound is exact
@pytest.mark.parametrize("n", [3, 4, 6, 10])
def test_swim_probes_each_member_within_2n_minus_1_periods(n: int) -> None:
    """[SWIM §4.3] With n members in a list in random order, drawn anew after each round, two probes
    of a member are at most 2n - 1 periods apart. So a crash is detected by then."""
    members = n - 1  # in the list of each
    simulation = run(
        "swim", full(n), 600.0, start_s=5.0, inspection=Inspection(received_records=10**6)
    )  # fmt: skip
    records, rows = simulation.received_records()
    pings = (records["kind"] == PING) & (records["at"] > 10.0)
    source, at, to = records["source"][pings], records["at"][pings], rows[pings]
    gaps = [
        np.diff(np.sort(at[(source == a) & (to == b)])).max()
        for a in range(n) for b in range(n) if a != b
    ]  # fmt: skip
    assert max(gaps) == pytest.approx(2 * members - 1, abs=1e-6)


def reached(n: int, count: int) -> list[float]:
    """Periods from the first suspicion of a crash until nine tenths of the members suspect it.

    Of SWIM without suspicion. Before the crash, the members have sent the news of the start.
    """
    found = []
    for seed in range(count):
        at = 20.0 + 1.5 * n + seed / count
        simulation = run(
            "swim", full(n), at + 25.0, Crash(node=0, at=at), start_s=5.0, seed=seed,
            options={"suspicion_factor": 0.0},
        )  # fmt: skip
        times = sorted(when for when, _, member in suspicions(simulation) if member == 0)
        assert len(times) == n - 1
        found.append(times[math.ceil(0.9 * (n - 1)) - 1] - times[0])
    return found


@pytest.mark.slow
def test_an_update_of_swim_spreads_in_o_of_log_n_periods() -> None:
    """[SWIM §4.1] Each doubling of the members adds about as many periods."""
    means = [fmean(reached(n, count)) for n, count in ((8, 40), (16, 40), (32, 30), (64, 20),
                                                       (128, 10))]  # fmt: skip
    growth = np.diff(means)
    assert (growth > 0.2).all()
    assert (growth < 0.8).all()
    assert means[-1] < 4.5


def about_healthy(system: str, slow: int, for_s: float, awake_s: float, seed: int) -> int:
    """Suspicions of healthy members in 120 s, where some of 64 are slow [Lifeguard §V]."""
    pauses = [
        Pause(node=k, at=20.0, for_=for_s, every_s=for_s + awake_s) for k in range(slow)
    ]  # fmt: skip
    simulation = run(system, full(64), 140.0, *pauses, start_s=20.0, seed=seed)
    reports, _ = simulation.reports()
    return int(((reports["kind"] == SUSPECTED) & (reports["target"] >= slow)).sum())


@pytest.mark.parametrize(
    ("slow", "for_s", "awake_s"),
    [
        pytest.param(4, 2.0, 0.003),
        pytest.param(4, 8.0, 0.003, marks=pytest.mark.slow),
        pytest.param(8, 4.0, 0.003, marks=pytest.mark.slow),
        pytest.param(8, 16.0, 0.001, marks=pytest.mark.slow),
    ],
)
def test_lifeguard_has_an_order_of_magnitude_fewer_false_positives(
    slow: int, for_s: float, awake_s: float
) -> None:
    """[Lifeguard §V] Slow nodes suspect healthy ones, as answers wait at them unread."""
    sums = [
        sum(about_healthy(system, slow, for_s, awake_s, seed) for seed in range(4))
        for system in ("swim", "lifeguard")
    ]
    assert sums[0] > 100
    assert sums[1] <= sums[0] / 10


@pytest.mark.parametrize("system", ["swim", "lifeguard"])
def test_slow_nodes_that_run_for_longer_than_a_round_trip_suspect_no_healthy_member(
    system: str,
) -> None:
    """An answer takes 4 ms. With 3 ms between pauses, the same nodes suspect healthy members."""
    assert about_healthy(system, 8, 8.0, 0.006, seed=0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("system", DETECTORS)
def test_no_suspicion_in_a_million_member_periods_without_a_fault(system: str) -> None:
    members = 0
    seed = 0
    while members < 1_000_000:
        network: Network = list(NETWORKS.values())[seed % len(NETWORKS)]
        simulation = run(system, network, 5_000.0, seed=seed, start_s=0.0)
        assert suspicions(simulation) == []
        members += network.n * 5_000
        seed += 1


def brief_crash(random: np.random.Generator, row: int) -> Crash:
    """A crash of a node that comes back before 100 s, with its memory or without it."""
    memory: Literal["kept", "lost"] = "kept" if random.random() < 0.5 else "lost"
    begin, length = random.uniform(40.0, 70.0), random.uniform(2.0, 30.0)
    return Crash(node=row, at=float(begin), for_=float(length), memory=memory)


def history(system: str, seed: int) -> None:
    """Churn on a random network, and then crashes of some nodes for good, each 60 s after the one
    before: every monitor that is still connected with the crashed member's neighbours suspects it.
    """
    random = np.random.default_rng(seed)
    names = sorted(NETWORKS)
    network = NETWORKS[names[int(random.integers(len(names)))]]
    churn = [brief_crash(random, int(row)) for row in random.permutation(network.n)[: seed % 4]]
    rows = random.permutation(network.n)[: int(random.integers(1, 4))].tolist()
    crashes = [Crash(node=row, at=130.0 + 60.0 * k) for k, row in enumerate(rows)]
    simulation = run(system, network, 190.0 + 60.0 * len(rows), *churn, *crashes, seed=seed)
    found, down = views(simulation), set[int]()
    for row in rows:
        down.add(row)
        for monitor in reachable(network, row, down):
            assert not found[monitor, row], (system, seed, rows, monitor, row)
    for monitor in set(range(network.n)) - down:
        for member in reachable(network, monitor, down):
            assert found[monitor, member], (system, seed, rows, monitor, member)


def reachable(network: Network, row: int, down: set[int]) -> set[int]:
    """The nodes that are up, and connected with a node by nodes that are up, without itself."""
    links = [
        (a, int(b)) for a in range(network.n) for b in network.neighbours(a)
        if not {a, int(b)} & (down - {row})
    ]  # fmt: skip
    return component(from_links(network.n, links), row) - {row} - down


@pytest.mark.parametrize("system", DETECTORS)
def test_every_crash_is_found_in_the_end(system: str) -> None:
    for seed in range(8):
        history(system, seed)


@pytest.mark.slow
@pytest.mark.parametrize("system", DETECTORS)
def test_every_crash_is_found_in_the_end_in_many_histories(system: str) -> None:
    for seed in range(8, 1_000):
        history(system, seed)
