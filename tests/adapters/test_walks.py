"""The adapter of the walks: tables of hops sized by roles, rates and the network."""

import numpy as np
import pytest

from halfway.adapters.interface import RunContext
from halfway.adapters.walks import HOP_BYTES, places
from halfway.protocols.walks import random_walk
from halfway.protocols.walks.messages import Rules
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line

LOSSY = IdealRadio(delay_s=0.005, success=0.8)
RELIABLE = {"retries": 6, "buffer_size": 0}


def walks(network: Network, demand: Drawn | Listed, **options: float) -> Simulation:
    """Random walks with retries on a lossy radio."""
    return Simulation(
        "random-walk", network, workload=demand, radio=LOSSY, seconds=20.0, seed=3,
        options={**RELIABLE, **options},
    )  # fmt: skip


def places_of(simulation: Simulation) -> int:
    """Hops that a node can track at a time."""
    return int(simulation.instance.state.trails.hops.record.shape[1])


def unacknowledged(simulation: Simulation) -> int:
    """Hops that were not acknowledged, over a whole run."""
    simulation.run()
    return simulation.instance.shortfalls(simulation.instance.state)["unacknowledged hops"]


def star(leaves: int) -> Network:
    """A star: row 0 is linked to all other rows."""
    return from_links(leaves + 1, ((0, leaf) for leaf in range(1, leaves + 1)))


WORLDS = {
    "one publisher of many": (disk(n=60, radius=0.25, seed=2), 1),
    "all by way of one": (star(40), 2),
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_most_loaded_node_has_a_place_for_every_hop_unlike_with_eight_places(
    world: str,
) -> None:
    network, publishers = WORLDS[world]
    demand = Drawn(
        n=network.n, publishers_each=publishers, subscribers_each=30, events=8, start_s=5.0, seed=2
    )
    sized, before = walks(network, demand), walks(network, demand)
    state = random_walk.state(
        np.arange(network.n, dtype=np.int32), int(network.degree.max()), 30 * publishers, 3,
        places=8, buffer_size=1,
    )  # fmt: skip
    before.instance = before.instance._replace(state=state)
    assert unacknowledged(before) > 0
    assert unacknowledged(sized) == 0


def test_places_follow_launches_rates_and_ack_timeouts() -> None:
    network = disk(n=60, radius=0.25, seed=2)

    def room(subscribers: int, every_s: float, **options: float) -> int:
        subscriptions = [(row, 0) for row in range(1, subscribers + 1)]
        publications = [(every_s * k, 0, 0) for k in range(20)]
        return places_of(walks(network, Listed(subscriptions, publications), **options))

    few = room(5, 2.0)
    assert room(25, 2.0) >= few + 2 * 20  # launched at once, and sent an event at once
    assert room(5, 2.0, retries=0) == 0
    assert room(5, 0.1) >= few + 5 * 5  # seven timeouts of 0.1 s: seven events, not one
    assert room(5, 0.1, ack_timeout_s=1.0) >= few + 5 * 19  # all twenty


def test_places_are_limited_by_memory() -> None:
    """10^5 nodes, one of which has 60,000 subscribers: at most a gigabyte of tables."""
    n, subscribers = 100_000, 60_000
    network = line(n)
    pairs = np.column_stack([np.zeros(subscribers), np.arange(1, subscribers + 1)]).astype(np.int32)
    demand = Listed([(int(row), 0) for row in pairs[:, 1]], [(1.0, 0, 0)])
    context = RunContext(n, 2, demand, 256, 60.0, 1, network, None, NodeIds(n).of)
    rules = Rules((0.01, 0.01), True, 1000, retries=3, ack_timeout_s=0.1)
    room = places(context, rules, pairs, {(0, 0): range(subscribers)})
    assert 50 < room < subscribers
    assert n * room * HOP_BYTES <= 1e9


def test_a_publisher_that_is_its_only_subscriber_sends_no_command() -> None:
    """Its publications are not those of the next publisher's first pair."""
    demand = Listed([(0, 0), (5, 1)], [(1.0, 0, 0), (2.0, 7, 1)])
    simulation = walks(disk(n=20, radius=0.45, seed=2), demand)
    commands = simulation._adapter.publish_commands(demand.begun_again().take(9.0, 9))
    assert commands.row.tolist() == [7]
