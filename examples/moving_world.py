"""Comparison of systems on one mobility trace: nodes move, join and leave.

A walk joins a publisher to a subscriber, so walk systems know in advance which node publishes
what. The other systems do not.

python examples/moving_world.py vehicles.mob --range 250 --seconds 250 --demands 5
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student

from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.mobility.trace_files import read_motion
from halfway.world.workload.demand import Demand, Listed
from halfway.world.workload.number_intervals import NumberIntervals

START_S = 20.0  # seconds until the first event
DRAIN_S = 60.0  # seconds from the last event to the end
SYSTEMS: dict[str, dict[str, object]] = {
    "drip": {"brokers": 10, "nearest": 4, "copies": 4},
    "drip, epidemic": {"brokers": 10, "nearest": 4, "epidemic": True},
    "flooding": {},
    "gossip": {"fanout": -1, "rounds": 3, "period_s": 5.0},
    "anti-entropy": {},
    "directional-walk": {"most_steps": 200},
    "random-walk": {"most_steps": 200},
}


def main() -> None:
    """Run each system on the same motion and demands, and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("movement", help="an ns-2 setdest file, or CSV tracks (.gz too)")
    parser.add_argument("--range", type=float, default=250.0, help="metres")
    parser.add_argument("--seconds", type=float, default=250.0)
    parser.add_argument("--contention", action="store_true", help="use a contended medium")
    parser.add_argument("--only", default="", help="prefix of the names of systems")
    parser.add_argument("--demands", type=int, default=5, help="number of workloads drawn")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first demand")
    given = parser.parse_args()
    if not given.seconds > START_S + DRAIN_S:
        what = f"--seconds {given.seconds:g}: expected more than {START_S + DRAIN_S:g}"
        raise Problem(what, remedy="events begin after 20 s and need 60 s to arrive")
    if given.demands < 1:
        raise Problem(f"--demands {given.demands}: expected at least 1")
    traces = read_motion(given.movement)
    motion = Motion(traces.legs, given.range, traces.presence)
    table = Table(title=f"{motion.n} nodes; mean of {given.demands} demands, 95 % interval")
    for column in ("system", "ratio", "delay s", "expected", "records sent", "energy J"):
        table.add_column(column, justify="left" if column == "system" else "right", no_wrap=True)
    for name in SYSTEMS:
        if name.startswith(given.only):
            seeds = range(given.seed, given.seed + given.demands)
            runs = [outcome(name, motion, seed, given.seconds, given.contention) for seed in seeds]
            table.add_row(name, *cells(runs))
    Console(width=140).print(table)


def outcome(name: str, motion: Motion, seed: int, seconds: float, contention: bool) -> Outcome:
    """Run once: each node wants an interval of 20 of the numbers 1…100; 0.8 events a second."""
    demand: Demand = NumberIntervals(
        motion.n, start_s=START_S, end_s=seconds - DRAIN_S, share=1.0, length=20.0, seed=seed
    )
    if name.endswith("-walk"):
        demand = listed(demand)
    return Simulation(
        name.partition(",")[0], motion=motion, workload=demand, seconds=seconds,
        radio=CsmaRadio(medium="wifi-a") if contention else IdealRadio(),
        seed=seed, window=512, options=SYSTEMS[name], stretch=False,
    ).run()  # fmt: skip


def listed(demand: Demand) -> Listed:
    """Return the same demand, with only the actual publishers of each topic."""
    some = demand.take(np.inf, 100_000)
    wants = [(row, topic) for topic, rows in enumerate(demand.subscribers) for row in rows.tolist()]
    publications = zip(some.t.tolist(), some.row.tolist(), some.topic.tolist(), strict=True)
    return Listed(wants, list(publications))


def cells(runs: list[Outcome]) -> list[str]:
    """Return the table cells of a system: ratio and delay with intervals, sums without."""
    return [
        interval([run.delivery_ratio for run in runs], 3),
        interval([run.latency_s.mean for run in runs], 2),
        f"{np.mean([run.expected for run in runs]):.0f}",
        f"{np.mean([sum(run.sent.values()) for run in runs]):.0f}",
        f"{np.mean([run.energy_j for run in runs]):.1f}",
    ]


def interval(values: list[float], digits: int) -> str:
    """Format a mean, with Student's 95 % interval if there is more than one value."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{mean:.{digits}f} [{mean - half:.{digits}f}, {mean + half:.{digits}f}]"


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"{Path(__file__).name}: {problem}")
