"""Nodes that learn their neighbours from hellos: costs, radios, crashes, motion, memory, clocks."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.adapters.interface import NeighbourKnowledge, System, UnsizedAdapter
from halfway.adapters.registry import TABLE
from halfway.core.hello.messages import HELLO_KIND, HELLO_NAME
from halfway.core.kinds import Kinds
from halfway.core.options import Value
from halfway.problem import Problem
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio, Radio, WiredRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Legs
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line, star
from tests.sim.trace.rerun import rerun

HELLOS = SentHellos()
HOPS = {name: TABLE[name].adapter_with({}).neighbour_knowledge().hops for name in TABLE}
BRIDGE = from_links(8, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6), (6, 7)])


class Listening(UnsizedAdapter):
    """Flooding whose nodes also learn their neighbours."""

    def neighbour_knowledge(self) -> NeighbourKnowledge:
        return NeighbourKnowledge(2, positions=True)


LISTENING = System("flooding", "halfway.protocols.flooding", Listening)


def known(run: Simulation) -> list[list[int]]:
    """Each node's neighbours now, as it knows them; their ids are rows."""
    lists, n = run.neighbours.neighbourhood, run.environment.n
    return [lists.who[lists.first[i] : lists.last[i]].tolist() for i in range(n)]


def linked(network: Network) -> list[list[int]]:
    return [network.neighbours(i).tolist() for i in range(network.n)]


def hellos_in(system: str | System, network: Network | None, **more: Any) -> Simulation:
    """A run with hellos and one event every second."""
    n = network.n if network is not None else more["motion"].n
    settings: dict[str, Any] = {"hello": HELLOS, "seconds": 12.0, "seed": 3}
    settings["inspection"] = Inspection(check=True)
    demand = Drawn(n, subscribers_each=min(n - 1, 5), events=8, seed=2)
    return Simulation(system, network, **(settings | {"workload": demand} | more))


@pytest.mark.parametrize(
    "radio", [IdealRadio(), WiredRadio(delay_s=0.002, bandwidth=1e6), CsmaRadio(success=0.95)]
)
@pytest.mark.parametrize("network", [line(6), BRIDGE, star(25), disk(60, 0.25, seed=4)])
def test_nodes_learn_the_links_of_any_network_over_any_radio(
    network: Network, radio: Radio
) -> None:
    run = hellos_in(LISTENING, network, radio=radio)
    truth = linked(network)
    run.advance()
    assert all(set(some) <= set(right) for some, right in zip(known(run), truth, strict=True))
    links = sum(map(len, truth))
    assert sum(map(len, known(run))) >= (0.95 if isinstance(radio, CsmaRadio) else 1.0) * links
    assert run.engine.checks.refused.sum() == 0


def test_the_lists_have_settled_at_time_0_and_include_those_of_neighbours() -> None:
    network = disk(60, 0.25, seed=4)
    run = hellos_in("directional-walk", network)
    assert known(run) == linked(network)
    lists = run.neighbours.neighbourhood
    for row in range(network.n):
        for place in range(int(lists.first[row]), int(lists.last[row])):
            there = int(lists.place[place])
            reported = lists.who[lists.first[there] : lists.last[there]].tolist()
            assert reported == network.neighbours(int(lists.who[place])).tolist()
    assert run.engine.counters.traffic.sum() == 0


def test_neighbours_know_positions_where_the_network_has_them() -> None:
    network = disk(40, 0.3, seed=4)
    assert network.position is not None
    lists = hellos_in(LISTENING, network).neighbours.neighbourhood
    place = int(lists.first[7])
    reported = lists.place[place], int(lists.who[place])
    assert lists.x[reported[0]] == network.position[reported[1], 0]
    assert lists.y[reported[0]] == network.position[reported[1], 1]
    assert (lists.x[:40] == network.position[:, 0]).all()


def test_hellos_change_no_delivery_of_flooding_and_every_cost_includes_them() -> None:
    network = disk(60, 0.25, seed=4)
    given, sent = (hellos_in(LISTENING, network, hello=one).run() for one in (None, HELLOS))
    for same in ("delivered", "expected", "latency_s", "hops", "stretch", "duplicates"):
        assert getattr(sent, same) == getattr(given, same)
    hellos, size = sent.sent[HELLO_NAME], sent.kind_bytes[HELLO_NAME]
    assert sent.sent == {**given.sent, HELLO_NAME: hellos}
    assert sent.kind_bytes == {**given.kind_bytes, HELLO_NAME: size}
    assert sent.bytes_sent == given.bytes_sent + size == sum(sent.kind_bytes.values())
    assert sent.energy_tx_j > given.energy_tx_j
    assert sent.energy_rx_j > given.energy_rx_j
    assert sent.load.mean > given.load.mean
    assert sent.sent_per_notification > given.sent_per_notification
    # A node sends one hello a second, in one record where it hears at most twelve nodes.
    assert hellos == pytest.approx(60 * 12.0, rel=0.2)


@pytest.mark.parametrize("system", [name for name, hops in HOPS.items() if hops == 0])
def test_a_system_that_reads_no_neighbour_list_sends_no_hello(system: str) -> None:
    network = disk(50, 0.5, seed=4)
    given, sent = (hellos_in(system, network, hello=one).run() for one in (None, HELLOS))
    assert HELLO_NAME not in sent.sent
    assert sent.to_dict() == given.to_dict()


def test_a_hub_with_more_neighbours_than_places_counts_them() -> None:
    outcome = (run := hellos_in("gossip", star(40), hello=SentHellos(limit=8))).run()
    assert len(known(run)[0]) == 8
    assert sum(map(len, known(run)[1:])) == 8, "a leaf counts a link that the hub does not"
    assert outcome.shortfalls["forgotten neighbours"] > 0
    whole = hellos_in("gossip", star(40)).run()
    assert "forgotten neighbours" not in whole.shortfalls
    # A node keeps 64 entries of a list that a neighbour reports.
    larger = hellos_in("directional-walk", star(70)).run()
    assert larger.shortfalls["forgotten neighbours of neighbours"] > 0


@pytest.mark.one_clock  # the first event is published when the subscriptions begin
@pytest.mark.parametrize("system", ["directional-walk", "random-walk", "walk-overlay"])
def test_a_hub_of_an_as_graph_is_a_neighbour_of_all_its_leaves_at_time_0(system: str) -> None:
    """Its hello takes more records, so that its list is complete after the warm-up."""
    run = hellos_in(system, star(700), inspection=Inspection(), seconds=30.0)
    run.run(1e-9)
    assert known(run) == linked(star(700))
    outcome = run.run()
    assert outcome.delivered == outcome.expected > 0
    assert "forgotten neighbours" not in outcome.shortfalls


def test_crashed_nodes_and_cut_links_are_forgotten_and_learnt_again() -> None:
    faults = [Crash(node=2, at=1.0, for_=9.0), LinkCut(a=4, b=5, at=1.0, for_=9.0)]
    run = hellos_in("gossip", line(6), faults=faults, seconds=20.0)
    run.advance(5.5)
    assert known(run) == linked(line(6))
    run.advance(9.9)
    assert known(run)[1] == [0]
    assert (known(run)[4], known(run)[5]) == ([3], [])
    run.advance()
    assert known(run) == linked(line(6))


def test_a_node_that_loses_its_memory_learns_its_neighbours_again() -> None:
    run = hellos_in("gossip", line(4), seconds=12.0, faults=[
        Crash(node=1, at=2.0, for_=1.0, memory="lost")
    ])  # fmt: skip
    run.advance(3.05)
    assert known(run)[1] == []
    run.advance(5.0)
    assert 1 not in known(run)[0], "a neighbour noticed the new incarnation"
    run.advance()
    assert known(run) == linked(line(4))


def test_moving_nodes_learn_their_neighbours() -> None:
    # Node 2 moves from beside node 0 to beside node 1 within 4 s, and stays there.
    legs = Legs(
        np.array([0, 1, 2, 3]), np.zeros(3), np.full(3, 4.0),
        np.array([0.0, 100.0, 1.0]), np.zeros(3), np.array([0.0, 100.0, 99.0]), np.zeros(3),
    )  # fmt: skip
    run = hellos_in("gossip", None, motion=Motion(legs, 10.0), seconds=16.0)
    assert known(run) == [[2], [], [0]]
    run.advance()
    assert known(run) == [[], [2], [1]]


@pytest.mark.parametrize("system", ["gossip", "directional-walk"])
def test_a_shifted_clock_changes_no_record(system: str) -> None:
    def records(offset_s: float) -> bytes:
        clock = ClockErrors(offset_s=offset_s)
        run = hellos_in(
            system,
            BRIDGE,
            nodes=NodeSettings(clock=clock),
            seconds=6.0,
            inspection=Inspection(received_records=100_000, check=True),
        )
        run.run()
        received, rows = run.received_records()
        assert (received["kind"] == HELLO_KIND).any()
        return received.tobytes() + rows.tobytes()

    assert records(0.0) == records(1e6)


def test_hellos_in_a_trace_are_all_that_a_rerun_needs(tmp_path: Path) -> None:
    file, faults = tmp_path / "run.parquet", [Crash(node=3, at=2.0, for_=4.0)]

    def run(trace: Path | None) -> Simulation:
        return hellos_in(
            "directional-walk",
            BRIDGE,
            faults=faults,
            inspection=Inspection(trace=trace, check=True),
        )

    run(file).run()
    again = run(None)
    parts = again.run_id, again.environment, again.instance, again.engine.clocks
    assert rerun(file, *parts, again.neighbours)


def test_pieces_and_node_ids_make_the_same_run() -> None:
    whole, piecewise = (hellos_in("gossip", BRIDGE) for _ in range(2))
    for until in (0.3, 1.0, 5.77):
        piecewise.run(until)
    assert piecewise.run() == whole.run()
    ids = np.random.default_rng(1).permutation(2**31 - 1 - np.arange(8))
    named = hellos_in("gossip", BRIDGE, nodes=NodeSettings(ids=ids))
    named.run()
    rows = [sorted(int(np.flatnonzero(ids == one)[0]) for one in some) for some in known(named)]
    assert rows == linked(BRIDGE)


@pytest.mark.parametrize("system", sorted(HOPS))
def test_what_a_system_reads_of_its_neighbourhood_is_what_it_declares(system: str) -> None:
    network = disk(50, 0.5, seed=4)
    hops = HOPS[system]

    def outcome(blind: bool) -> Outcome:
        run = hellos_in(system, network, hello=None)
        lists = run.environment.neighbourhood
        lists = lists._replace(last=lists.last.copy(), place=lists.place.copy())
        if blind and hops == 0:
            lists.last[:] = lists.first
        if blind and hops < 2:
            lists.place[:] = -1
        run.environment.neighbourhood = lists
        return run.run()

    assert outcome(blind=True).to_dict() == outcome(blind=False).to_dict()


class Taken(UnsizedAdapter):
    """A protocol with a kind of its own that has the number of hellos."""

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)

    def neighbour_knowledge(self) -> NeighbourKnowledge:
        return NeighbourKnowledge(1, positions=False)

    def instance(self, context: Any) -> Any:
        of, kinds = super().instance(context), Kinds()
        kinds.include(of.kinds)
        kinds.network(HELLO_KIND, "mine", "a kind of its own")
        return of._replace(kinds=kinds)


def test_what_does_not_fit_is_refused() -> None:
    for sent, what in (
        (SentHellos(period_s=0.0), "hello_period_s = 0"),
        (SentHellos(period_s=np.inf), "hello_period_s = inf"),
        (SentHellos(limit=0), "hello_neighbours = 0"),
    ):
        with pytest.raises(Problem, match=what):
            hellos_in("gossip", line(3), hello=sent)
    with pytest.raises(Problem, match=r"kind 251 .*from 0 to 249"):
        hellos_in(System("mine", "halfway.protocols.flooding", Taken), line(3))


def test_an_isolated_node_knows_no_neighbour() -> None:
    demand = Listed([(0, 0)], [(1.0, 1, 0)])
    run = hellos_in("gossip", from_links(3, [(0, 1)]), workload=demand)
    assert run.run().delivered == 1
    assert known(run) == [[1], [0], []]
