"""Benchmark of walks on a lazy unit disk graph: seconds, memory and steps of each pair.

python bench/lazy_walks.py [--n 1000000000] [--degree 15] [--pairs 100] [--system directional-walk]
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Mapping

import numpy as np

from halfway.bulk.walks.lazy_walks import LazyWalkers
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.mean_degree import radius_of_degree

SEED = 1


def peak_mib() -> int:
    """Return the most memory that the benchmark of lazy walks has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def write(row: Mapping[str, object]) -> None:
    """Write the numbers of a pair of walks on a line, at once: the next pair may take a minute."""
    sys.stdout.write(f"{json.dumps(row)}\n")
    sys.stdout.flush()


def main() -> None:
    """Run the pairs of walks on a lazy graph one after the other; print one object a pair, and one
    for all.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=15.0)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--system", default="directional-walk")
    chosen = parser.parse_args()
    radius = radius_of_degree(chosen.n, chosen.degree)
    LazyWalkers(LazyDisk(1000, 0.08, SEED), chosen.system).pair(0, 500, seed=SEED)  # compiles
    begun = time.process_time()
    disk = LazyDisk(chosen.n, radius, SEED)
    made_s = time.process_time() - begun
    pairs, again = disk.giant_pairs(chosen.pairs, SEED)
    walkers, steps, seconds = LazyWalkers(disk, chosen.system), [], []
    write({"graph_s": round(made_s, 3), "ends_drawn_again": again})
    for topic, (source, target) in enumerate(pairs.tolist()):
        begun = time.process_time()
        met = walkers.pair(source, target, seed=SEED, topic=topic)
        seconds.append(time.process_time() - begun)
        steps.append(met.steps)
        row = {
            "pair": topic, "steps": met.steps, "path_nodes": len(met.path),
            "visited": sum(met.visited), "raised": met.raised,
            "tables_mib": met.memory_bytes >> 20, "cpu_s": round(seconds[-1], 3),
        }  # fmt: skip
        write(row)
    whole = {
        "n": chosen.n, "degree": chosen.degree, "system": chosen.system, "pairs": len(steps),
        "median_steps": float(np.median(steps)), "mean_steps": float(np.mean(steps)),
        "cpu_s": round(sum(seconds), 1), "peak_mib": peak_mib(),
        "ns_a_step": round(1e9 * sum(seconds) / sum(steps)),
    }  # fmt: skip
    write(whole)


if __name__ == "__main__":
    main()
