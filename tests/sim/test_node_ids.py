"""Node ids are any numbers of 31 bits: every system on ids that are not rows."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from halfway.core.hello import state as hello_state
from halfway.core.prng import random_states
from halfway.problem import Problem
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.metrics.detections import REPORTS
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn
from halfway.world.workload.groups.monitoring import Monitoring
from tests.networks import disk
from tests.systems import DETECTORS, SPREADING

N, LAST = 16, 2**31 - 1
NETWORK = disk(n=N, radius=0.62, seed=4)
DENSE = disk(n=N, radius=0.85, seed=4)  # for cells whose members hear each other
# Rumor routing brings a subscriber the events of one publisher of a topic, and DRIP sends an event
# to a few brokers: what is delivered depends on choices.
INCOMPLETE = ("rumor-routing", "drip")
# DRIP draws the delay of a flood by node id, so that events arrive in another order. Brokers join a
# tree in an order that is drawn by id. The least member is the root of a topic's walks.
DRAWN_BY_ID = ("drip", "siena", "underlay-siena", "directional-walk", "random-walk")
STEPS_BY_ID = ("walk-probe",)  # the steps of a walk follow from the id of its member
OPTIONS: dict[str, dict[str, Any]] = {
    "drip": {"brokers": 3, "nearest": 1, "copies": 1, "epidemic": True},
    "gossip": {"fanout": -1, "rounds": 2},
    "siena": {"brokers": 5},
    "underlay-siena": {"brokers": 5, "known_brokers": 2},
}


def ascending() -> np.ndarray[Any, Any]:
    """Sparse ids in the order of the rows, the least and the largest among them."""
    drawn = np.random.default_rng(5).choice(LAST - 2, N - 2, replace=False) + 1
    return np.array([0, *np.sort(drawn), LAST])


def shuffled() -> np.ndarray[Any, Any]:
    """The same ids in any order."""
    return np.random.default_rng(6).permutation(ascending())


def drawn_by_row(ids: Any, seed: int) -> Any:
    """The random numbers of nodes, by row."""
    return random_states(np.arange(len(ids), dtype=np.int32), seed)


def run_of(system: str, node_ids: Any, faults: Any = (), seed: int = 2) -> Simulation:
    """A run of a system with hellos; two publishers a topic, on a network without losses.

    Each row draws the times of its hellos as with the ids of rows: the warm-up is over here.
    """
    demand: Any = Monitoring()
    if system not in DETECTORS:
        demand = Drawn(N, 2, 2, 4, events=8, every_s=0.5, start_s=8.0, seed=seed + 1,
                       payload=(40, 9))  # fmt: skip
    network = DENSE if system == "georendezvous" else NETWORK
    with patch.object(hello_state, "random_states", drawn_by_row):
        made = Simulation(
            system, network, workload=demand, seconds=100.0 if system in DETECTORS else 20.0,
            seed=seed, nodes=NodeSettings(ids=node_ids), options=OPTIONS.get(system, {}),
            faults=faults, hello=SentHellos(), inspection=Inspection(received_records=0),
        )  # fmt: skip
    made.deliveries.delivery_log = []
    return made


def same_draws(made: Any, other: Any) -> None:
    """Give the nodes of one state the random numbers of the same rows of another one."""
    for name in made._fields:
        part = getattr(made, name)
        if name == "random_state":
            part[:] = getattr(other, name)
        elif isinstance(part, tuple):
            same_draws(part, getattr(other, name))
        elif "random_state" in (part.dtype.names or ()):
            part["random_state"][:] = getattr(other, name)["random_state"]


def delivered(made: Simulation) -> set[tuple[int, int]]:
    """(event, row) of every delivery, with the run's number of the event."""
    pairs = (zip(event.tolist(), row.tolist(), strict=True) for event, row, _ in log_of(made))
    return {pair for some in pairs for pair in some}


def log_of(made: Simulation) -> Any:
    """The deliveries of a run."""
    return made.deliveries.delivery_log or []


@pytest.mark.parametrize("system", SPREADING)
def test_a_system_does_the_same_on_any_ids(system: str) -> None:
    """Ascending ids change nothing at all, once the random numbers, which ids seed, are the same.
    Shuffled ids change choices and orders, but not what is delivered in the end."""
    plain = run_of(system, None)
    draws = run_of(system, None).state
    expected = plain.run()
    sparse = run_of(system, ascending())
    same_draws(sparse.state, draws)
    found = sparse.run()
    assert delivered(sparse) == delivered(plain)
    if system not in DRAWN_BY_ID:
        same = ("sent", "received", "bytes_sent", "latency_s", "records", "energy_j")
        assert [getattr(found, one) for one in same] == [getattr(expected, one) for one in same]
    mixed = run_of(system, shuffled())
    outcome = mixed.run()
    assert (outcome.duplicates, outcome.unsolicited, outcome.late) == (0, 0, 0)
    if system not in INCOMPLETE:
        assert expected.delivery_ratio == 1.0
        assert delivered(mixed) == delivered(plain)


@pytest.mark.parametrize("system", INCOMPLETE)
def test_a_system_without_full_delivery_delivers_as_much_on_any_ids(system: str) -> None:
    sums = []
    for node_ids in (None, ascending(), shuffled()):
        outcomes = [run_of(system, node_ids, seed=seed).run() for seed in range(20)]
        assert sum(one.duplicates + one.unsolicited for one in outcomes) == 0
        sums.append(sum(one.delivered for one in outcomes))
    assert max(sums) <= 1.1 * min(sums), sums


def reported(made: Simulation) -> list[tuple[float, int, int, bool]]:
    """(time, monitor's row, member's row, whether it is suspected) of all reports, in order."""
    records, rows = made.reports()
    suspected, trusted = (made.instance.kinds.number(name) for name in REPORTS)
    some = (records["kind"] == suspected) | (records["kind"] == trusted)
    members = made.environment.ids.rows_of(records["target"][some])
    assert (members >= 0).all()
    columns = records["at"][some], rows[some], members, records["kind"][some] == suspected
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


CRASHES = [Crash(node=node, at=30.0, for_=40.0) for node in (2, 11)]


@pytest.mark.parametrize("system", DETECTORS)
def test_a_detector_does_the_same_on_any_ids(system: str) -> None:
    """With ascending ids, and the random numbers of the rows, monitors report the same at the same
    times. With any ids, all monitors suspect the crashed members and trust all in the end."""
    plain = run_of(system, None, CRASHES)
    plain.run()
    crashed = set(np.flatnonzero(plain.engine.turns).tolist())
    assert len(crashed) == 2
    pairs = {(row, member) for row in range(N) for member in range(N) if row != member}
    detected = {(row, member) for row, member in pairs if member in crashed and row not in crashed}
    for name, ids in (("plain", None), ("ascending", ascending()), ("shuffled", shuffled())):
        made = run_of(system, ids, CRASHES)
        same_draws(made.state, run_of(system, None, CRASHES).state)
        made.run()
        reports = reported(made)
        suspicions = {(row, member) for _, row, member, suspects in reports if suspects}
        assert suspicions >= detected
        assert len({member for _, member in suspicions - detected} - crashed) <= 2  # mistakes
        in_the_end = {(row, member): suspects for _, row, member, suspects in reports}
        assert in_the_end == dict.fromkeys(pairs, False)
        if (name == "ascending" and system not in STEPS_BY_ID) or system == "heartbeat":
            assert reports == reported(plain)


@pytest.mark.parametrize("system", DETECTORS)
def test_a_detector_is_as_fast_on_any_ids(system: str) -> None:
    """The mean time until all monitors suspect a crashed member, in six runs."""
    times = []
    for node_ids in (None, ascending(), shuffled()):
        runs = [run_of(system, node_ids, CRASHES, seed).run().detection for seed in range(6)]
        times.append(sum(one.all_s for one in runs if one is not None) / len(runs))
    assert max(times) <= 1.15 * min(times), times


def test_faults_find_the_nodes_whatever_their_ids() -> None:
    """A crash of a row, and what its neighbours learn of it, with hellos a second late."""
    crash = [Crash(node=str(row), at=9.1, for_=4.0) for row in (2, 7, 11)]
    for system in ("flooding", "gossip"):
        plain, sparse = run_of(system, None, crash), run_of(system, ascending(), crash)
        if system == "gossip":
            same_draws(sparse.state, run_of(system, None, crash).state)
        assert plain.run().sent == sparse.run().sent
        assert delivered(plain) == delivered(sparse)
        assert plain.outcome().delivery_ratio < 1.0 or plain.outcome().unpublished > 0


@pytest.mark.parametrize(
    ("ids", "what"),
    [
        ([1] * N, "distinct"),
        (list(range(N - 1)), f"{N} distinct ids"),
        ([*range(N - 1), 2**31], "2\\^31 - 1"),
        ([*range(N - 1), -1], "from 0"),
    ],
)
def test_bad_ids_are_refused(ids: list[int], what: str) -> None:
    with pytest.raises(Problem, match=what):
        run_of("flooding", ids)


def test_rows_of_ids_and_of_what_is_no_id() -> None:
    ids = NodeIds(4, [LAST, 7, 0, 9])
    assert ids.rows_of(np.array([0, 9, LAST, 7, -1, 8, 5])).tolist() == [2, 3, 0, 1, -1, -1, -1]
    assert not ids.are_rows
    assert NodeIds(3).are_rows
    assert NodeIds(0).rows_of(np.array([4])).tolist() == [-1]
