"""Nodes that lose their memory: every system delivers all events again after a stated time."""

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.protocols.parts.hash_table import FORGOTTEN
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.environment.memory import BlankMemory, named_arrays
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn, Crash
from halfway.world.workload.demand import Drawn
from tests.adapters.test_what_a_node_is_given import PAGE
from tests.networks import disk, from_links
from tests.systems import SIMPLE, SPREADING, without

_BACK_S = 45.0  # all crashed nodes are up again
_SEEDS = range(1, 6)
_TAIL_S = 60.0  # from the first event to the end of a run
_SLOW_TAIL_S = 200.0  # anti-entropy: a hub exchanges with one of its 30 neighbours in a round
# The time in s after which each system has healed, and the options that heal it, as in
# docs/models/nodes.md.
HEALED_AFTER: dict[str, tuple[float, dict[str, Any]]] = dict.fromkeys(SIMPLE, (1.0, {})) | {
    "gossip": (1.0, {"fanout": 6, "rounds": 4}),
    "counter-broadcast": (1.0, {"enough": 1000}),
    "directional-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "random-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "walk-overlay": (40.0, {}),
    "georendezvous": (60.0, {"retries": 2}),
    "drip": (60.0, {}),
    "rumor-routing": (10.0, {}),
    "siena": (60.0, {"brokers": 12}),
    "underlay-siena": (60.0, {"brokers": 12, "known_brokers": 3, "confirm_timeout_s": 0.5}),
}
# The systems by whose design not every subscriber gets an event, and why.
NOT_TO_ALL = {
    "drip": "an event goes to a few brokers",
    "rumor-routing": "a query ends after ten steps",
}
HEALING = without(SPREADING, NOT_TO_ALL)
NOT_BEHIND_A_BRIDGE = {
    "georendezvous": "it needs positions",
    "gossip": "pushes end after some rounds, and few cross the bridge",
}


def _simulation(system: str, memory: Any, seed: int, of: str = "disk") -> Simulation:
    """A run in which 24 of 60 nodes crash, and heal before any event; they send hellos."""
    after, options = HEALED_AFTER[system]
    tail = _SLOW_TAIL_S if (system, of) == ("anti-entropy", "hubs") else _TAIL_S
    network = disk(60, 0.4, seed=3)
    if of == "hubs":  # two hubs with a bridge
        links = [(0, k) for k in range(2, 31)] + [(1, k) for k in range(31, 60)] + [(0, 1)]
        network = from_links(60, links)
    return Simulation(
        system, network, seconds=_BACK_S + after + tail, seed=seed, options=options,
        radio=IdealRadio(delay_s=0.001), hello=SentHellos(),
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


def _all_delivered(system: str, of: str) -> None:
    for seed in _SEEDS:
        expected, delivered, duplicates = _delivered(system, "lost", seed, of)
        assert expected >= 100
        assert (delivered, duplicates) == (expected, 0), seed


@pytest.mark.parametrize("system", HEALING)
@pytest.mark.long
def test_a_system_heals_after_nodes_lose_their_memory(system: str) -> None:
    _all_delivered(system, "disk")


@pytest.mark.parametrize("system", without(HEALING, NOT_BEHIND_A_BRIDGE))
def test_it_heals_behind_hubs_and_a_bridge_as_well(system: str) -> None:
    _all_delivered(system, "hubs")


def test_the_page_states_these_times_and_options() -> None:
    section = PAGE.read_text("utf-8").split("## After lost memory")[1].split("\n## ")[0]
    stated = {
        system: (float(seconds), text)
        for names, seconds, text in re.findall(r"^\| (`.+?) \| (\d+) \| (.+) \|$", section, re.M)
        for system in re.findall(r"`([a-z-]+)`", names)
    }
    assert set(stated) == set(HEALED_AFTER)
    for system, (seconds, text) in stated.items():
        after, options = HEALED_AFTER[system]
        assert seconds == after
        for name, value in options.items():
            assert f"`{name} = {value:g}`" in text


@pytest.mark.parametrize("system", NOT_TO_ALL)
@pytest.mark.long
def test_a_system_without_full_delivery_delivers_as_much_as_with_kept_memory(system: str) -> None:
    runs = {
        memory: np.array([_delivered(system, memory, seed) for seed in range(1, 21)]).sum(axis=0)
        for memory in ("kept", "lost")
    }
    assert runs["lost"][0] == runs["kept"][0]
    assert runs["lost"][1] >= 0.95 * runs["kept"][1] > 0
    assert runs["lost"][2] == 0


def test_drip_has_no_more_brokers_after_nodes_lose_their_memory() -> None:
    """A node that ignores beacons, because it knows no neighbours yet, prolongs its election."""
    simulation = _simulation("drip", "lost", 1)
    simulation.run()
    assert 0 < simulation.instance.state.node["is_broker"].sum() <= 20  # the option `brokers`


@pytest.mark.parametrize("system", ["directional-walk", "random-walk"])
def test_walks_that_are_launched_once_do_not_heal(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the paper prints it, a member launches its walk once: its trails are lost with the memory
    of the nodes that they pass."""
    monkeypatch.setitem(HEALED_AFTER, system, (40.0, {"retries": 2}))
    for memory, most in (("kept", 1.0), ("lost", 0.9)):
        expected, delivered, _ = _delivered(system, memory, 1)
        assert delivered <= most * expected
        assert memory == "lost" or delivered == expected


@pytest.mark.parametrize("system", SPREADING)
def test_each_row_of_a_state_is_the_memory_of_one_node(system: str) -> None:
    """What the nodes lose is the whole state, and no node loses the memory of another one."""
    simulation = _simulation(system, "lost", 1)
    instance = simulation.instance
    for name, array in named_arrays(instance.state):
        lost_by = np.zeros(len(array), np.int64)
        for row in range(simulation.environment.n):
            lost_by[instance.own_rows(instance.state, name, row)] += 1
        assert lost_by.tolist() == [1] * len(array), name


def test_records_of_an_earlier_incarnation_do_not_block_reliable_hops() -> None:
    """A node that lost its memory numbers its hops from its incarnation on. Its neighbours accept
    them, as they are of a later incarnation."""
    simulation = Simulation(
        "directional-walk", from_links(3, [(0, 1), (1, 2)]), seconds=200.0, seed=1,
        inspection=Inspection(received_records=0),
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
    blank.clear(1, incarnation=1)
    assert whole.inner.table.tolist() == [[7, 7], [0, 0], [7, 7]]
    assert whole.seen.tolist() == [8, -1, 8]
    first = int(whole.inner.random_state[1])
    blank.clear(1, incarnation=2)
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
