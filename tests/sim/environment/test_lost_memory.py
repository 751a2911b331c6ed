"""Nodes that lose their memory: every system delivers all events again after a stated time."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.protocols.hash_table import FORGOTTEN
from halfway.sim.memory import BlankMemory, named_arrays
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn, Crash
from halfway.world.workload.demand import Drawn
from tests.networks import disk, from_links

_BACK_S = 45.0  # all crashed nodes are up again
# The time in s after which each system has healed, and the options that heal it. Rumor routing does
# not heal: a subscriber with an answer sends no more queries, and a node on its path may have lost
# the path.
HEALED_AFTER: dict[str, tuple[float, dict[str, Any]]] = {
    "flooding": (1.0, {}),
    "gossip": (1.0, {"fanout": 6, "rounds": 4}),
    "counter-broadcast": (1.0, {"enough": 1000}),
    "anti-entropy": (1.0, {}),
    "directional-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "random-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "walk-overlay": (40.0, {}),
    "georendezvous": (60.0, {"retries": 2}),
    "drip": (60.0, {}),
    "siena": (60.0, {"brokers": 12}),
    "underlay-siena": (60.0, {"brokers": 12, "known_brokers": 3, "confirm_timeout_s": 0.5}),
}


def _simulation(system: str, memory: Any, seed: int, of: str = "disk") -> Simulation:
    """A run in which 24 of 60 nodes crash and come back, and then heal before any event."""
    after, options = HEALED_AFTER.get(system, (0.0, {}))
    network = disk(60, 0.4, seed=3)
    if of == "hubs":  # two hubs with a bridge
        links = [(0, k) for k in range(2, 31)] + [(1, k) for k in range(31, 60)] + [(0, 1)]
        network = from_links(60, links)
    return Simulation(
        system, network, seconds=_BACK_S + after + 60.0, seed=seed, options=options,
        radio=IdealRadio(delay_s=0.001),
        faults=[Crash(share=0.4, at=40.0, for_=_BACK_S - 40.0, memory=memory)],
        workload=Drawn(
            n=60, topics=3, publishers_each=2, subscribers_each=6, events=20, every_s=1.0,
            start_s=_BACK_S + after, seed=seed,
        ),
    )  # fmt: skip


def _delivered(system: str, memory: Any, seed: int, of: str = "disk") -> tuple[int, int, int]:
    """(expected, delivered, duplicates) of the events that are published after healing."""
    simulation = _simulation(system, memory, seed, of)
    simulation.run()
    counted = simulation.deliveries
    return counted.expected, counted.delivered, counted.duplicates


@pytest.mark.parametrize("system", sorted(set(HEALED_AFTER) - {"drip"}))
def test_a_system_heals_after_nodes_lose_their_memory(system: str) -> None:
    expected, delivered, duplicates = _delivered(system, "lost", 1)
    assert expected >= 100
    assert (delivered, duplicates) == (expected, 0)


def test_drip_delivers_as_much_as_with_kept_memory() -> None:
    # By its design an event goes to a limited number of brokers: not every subscriber gets it.
    kept, lost = (_delivered("drip", memory, 1) for memory in ("kept", "lost"))
    assert lost[0] == kept[0]
    assert lost[1] >= kept[1] > 0
    assert lost[2] == 0


@pytest.mark.parametrize("system", sorted({*HEALED_AFTER, "rumor-routing"}))
def test_each_row_of_a_state_is_the_memory_of_one_node(system: str) -> None:
    """What the nodes lose is the whole state, and no node loses the memory of another one."""
    simulation = _simulation(system, "lost", 1)
    instance = simulation.instance
    for name, array in named_arrays(instance.state):
        lost_by = np.zeros(len(array), np.int64)
        for row in range(simulation.environment.n):
            lost_by[instance.own_rows(instance.state, name, row)] += 1
        assert lost_by.tolist() == [1] * len(array), name


@pytest.mark.parametrize(
    "system", ["flooding", "anti-entropy", "directional-walk", "siena", "underlay-siena"]
)
def test_it_heals_behind_hubs_and_a_bridge_as_well(system: str) -> None:
    expected, delivered, duplicates = _delivered(system, "lost", 2, "hubs")
    assert (delivered, duplicates) == (expected, 0)


def test_records_of_an_earlier_incarnation_do_not_block_reliable_hops() -> None:
    """A node that lost its memory numbers its hops from its incarnation on. Its neighbours accept
    them, as they are of a later incarnation."""
    simulation = Simulation(
        "directional-walk", from_links(3, [(0, 1), (1, 2)]), seconds=200.0, seed=1,
        inspection=Inspection(journal=0),
        options={"refresh_s": 20.0, "retries": 2},
        faults=[Crash(node=1, at=50.0, for_=5.0, memory="lost")],
        workload=Drawn(n=3, events=40, every_s=2.0, start_s=100.0, seed=1),
    )  # fmt: skip
    simulation.run()
    assert simulation.deliveries.delivered == simulation.deliveries.expected == 40
    assert simulation.engine.incarnation.tolist() == [0, 1, 0]


def test_a_restored_row_is_blank_and_draws_other_random_numbers() -> None:
    class State(NamedTuple):
        random_state: Any
        table: Any

    class Whole(NamedTuple):
        inner: State
        seen: Any

    words = np.arange(3, dtype=np.uint64)
    whole = Whole(State(words.copy(), np.zeros((3, 2), np.int32)), np.full(3, -1, np.int32))
    blank = BlankMemory(whole, lambda _state, _name, row: slice(row, row + 1))
    whole.inner.table[:], whole.seen[:] = 7, 8
    blank.restore(1, incarnation=1)
    assert whole.inner.table.tolist() == [[7, 7], [0, 0], [7, 7]]
    assert whole.seen.tolist() == [8, -1, 8]
    first = int(whole.inner.random_state[1])
    blank.restore(1, incarnation=2)
    assert len({first, int(whole.inner.random_state[1]), int(words[1])}) == 3


def test_churn_takes_the_memory_at_each_return() -> None:
    faults = [Churn(mean_up_s=20.0, mean_down_s=2.0, memory="lost")]
    simulation = Simulation(
        "flooding", disk(60, 0.4, seed=3), seconds=100.0, seed=1, faults=faults,
        workload=Drawn(n=60, events=5, seed=1),
    )  # fmt: skip
    simulation.run()
    returns = simulation.engine.turns // 2
    assert returns.sum() > 100
    assert np.array_equal(simulation.engine.incarnation, returns)


@pytest.mark.parametrize("memory", ["kept", "lost"])
def test_the_shortfalls_of_a_run_outlive_the_memory_of_its_nodes(memory: Any) -> None:
    """Each of 60 nodes has forgotten three publishers, and half of the nodes crash."""
    crash = Crash(share=0.5, at=40.0, for_=1.0, memory=memory)
    run = Simulation(
        "flooding", disk(60, 0.4, seed=3), seconds=60.0, faults=[crash],
        workload=Drawn(n=60, events=5, seed=1),
    )  # fmt: skip
    run.instance.state.seen.counts[:, FORGOTTEN] = 3
    assert run.run(50.0).shortfalls == {"forgotten publishers": 180}
    assert run.run().shortfalls == {"forgotten publishers": 180}
