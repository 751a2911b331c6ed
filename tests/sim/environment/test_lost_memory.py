"""Nodes that lose their memory: every system delivers all events again after a stated time."""

from typing import Any

import pytest

from halfway.adapters.registry import TABLE
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn
from tests.networks import disk, from_links

_BACK_S = 45.0  # all crashed nodes are up again
# The time in s after which each system has healed, and the options that heal it.
HEALED_AFTER: dict[str, tuple[float, dict[str, Any]]] = {
    "flooding": (1.0, {}),
    "gossip": (1.0, {"fanout": 6, "rounds": 4}),
    "counter-broadcast": (1.0, {"threshold": 5}),
    "anti-entropy": (1.0, {}),
    "directional-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "random-walk": (40.0, {"refresh_s": 20.0, "retries": 2}),
    "georendezvous": (60.0, {"retries": 2}),
    "drip": (60.0, {"epidemic": True, "retries": 2}),
}


def _delivered(system: str, memory: Any, seed: int, of: str = "disk") -> tuple[int, int, int]:
    """(expected, delivered, duplicates) of the events that are published after healing."""
    after, options = HEALED_AFTER[system]
    options = {name: value for name, value in options.items() if name in TABLE[system].options}
    network = disk(60, 0.4, seed=3)
    if of == "hubs":  # two hubs with a bridge
        links = [(0, k) for k in range(2, 31)] + [(1, k) for k in range(31, 60)] + [(0, 1)]
        network = from_links(60, links)
    simulation = Simulation(
        system, network, seconds=_BACK_S + after + 60.0, seed=seed, options=options,
        radio=IdealRadio(delay_s=0.001),
        faults=[Crash(share=0.4, at=40.0, for_=_BACK_S - 40.0, memory=memory)],
        workload=Drawn(
            n=60, topics=3, publishers_each=2, subscribers_each=6, events=20, every_s=1.0,
            start_s=_BACK_S + after, seed=seed,
        ),
    )  # fmt: skip
    simulation.run()
    counted = simulation.deliveries
    return counted.expected, counted.delivered, counted.duplicates


@pytest.mark.parametrize("system", HEALED_AFTER)
def test_a_system_heals_after_nodes_lose_their_memory(system: str) -> None:
    expected, delivered, duplicates = _delivered(system, "lost", 1)
    assert expected >= 100
    assert (delivered, duplicates) == (expected, 0)
