"""Runs of failure detectors on small networks, and what their monitors say in the end."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.workload.groups.monitoring import Monitoring
from tests.networks import disk, from_links, line, star

# Quick options for small networks.
QUICK: Mapping[str, Mapping[str, Any]] = {"gossip-counters": {"timeout_s": 14.0, "fanout": -1}}
CLIQUES = [(a, b) for side in (0, 5) for a in range(side, side + 5) for b in range(side, a)]
_DISK = disk(24, 0.4, seed=5)
NETWORKS: Mapping[str, Network] = {
    "chain": line(6),
    "star": star(8),
    "bridge": from_links(10, [*CLIQUES, (4, 5)]),
    "disk": from_links(24, [(a, int(b)) for a in range(24) for b in _DISK.neighbours(a) if a < b]),
}


def full(n: int) -> Network:
    """A network in which all nodes are neighbours: the setting of the published detectors."""
    return from_links(n, [(a, b) for a in range(n) for b in range(a)])


def run(
    system: str, network: Network, seconds: float, *faults: Fault, start_s: float = 30.0,
    seed: int = 1, members: Sequence[int] | None = None, **more: Any,
) -> Simulation:  # fmt: skip
    """A run of a failure detector to its end, with its reports; nodes know the first links.

    members: rows of the members; the other nodes are relays. None: every node is a member.
    """
    options = {**QUICK.get(system, {}), **more.pop("options", {})}
    given = {
        "hello": None, "discovery_delay_s": np.inf, "radio": IdealRadio(delay_s=0.002),
        "inspection": Inspection(received_records=0, check=True),
    }  # fmt: skip
    simulation = Simulation(
        system, network, workload=Monitoring(start_s, members), seconds=seconds, faults=faults,
        seed=seed, options=options, stretch=False, **(given | more),
    )  # fmt: skip
    outcome = simulation.run()
    assert not [name for name in outcome.shortfalls if "refused" in name], outcome.shortfalls
    return simulation


def views(simulation: Simulation) -> dict[tuple[int, int], bool]:
    """(monitor, member) -> whether the monitor trusts it in the end, of those that it knows."""
    reports, rows = simulation.reports()
    found = {}
    for report, row in zip(reports, rows.tolist(), strict=True):
        if report["kind"] in (SUSPECTED, TRUSTED):
            found[row, int(report["target"])] = bool(report["kind"] == TRUSTED)
    return found


def suspicions(simulation: Simulation, since: float = 0.0) -> list[tuple[float, int, int]]:
    """(time, monitor, member) of every suspicion from a time on."""
    reports, rows = simulation.reports()
    some = (reports["kind"] == SUSPECTED) & (reports["at"] >= since)
    columns = reports["at"][some], rows[some], reports["target"][some]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def pairs(rows: Sequence[int]) -> set[tuple[int, int]]:
    """All ordered pairs of different rows."""
    return {(a, b) for a in rows for b in rows if a != b}
