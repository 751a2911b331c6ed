"""Node ids are any numbers of 31 bits: every system on ids that are not rows."""

from typing import Any

import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.problem import Problem
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.run_settings import NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn
from tests.networks import disk

N, LAST = 16, 2**31 - 1
NETWORK = disk(n=N, radius=0.62, seed=4)
DENSE = disk(n=N, radius=0.85, seed=4)  # for cells whose members hear each other
# Rumor routing brings a subscriber the events of one publisher of a topic, and DRIP sends an event
# to a few brokers: what is delivered depends on choices.
INCOMPLETE = ("rumor-routing", "drip")
# DRIP draws the delay of a flood by node id, so that events arrive in another order. Brokers join a
# tree in an order that is drawn by id. The least member is the root of a topic's walks.
DRAWN_BY_ID = ("drip", "siena", "underlay-siena", "directional-walk", "random-walk")
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


def run_of(system: str, node_ids: Any, faults: Any = ()) -> Simulation:
    """A run of a system; two publishers a topic, on a network without losses."""
    demand = Drawn(N, 2, 2, 4, events=8, every_s=0.5, start_s=8.0, seed=3, payload=(40, 9))
    network = DENSE if system == "georendezvous" else NETWORK
    made = Simulation(
        system, network, workload=demand, seconds=20.0, seed=2, nodes=NodeSettings(ids=node_ids),
        options=OPTIONS.get(system, {}), faults=faults,
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


@pytest.mark.parametrize(
    "system", [name for name in TABLE if not TABLE[name].adapter.detects_failures]
)
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
    if system in INCOMPLETE:
        assert outcome.delivered > 0
    else:
        assert expected.delivery_ratio == 1.0
        assert delivered(mixed) == delivered(plain)


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
    assert ids.rows(np.array([0, 9, LAST, 7, -1, 8, 5])).tolist() == [2, 3, 0, 1, -1, -1, -1]
    assert not ids.are_rows
    assert NodeIds(3).are_rows
    assert NodeIds(0).rows(np.array([4])).tolist() == [-1]
