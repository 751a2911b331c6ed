"""The same loads as bench/contention.py in ns-3 (needs the wheel `ns3`): a JSON line a run.

Counts transmissions and receptions of 112-byte broadcasts between 0.2 s and 0.2 s + `seconds`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import cppyy
from ns import ns

HERE = Path(__file__).parent
SEEDS = range(1, 9)
BYTES = 112


def case(
    world: Any, name: str, n: int, spacing: float, senders: int, rate: float, seconds: float
) -> None:
    """Run one load in ns-3 with every seed; `senders` is a mask, rate 0 means saturated."""
    frames = int(9000 * seconds / bin(senders).count("1")) + 400
    for seed in SEEDS:
        counted = [
            int(value)
            for value in world.run(
                n, spacing, senders, BYTES, float(rate), seconds, seed, 0 if rate else frames
            )
        ]
        row = {"name": name, "n": n, "rate": rate, "seed": seed}
        sys.stdout.write(json.dumps(row | {"tx": counted[:n], "rx": counted[n:]}) + "\n")


def main() -> None:
    """Run every case of the tables of contention in ns-3."""
    ns.Simulator.Now()  # loads the library before anything is compiled against it
    cppyy.cppdef((HERE / "contention_ns3.cc").read_text())
    world = cppyy.gbl.hw
    for n in (2, 5, 10, 20):
        case(world, "saturated", n, 0.0, (1 << n) - 1, 0, 1.0)
    case(world, "hidden-saturated", 3, 10.0, 0b101, 0, 1.0)
    for rate in (200, 500, 1000):
        case(world, "hidden-poisson", 3, 10.0, 0b101, rate, 4.0)


if __name__ == "__main__":
    main()
