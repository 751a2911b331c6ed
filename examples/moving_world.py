"""Systems side by side on one recorded world: nodes that move, come and go.

python examples/moving_world.py vehicles.mob --range 250 --seconds 250
"""

import argparse

import numpy as np
from rich.console import Console

from halfway.sim.moving import Motion
from halfway.sim.radios import ContendedAir, IdealAir
from halfway.sim.simulation import Simulation
from halfway.world.number_intervals import NumberIntervals
from halfway.world.trace_files import read_motion

SYSTEMS: dict[str, dict[str, object]] = {
    "voronoi-brokers": {"brokers": 10, "nearest": 4, "copies": 4},
    "voronoi-brokers, epidemic": {"brokers": 10, "nearest": 4, "epidemic": True},
    "flooding": {},
    "gossip": {"fanout": -1, "rounds": 3, "period": 5.0},
    "anti-entropy": {},
    "directional-walk": {},
}


def main() -> None:
    """Run every system on the same motion and demand, and print a line for each."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("movement", help="an ns-2 setdest file, or CSV tracks (.gz may follow)")
    asked.add_argument("--range", type=float, default=250.0, help="metres")
    asked.add_argument("--seconds", type=float, default=250.0)
    asked.add_argument("--contention", action="store_true", help="a contended medium")
    asked.add_argument("--only", default="", help="systems whose name begins so")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    traces = read_motion(given.movement)
    motion = Motion(traces.legs, given.range, traces.presence)
    demand = NumberIntervals(
        motion.n, start_s=20.0, end_s=given.seconds - 60.0, share=1.0, length=20.0, seed=given.seed
    )
    for name, options in SYSTEMS.items():
        if not name.startswith(given.only):
            continue
        out = Simulation(
            name.split(",")[0], motion=motion, workload=demand, seconds=given.seconds,
            radio=ContendedAir(medium="wifi-a") if given.contention else IdealAir(),
            seed=given.seed, window=512, options=options, stretch=False,
        ).run()  # fmt: skip
        sent = sum(out.sent.values())
        Console(width=160).print(
            f"{name:26} ratio {out.delivery_ratio:.3f} of {out.expected}, delay "
            f"{np.round(out.latency_s.mean, 2)} s (median {np.round(out.latency_s.median, 2)}), "
            f"{sent} records sent, {out.energy:.1f} J",
        )


if __name__ == "__main__":
    main()
