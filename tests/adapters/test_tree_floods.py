"""Floods of broker trees over lossy links: repeated until a neighbour passes them on."""

import pytest

from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import line, star

TREES = ("siena", "underlay-siena")


def announcements(system: str, network: Network, retries: int) -> int:
    """The announcements of a tree of one broker, which announces itself once."""
    found = Simulation(
        system, network, workload=Listed([(0, 0)], []), seconds=20.0, seed=1,
        options={"brokers": 1, "refresh_s": 100.0, "retries": retries},
    ).run()  # fmt: skip
    return found.sent["announce"]


@pytest.mark.parametrize("system", TREES)
def test_only_nodes_that_hear_no_other_pass_a_flood_on_repeat_it(system: str) -> None:
    """On a line these are its ends, on a star its leaves; the root is none of them."""
    assert announcements(system, line(6), 0) == 6
    assert announcements(system, line(6), 3) in (6 + 3, 6 + 2 * 3)
    assert announcements(system, star(6), 3) in (6 + 4 * 3, 6 + 5 * 3)


def over_a_lossy_chain(system: str, seed: int) -> Outcome:
    """Twenty events on a chain of 40 nodes that loses each fifth record."""
    workload = Drawn(
        n=40, seed=seed, topics=2, publishers_each=2, subscribers_each=8, events=20,
        every_s=0.5, start_s=30.0,
    )  # fmt: skip
    return Simulation(
        system, line(40), workload=workload, seconds=60.0, seed=seed,
        radio=IdealRadio(success=0.8), options={"brokers": 8, "retries": 5},
    ).run()  # fmt: skip


@pytest.mark.parametrize("system", TREES)
def test_a_tree_on_a_long_lossy_chain_is_formed_and_delivers(system: str) -> None:
    for seed in range(4):
        found = over_a_lossy_chain(system, seed)
        assert found.delivery_ratio >= 0.99  # a hop fails with probability 0.36^6 = 0.002
        assert found.duplicates == 0
