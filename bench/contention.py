"""The CSMA radio compared with theory, a slotted simulation and, if installed, ns-3.

Prints the rows of docs/models/contention.md: means over seeds with 95 % intervals. `--ns3 FILE`
reads what bench/contention_ns3.py wrote.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.sim.radio import slotted
from tests.sim.radio.loads import hidden, poisson_domain, saturated

from halfway.sim.radio.csma import WIFI_A, WIFI_B

SEEDS = range(1, 9)
T_7 = 2.365  # 97.5 % of Student's t with 7 degrees of freedom
FRAME = 124e-6  # seconds, of WIFI_A
FRAME_B = (60 + 112) * 8e-6


def print_row(*words: object) -> None:
    """Print one row of a table of contention."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def interval(values: list[float]) -> str:
    """Return the mean and the half width of its 95 % interval over the seeds of contention."""
    half = T_7 * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.4f} ± {half:.4f}"


def over_seeds(measure: Callable[[int], float]) -> str:
    """Return the interval of a measure of contention over all seeds."""
    return interval([measure(seed) for seed in SEEDS])


def share_alone(n: int, seed: int) -> float:
    """Return the share of saturated slotted broadcasts of n nodes that no other frame meets."""
    return slotted.broadcasts(n, 15, 8000, seed)[0]


def share_collided(n: int, seed: int) -> float:
    """Return the share of saturated slotted unicast frames of n nodes that collide."""
    return slotted.acknowledged(n, 31, 1023, 10000, seed)[0]


def ns3_rows(path: str | None) -> dict[tuple[str, int, float], list[float]]:
    """Return the share of receptions in ns-3 by case, n and rate, one number a seed."""
    found: dict[tuple[str, int, float], list[float]] = defaultdict(list)
    lines = Path(path).read_text().splitlines() if path else []
    for row in map(json.loads, filter(None, lines)):
        hearers = row["n"] - 1 if row["name"] == "saturated" else 1
        share = sum(row["rx"]) / sum(row["tx"]) / hearers
        found[row["name"], row["n"], row["rate"]].append(share)
    return found


def main() -> None:
    """Print every table of the contended radio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ns3", help="JSON lines of bench/contention_ns3.py")
    ns3 = ns3_rows(parser.parse_args().ns3)

    def other(*case: object) -> str:
        return interval(ns3[case]) if case in ns3 else "-"

    print_row(
        "broadcast, one domain: share received | n ours exact textbook slotted ns-3",
        "| busy ours exact",
    )
    for n in (2, 5, 10, 20, 50):
        runs = [saturated(n, WIFI_A, 2.0, seed) for seed in SEEDS]
        print_row(
            n, interval([run.received for run in runs]),
            f"{slotted.share_alone(n, 15):.4f} {slotted.share_alone_textbook(n, 15):.4f}",
            over_seeds(partial(share_alone, n)),
            other("saturated", n, 0), "|", interval([run.busy for run in runs]),
            f"{slotted.busy_share(n, 15, 9e-6, 34e-6, FRAME):.4f}",
        )  # fmt: skip
    print_row(
        "unicast, one domain: share collided | n ours Bianchi slotted | throughput ours Bianchi"
    )
    unlimited = WIFI_B._replace(retries=10**6)
    for n in (2, 5, 10, 20, 50):
        runs = [saturated(n, unlimited, 20.0, seed, unicast=True) for seed in SEEDS]
        print_row(
            n, interval([1 - run.received for run in runs]),
            f"{slotted.bianchi(n, 31, 1023)[1]:.4f}",
            over_seeds(partial(share_collided, n)), "|",
            interval([run.received * run.frames * FRAME_B / 20.0 for run in runs]),
            f"{slotted.bianchi_throughput(n, WIFI_B, FRAME_B, 38 * 8e-6):.4f}",
        )  # fmt: skip
    print_row("hidden: share received at B | load ours theory ns-3")
    print_row(
        "saturated", over_seeds(lambda seed: hidden(WIFI_A, 2.0, seed)),
        f"{slotted.hidden_share(WIFI_A, FRAME):.4f}", other("hidden-saturated", 3, 0),
    )  # fmt: skip
    for rate in (200, 500, 1000):
        print_row(
            rate, over_seeds(partial(hidden, WIFI_A, 6.0, rate=rate)),
            f"{slotted.aloha_share(rate, FRAME):.4f}", other("hidden-poisson", 3, rate),
        )  # fmt: skip
    print_row("Poisson unicast, one domain of 10: offered frames/s, share carried, share repeated")
    for rate in (1, 5, 20):
        shares = [poisson_domain(10, WIFI_B, 30.0, rate, seed) for seed in SEEDS]
        carried, repeated = zip(*shares, strict=True)
        print_row(10 * rate, interval(list(carried)), interval(list(repeated)))


if __name__ == "__main__":
    main()
