"""Room for what walks have in flight: sized by the roles, the rates and the network."""

import numpy as np
import pytest

from halfway.adapters.interface import RunContext
from halfway.adapters.walks_sizing import places
from halfway.protocols.reliable_hop import ANSWERED, HOP
from halfway.protocols.walks import random_walk
from halfway.protocols.walks.messages import Rules
from halfway.sim.radio.declarations import IdealAir
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line

LOSSY = IdealAir(delay_s=0.005, success=0.8)
CARE = {"retries": 6, "hold": 0}


def walks(network: Network, demand: Drawn | Listed, **options: float) -> Simulation:
    """Random walks with care on a lossy radio."""
    return Simulation(
        "random-walk", network, workload=demand, radio=LOSSY, seconds=20.0, seed=3,
        options={**CARE, **options},
    )  # fmt: skip


def room_of(simulation: Simulation) -> int:
    """Hops with care that a node can have in flight."""
    return int(simulation.instance.state.trace.hops.shape[1])


def crowded(simulation: Simulation) -> int:
    """Hops that went without care, over a whole run."""
    simulation.run()
    return simulation.instance.shortfalls(simulation.instance.state)["hops without care"]


def star(leaves: int) -> Network:
    """Row 0 has everybody else for a neighbour, and they only it."""
    return from_links(leaves + 1, ((0, leaf) for leaf in range(1, leaves + 1)))


WORLDS = {
    "one publisher of many": (disk(n=60, radius=0.25, seed=2), 1),
    "all by way of one": (star(40), 2),
}


@pytest.mark.parametrize("world", WORLDS)
def test_what_the_busiest_node_has_in_flight_finds_room_where_eight_places_did_not(
    world: str,
) -> None:
    network, publishers = WORLDS[world]
    demand = Drawn(
        n=network.n, publishers_each=publishers, subscribers_each=30, events=8, start_s=5.0, seed=2
    )
    sized, before = walks(network, demand), walks(network, demand)
    state = random_walk.state(
        np.arange(network.n, dtype=np.int32), int(network.degree.max()), 30 * publishers, 3,
        slots=8, hold=1,
    )  # fmt: skip
    before.instance = before.instance._replace(state=state)
    assert crowded(before) > 0
    assert crowded(sized) == 0


def test_places_follow_launches_rates_and_patience() -> None:
    network = disk(n=60, radius=0.25, seed=2)

    def room(subscribers: int, every_s: float, **options: float) -> int:
        wishes = [(row, 0) for row in range(1, subscribers + 1)]
        told = [(every_s * k, 0, 0) for k in range(20)]
        return room_of(walks(network, Listed(wishes, told), **options))

    few = room(5, 2.0)
    assert room(25, 2.0) >= few + 2 * 20  # launched at once, and told of an event at once
    assert room(5, 2.0, retries=0) == 0
    assert room(5, 0.1) >= few + 5 * 5  # seven waits of 0.1 s: seven events, not one
    assert room(5, 0.1, patience_s=1.0) >= few + 5 * 19  # all twenty


def test_a_large_network_has_no_more_room_than_memory_allows() -> None:
    """10^5 nodes, one of which has 60,000 subscribers: a gigabyte of tables at the most."""
    n, takers = 100_000, 60_000
    network = line(n)
    pairs = np.column_stack([np.zeros(takers), np.arange(1, takers + 1)]).astype(np.int32)
    demand = Listed([(int(row), 0) for row in pairs[:, 1]], [(1.0, 0, 0)])
    context = RunContext(n, 2, demand, 256, 60.0, 1, network, None)
    rules = Rules((0.01, 0.01), True, 1000, retries=3, patience_s=0.1)
    room = places(context, rules, pairs, {(0, 0): range(takers)})
    assert 100 < room < takers
    assert n * room * (HOP.itemsize + 8 * ANSWERED) <= 1e9


def test_a_publisher_that_alone_wants_its_topic_publishes_for_nobody() -> None:
    """Its letters are not those of the next publisher's first pair."""
    demand = Listed([(0, 0), (5, 1)], [(1.0, 0, 0), (2.0, 7, 1)])
    simulation = walks(disk(n=20, radius=0.45, seed=2), demand)
    commands = simulation._voice.publish_commands(demand.begun_again().take(9.0, 9))
    assert commands.row.tolist() == [7]
