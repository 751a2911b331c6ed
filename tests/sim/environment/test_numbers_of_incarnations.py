"""Numbers after a loss of memory: a node's new numbers are none that other nodes still have."""

from typing import Any

import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.protocols.parts.reliable_hop import ACK
from halfway.protocols.walks.messages import STEP
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links
from tests.systems import HOPPING, SPREADING

NUMBERS = 1 << 16  # of an incarnation
_RING = [(0, 1), (1, 2), (2, 3), (0, 3)]
# Times in s of the losses of memory; the node is back after a second.
LOSSES = pytest.mark.parametrize("losses", [[200.0], [140.0, 200.0]], ids=["once", "twice"])


def _run(
    system: str, seconds: float, demand: Listed, faults: list[Fault], **options: Any
) -> tuple[Simulation, dict[int, float]]:
    """A run on a ring of four nodes, and the time in s when each event arrived first."""
    made = Simulation(
        system, from_links(4, _RING), seconds=seconds, seed=1, options=options, faults=faults,
        workload=demand, radio=IdealRadio(delay_s=0.001), stretch=False, discovery_delay_s=0.0,
    )  # fmt: skip
    made.deliveries.delivery_log = []
    made.advance(seconds - 1.0)
    published = sorted(at for at, _, _ in demand.publications)
    arrived: dict[int, float] = {}
    for events, _, latencies in made.deliveries.delivery_log:
        for event, latency in zip(events.tolist(), latencies.tolist(), strict=True):
            arrived.setdefault(event, published[event] + latency)
    return made, arrived


@LOSSES
def test_nodes_list_the_beacons_of_a_broker_that_lost_its_memory(losses: list[float]) -> None:
    """The subscriber learns the way to its broker from the beacons alone: the other one is cut."""
    start, _ = _run("drip", 10.0, Listed([(0, 0)], [(5.0, 1, 0)]), [], brokers=1, epidemic=True)
    state = start.instance.state
    (broker,) = map(int, np.flatnonzero(state.node.is_broker))
    subscriber = (broker + 2) % 4
    via = int(state.nearest[subscriber, 0].via)
    publisher = 2 * broker + 4 - via  # the other neighbour of the broker
    # An election lasts 2 s, and a broker sends a beacon every 2 s.
    demand = Listed([(subscriber, 0)], [(at, publisher % 4, 0) for at in (195.0, 207.0, 215.0)])
    faults: list[Fault] = [Crash(node=broker, at=at, for_=1.0, memory="lost") for at in losses]
    faults.append(LinkCut(a=subscriber, b=via, at=200.5, for_=300.0))
    _, arrived = _run("drip", 220.0, demand, faults, brokers=1, epidemic=True)
    assert arrived == pytest.approx({0: 195.0, 1: 207.0, 2: 215.0}, abs=0.5)


@LOSSES
def test_answers_take_the_way_of_the_query_after_a_loss_of_memory(losses: list[float]) -> None:
    """Until 160 s, queries of node 0 can reach node 2 over node 1 only, and afterwards over node 3
    only. Two queries remain without an answer."""
    publications = [(at, 2, 0) for at in (40.0, 150.0, 205.0)]
    faults: list[Fault] = [Crash(node=0, at=at, for_=1.0, memory="lost") for at in losses]
    faults += [LinkCut(a=2, b=3, at=0.0, for_=160.0), LinkCut(a=1, b=2, at=160.0, for_=99.0)]
    made, arrived = _run(
        "rumor-routing", 210.0, Listed([(0, 0)], publications), faults,
        query_timeout_s=30.0, agent_probability=0.0,
    )  # fmt: skip
    assert made.engine.incarnation.tolist() == [len(losses), 0, 0, 0]
    assert arrived[1] == pytest.approx(150.0, abs=0.5)
    assert arrived[2] == pytest.approx(205.0, abs=0.5)


def test_a_late_acknowledgement_of_an_earlier_incarnation_completes_no_hop() -> None:
    """A hop takes 0.4 s. Node 0 loses its memory while the acknowledgement of its first step is on
    its way, and the steps of its new walks are lost. The node retransmits all of them."""
    made = Simulation(
        "directional-walk", from_links(2, [(0, 1)]), seconds=10.0, seed=1,
        options={"retries": 2, "ack_timeout_s": 1.0}, workload=Listed([(0, 0)], []),
        faults=[
            Crash(node=0, at=0.5, for_=0.1, memory="lost"), Crash(node=1, at=0.95, for_=0.1),
        ],
        radio=IdealRadio(delay_s=0.4), stretch=False, discovery_delay_s=0.0,
        inspection=Inspection(received_records=1000),
    )  # fmt: skip

    def in_flight() -> set[int]:
        return set(made.state.tables.hops.record.sequence[0].tolist()) - {0}

    made.advance(0.7)
    steps = in_flight()
    made.advance(1.0)
    records, rows = made.received_records()
    late = records[(rows == 0) & (records["kind"] == ACK)]
    assert late["at"] == pytest.approx(0.8, abs=0.02)
    assert in_flight() == steps
    assert steps
    made.advance(2.5)
    records, rows = made.received_records()
    again = records[(rows == 1) & (records["incarnation"] == 1) & (records["kind"] == STEP)]
    assert set(again["sequence"].tolist()) == steps


@pytest.mark.parametrize("system", [name for name in SPREADING if name in HOPPING])
def test_reliable_hops_after_a_loss_of_memory_have_numbers_of_their_own(system: str) -> None:
    """Half of the nodes lose their memory at 30 s. Later hops of these nodes have other numbers."""
    options = {"retries": 2} | ({"brokers": 8} if "brokers" in TABLE[system].options else {})
    made = Simulation(
        system, disk(30, 0.7, seed=3), seconds=90.0, seed=1, options=options, stretch=False,
        workload=Drawn(n=30, topics=2, publishers_each=3, subscribers_each=5, events=10, seed=1),
        faults=[Crash(share=0.5, at=30.0, for_=1.0, memory="lost")],
        radio=IdealRadio(delay_s=0.001), inspection=Inspection(received_records=1 << 20),
    )  # fmt: skip
    made.run()
    records, _ = made.received_records()
    hops = records[(records["sequence"] > 0) & (records["kind"] != ACK)]
    after = hops["incarnation"] > 0
    assert hops["sequence"][~after].max() < NUMBERS
    assert after.any()
    assert hops["sequence"][after].min() > NUMBERS
