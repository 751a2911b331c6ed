"""The adapter of the walks: roles as commands, and tables sized by members, rates and degrees."""

import numpy as np
import pytest

from halfway.adapters.interface import RunContext
from halfway.adapters.walks import HOP_BYTES, members_of, places
from halfway.core.values.digest import arrays
from halfway.protocols.walks import messages, random_walk
from halfway.protocols.walks.directional_walk import FORGOTTEN_WEIGHTS
from halfway.protocols.walks.messages import ADVERTISE, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.walks.state import walk_tables
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line, star
from tests.protocols.rules_of import printed_rules_of

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
    return int(simulation.instance.state.tables.hops.record.shape[1])


def unacknowledged(simulation: Simulation) -> int:
    """Hops that were not acknowledged, over a whole run."""
    simulation.run()
    return simulation.instance.shortfalls(simulation.instance.state)["unacknowledged hops"]


WORLDS = {
    "one publisher of many": (disk(n=60, radius=0.25, seed=2), 1),
    "all by way of one": (star(41), 2),
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_most_loaded_node_has_a_place_for_every_hop_unlike_with_two_places(world: str) -> None:
    network, publishers = WORLDS[world]
    demand = Drawn(
        n=network.n, publishers_each=publishers, subscribers_each=30, events=8, start_s=5.0, seed=2
    )
    sized, small = walks(network, demand), walks(network, demand)
    state = random_walk.state(
        np.arange(network.n, dtype=np.int32), int(network.degree.max()), 1, 3,
        members=30 + publishers, places=2, buffer_size=0,
    )  # fmt: skip
    small.instance = small.instance._replace(state=state)
    assert unacknowledged(small) > 0
    assert unacknowledged(sized) == 0


def test_places_follow_members_rates_and_ack_timeouts() -> None:
    network = disk(n=60, radius=0.25, seed=2)

    def capacity(subscribers: int, every_s: float, **options: float) -> int:
        subscriptions = [(row, 0) for row in range(1, subscribers + 1)]
        publications = [(every_s * k, 0, 0) for k in range(20)]
        return places_of(walks(network, Listed(subscriptions, publications), **options))

    few = capacity(3, 2.0)
    assert capacity(6, 2.0) >= few + 3 + 3  # routes sent at once, and copies of an event
    assert capacity(3, 2.0, retries=0) == 0
    assert capacity(3, 0.1) >= few + 3 * 5  # seven timeouts of 0.1 s: seven events, not one
    assert capacity(3, 0.1, ack_timeout_s=1.0) >= few + 3 * 19  # all twenty


def test_places_are_limited_by_memory() -> None:
    """10^5 nodes, with 60,000 subscribers of one topic: at most a gigabyte of tables."""
    n, subscribers = 100_000, 60_000
    demand = Listed([(row, 0) for row in range(1, subscribers + 1)], [(1.0, 0, 0)])
    context = RunContext(n, 2, demand, 256, 60.0, 1, line(n), None, NodeIds(n).of)
    rules = printed_rules_of(
        messages, step_delay_s=(0.01, 0.01), advertise=True, most_steps=1000, retries=3,
        ack_timeout_s=0.1,
    )  # fmt: skip
    capacity = places(context, rules)
    assert 50 < capacity < subscribers
    assert n * capacity * HOP_BYTES <= 1e9


def test_the_bytes_of_a_hop_are_those_of_its_entries_in_the_tables() -> None:
    one, two = (
        sum(array.nbytes for array in arrays(tables))
        for tables in (
            walk_tables(np.zeros(1, np.int32), 1, 1, 1, places=places, buffer_size=8)
            for places in (1, 2)
        )
    )
    assert two - one == HOP_BYTES


def test_a_node_has_room_for_the_members_of_the_largest_topic_or_for_those_of_the_option() -> None:
    demand = Listed([(1, 0), (2, 0), (3, 0), (4, 1)], [(1.0, 5, 0), (1.0, 6, 0), (2.0, 5, 1)])
    assert members_of(demand).tolist() == [5, 2]
    network = disk(n=20, radius=0.45, seed=2)
    assert walks(network, demand).instance.state.tables.paths.shape == (20, 2, 5)
    assert walks(network, demand, trails=3).instance.state.tables.trails.shape == (20, 2, 3)


@pytest.mark.parametrize("steps", [50, 2000])
def test_a_long_walk_counts_the_raised_weights_that_its_nodes_forget(steps: int) -> None:
    """Each of 12 neighbours has 110 pairs of a link in and another one out, and room for 64."""
    run = Simulation(
        "directional-walk", from_links(12, [(a, b) for a in range(12) for b in range(a)]),
        workload=Listed([(1, 1)], [(1.0, 0, 0)]), seconds=25.0, seed=3, hello=None,
        options={"most_steps": steps, "retries": 0},
    )  # fmt: skip
    shortfalls = run.run().shortfalls
    marks = run.state.weights.marks
    assert run.state.weights.marked_walk.shape[1] == 64
    assert (marks.max() > 64) == (steps == 2000)
    assert shortfalls.get(FORGOTTEN_WEIGHTS, 0) == sum(max(int(each) - 64, 0) for each in marks)


def test_each_role_is_one_command_and_each_event_is_one_command() -> None:
    """No pair of a publisher and a subscriber has a command of its own."""
    demand = Listed(
        [(0, 0), (1, 0), (2, 0)], [(1.0, 3, 0), (2.0, 4, 0), (3.0, 3, 0)],
        periods={(1, 0): (4.0, 9.0)},
    )  # fmt: skip
    adapter = walks(disk(n=20, radius=0.45, seed=2), demand)._adapter
    some = adapter.start_up_commands(demand)
    found = sorted(zip(some.kind.tolist(), some.row.tolist(), some.at.tolist(), strict=True))
    assert found == [
        (ADVERTISE, 3, 0.005), (ADVERTISE, 4, 0.005),
        (SUBSCRIBE, 0, 0.0), (SUBSCRIBE, 1, 4.0), (SUBSCRIBE, 2, 0.0),
        (UNSUBSCRIBE, 1, 9.0),
    ]  # fmt: skip
    published = adapter.publish_commands(demand.begun_again().next_publications(9.0, 9))
    assert published.row.tolist() == [3, 4, 3]
