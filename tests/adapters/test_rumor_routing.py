"""The tables of rumor routing have room for all queries of a run, on hubs, chains and rings."""

from collections.abc import Callable

import pytest

from halfway.adapters.registry import TABLE
from halfway.protocols.rumor_routing.state import TRAILS_EACH
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.run_context import FAULTS, context_of, stream
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn
from tests.networks import from_links, line, star

N, SUBSCRIBERS = 121, 100
TRAIL_TABLES = ("trail_of", "trail_topic", "trail_number", "trail_back")


def two_stars(n: int) -> Network:
    """Two hubs, 0 and 1, that are linked, with half of the leaves each."""
    return from_links(n, [(0, 1), *((k % 2, k) for k in range(2, n))])


def ring(n: int) -> Network:
    return from_links(n, [(k, (k + 1) % n) for k in range(n)])


def demand(n: int = N) -> Drawn:
    """Five topics with one publisher and twenty subscribers each. Their queries are open at once,
    until the first events.
    """
    return Drawn(
        n=n, seed=1, topics=5, publishers_each=1, subscribers_each=SUBSCRIBERS // 5, events=30,
        every_s=1.0, start_s=8.0,
    )  # fmt: skip


@pytest.mark.parametrize("network", [star, two_stars, line, ring])
def test_no_trail_is_forgotten_and_later_events_arrive(network: Callable[[int], Network]) -> None:
    for seed in range(3):
        found = Simulation(
            "rumor-routing", network(N), workload=demand(), seconds=60.0, seed=seed, stretch=False
        ).run()  # fmt: skip
        assert found.shortfalls == {}
        # A subscriber without an answer asks again after 5 s, and the answer has the latest event.
        # So the first events of a topic may be lost.
        assert found.delivery_ratio >= 0.8


def test_tables_of_large_networks_are_bounded() -> None:
    adapter = TABLE["rumor-routing"].adapter_with({})
    environment = Environment(star(N), None, [], seed=stream(1, FAULTS), seconds=20.0)
    context = context_of(environment, demand(), [], seconds=20.0, seed=1, window=16)
    state = adapter.instance(context).state
    assert {getattr(state, name).shape for name in TRAIL_TABLES} == {
        (N, TRAILS_EACH * SUBSCRIBERS + 32)
    }
    sizes = adapter.more_sizes(context._replace(n=5_000_000))
    assert set(sizes.values()) == {4 + 32}
