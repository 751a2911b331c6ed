"""The airtime of a flood on the CSMA radio, for `docs/attacks.md`: attackers, other nodes, frames
that full queues dropped, and the deliveries of events whose publishers do not attack.

Each rate of the flood has the same networks, whose seeds are 1, 2, 3, …
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from scipy.stats import t as student

from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.engine.attackers import FLOOD
from halfway.sim.simulation import Simulation

SCENARIO = Path(__file__).parent.parent / "examples" / "scenarios" / "black-holes.toml"
SYSTEMS = (
    "flooding", "gossip", "anti-entropy", "walk-overlay", "directional-walk", "siena",
    "underlay-siena",
)  # fmt: skip
EVERY_S = (1e6, 10.0, 2.0, 0.5, 0.1)  # seconds between two events of an attacker; 1e6: no flood
CHANGES = {
    "radio": '{kind="contention", medium="sensors"}',
    "faults[0].kind": '"flood"',
    "faults[0].share": "0.1",
}


class FloodedRun(NamedTuple):
    """A run with a flood: shares of the time of the run, dropped frames, and a delivery ratio."""

    attacker: float  # share of the time in which an attacker transmits, mean
    other: float  # the same of another node
    busy: float  # share of the time in which a node transmits or senses a transmission, mean
    dropped_by_attackers: float  # frames that full queues of attackers dropped
    dropped_by_others: float
    honest: float  # delivery ratio of the events of the workload whose publishers do not attack


def measured(system: str, every_s: float, seed: int) -> FloodedRun:
    """Run a flood with one event every `every_s` seconds from each attacker."""
    changes = CHANGES | {"faults[0].every_s": str(every_s), "seed": str(seed)}
    simulation = simulation_of(read_scenario(SCENARIO, changes), system=system)
    simulation.deliveries.delivery_log = []
    simulation.run()
    station, seconds = simulation.radio.station, simulation.seconds
    attacks = simulation.engine.attacks.conduct & FLOOD != 0
    sending = station.sending_s / seconds
    return FloodedRun(
        attacker=float(sending[attacks].mean()),
        other=float(sending[~attacks].mean()),
        busy=float((sending + station.hearing_s / seconds).mean()),
        dropped_by_attackers=float(station.queue_full[attacks].sum()),
        dropped_by_others=float(station.queue_full[~attacks].sum()),
        honest=honest_ratio(simulation, attacks),
    )


def honest_ratio(simulation: Simulation, attacks: npt.NDArray[np.bool_]) -> float:
    """Return the delivery ratio of a flooded run without the events of attackers.

    attacks: [n] which nodes attack.
    """
    planned = simulation.demand.begun_again().next_publications(np.inf, 10_000_000)
    of_workload = planned.event >= 0
    honest = planned.event[of_workload & ~attacks[planned.row]]
    log = simulation.deliveries.delivery_log or []
    expected = sum(
        due for event, _, due in simulation.deliveries.publication_log if event in honest
    )
    return sum(int(np.isin(events, honest).sum()) for events, _, _ in log) / expected


def with_interval(values: npt.NDArray[np.float64]) -> str:
    """Return the mean of one value of the networks, and half its 95 % interval by Student's t."""
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.4g} ± {half:.2g}"


def main() -> None:
    """Print a Markdown table with the airtime of each system at each rate of the flood."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=10)
    networks = parser.parse_args().networks
    console = Console(soft_wrap=True)
    console.print("| system | every_s |", " | ".join(FloodedRun._fields), "|")
    console.print("|---|---|" + "---|" * len(FloodedRun._fields))
    for system in SYSTEMS:
        for every_s in EVERY_S:
            runs = np.array([measured(system, every_s, 1 + k) for k in range(networks)])
            cells = [with_interval(column) for column in runs.T]
            console.print(f"| `{system}` | {every_s:g} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
