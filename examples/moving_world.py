"""Comparison of systems on one mobility trace: nodes move, join and leave.

    python examples/moving_world.py MOVEMENT [--range 250] [--seconds 250] [--demands 5]

MOVEMENT is an ns-2 setdest file (.mob, .tcl, .ns2), or a CSV table with the columns node, t_s, x_m
and y_m. A walk joins a publisher to a subscriber, so walk systems know in advance which node
publishes what. All other systems know nothing in advance.
"""

import argparse
import math
import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from halfway.cli.program import Parser, positive, run, whole
from halfway.comparison.evaluation.comparison_results import MeanInterval
from halfway.pipeline.statistics.estimates import mean_interval
from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.mobility.trace_files import read_motion
from halfway.world.workload.demand import Demand, Listed
from halfway.world.workload.number_intervals import NumberIntervals

BEGIN_S, DRAIN_S = 20.0, 60.0  # seconds to the first event, and from the last event to the end
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
    given = arguments()
    traces = read_motion(given.movement)
    motion = Motion(traces.legs, given.range, traces.presence)
    table = Table(title=f"{motion.n} nodes; mean of {given.demands} demands, 95 % interval")
    for column in ("system", "ratio", "delay s", "expected", "records sent", "energy J"):
        table.add_column(column, justify="left" if column == "system" else "right", no_wrap=True)
    for name in SYSTEMS:
        if name.startswith(given.only):
            seeds = range(given.seed, given.seed + given.demands)
            table.add_row(name, *cells([outcome(name, motion, seed, given) for seed in seeds]))
    Console(width=140).print(table)


def arguments() -> argparse.Namespace:
    """Parse the command line of the moving world."""
    parser = Parser(__doc__)
    parser.add_argument("movement", help="an ns-2 setdest file, or CSV tracks (.gz too)")
    parser.add_argument("--range", type=positive, default=250.0, help="metres (default 250)")
    parser.add_argument("--seconds", type=positive, default=250.0, help="of a run (default 250)")
    parser.add_argument("--contention", action="store_true", help="use a contended medium")
    parser.add_argument("--only", default="", help="prefix of the names of systems")
    parser.add_argument("--demands", type=whole(1), default=5, help="workloads drawn (default 5)")
    parser.add_argument(
        "--seed", type=whole(0), default=1, help="of the first workload (default 1)"
    )
    given = parser.parse_args()
    if given.seconds <= BEGIN_S + DRAIN_S:
        what = f"--seconds = {given.seconds:g}: expected more than {BEGIN_S + DRAIN_S:g}"
        why = f"the first event is at {BEGIN_S:g} s, and the last {DRAIN_S:g} s have no event"
        raise Problem(what, remedy=why)
    if not any(name.startswith(given.only) for name in SYSTEMS):
        what = f"--only = {given.only}: no system begins like this"
        raise Problem(what, remedy=f"systems: {'; '.join(SYSTEMS)}")
    return given


def outcome(name: str, motion: Motion, seed: int, given: argparse.Namespace) -> Outcome:
    """Run a system once in the moving world: each node wants an interval of 20 of the numbers
    1…100.
    """
    demand: Demand = NumberIntervals(
        motion.n, start_s=BEGIN_S, end_s=given.seconds - DRAIN_S, share=1.0, length=20.0, seed=seed
    )
    if name.endswith("-walk"):
        demand = listed(demand)
    return Simulation(
        name.partition(",")[0], motion=motion, workload=demand, seconds=given.seconds,
        radio=CsmaRadio(medium="wifi-a") if given.contention else IdealRadio(),
        seed=seed, window=512, options=SYSTEMS[name], stretch=False,
    ).run()  # fmt: skip


def listed(demand: Demand) -> Listed:
    """Return the same demand, with only the actual publishers of each topic."""
    some = demand.next_publications(np.inf, 100_000)
    wants = [(row, topic) for topic, rows in enumerate(demand.subscribers) for row in rows.tolist()]
    publications = zip(some.t.tolist(), some.row.tolist(), some.topic.tolist(), strict=True)
    return Listed(wants, list(publications))


def cells(runs: list[Outcome]) -> list[str]:
    """Return the table cells of a system: ratio and delay with intervals, sums without."""
    return [
        interval([run.delivery_ratio for run in runs], 1.0),
        interval([run.latency_s.mean for run in runs]),
        f"{np.mean([run.expected for run in runs]):.0f}",
        f"{np.mean([sum(run.sent.values()) for run in runs]):.0f}",
        f"{np.mean([run.energy_j for run in runs]):.1f}",
    ]


def interval(values: list[float], most: float = math.inf) -> str:
    """Format a mean with its 95 % interval over the runs that have a value; "–" without one."""
    known = [value for value in values if math.isfinite(value)]
    return MeanInterval(*mean_interval(known, bounds=(0.0, most))).text


if __name__ == "__main__":
    sys.exit(run(main))
