"""Walks side by side: one pure walk, many in flight, pairs that meet; ours and the same loops in C.

The contenders of a race walk the same walks from the same seeds on the same arrays, and must end
alike; but for the walks in flight, which share words of dice and are held against our one walk.
"""

import argparse
import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np

import ensemble
from halfway.bulk.walks import kernels as meeting
from halfway.bulk.walks.weights import bearings
from halfway.core.prng import seeded
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.pairs import distinct_pairs
from side_by_side import YARDSTICK, Row, c_library, race, show

HERE = Path(__file__).parent
SEED = 7
PAIRS = 1000
NOT_MET = 10**9


def single(network: Network, steps: int, rounds: int, c: ctypes.CDLL | None) -> list[Row]:
    """One pure walk, and many of them in flight together: the same number of steps in all."""
    ground, doors = meeting.Graph(network.start, network.who), ensemble.doors_of(network)
    word = np.uint64(seeded(np.uint64(SEED), 0))
    words = np.array([seeded(np.uint64(SEED), w) for w in range(ensemble.IN_FLIGHT)], np.uint64)

    def one() -> int:
        return int(ensemble.one_walk(ground, 0, word, steps))

    def many() -> None:
        at = np.arange(ensemble.IN_FLIGHT, dtype=np.uint32)
        ensemble.fly(doors, network.who, at, words.copy(), steps // ensemble.IN_FLIGHT)

    work = f"pure walk, n = {network.n}, {steps:,} steps"
    contenders: dict[str, Callable[[], object]] = {"halfway, one walk": one}
    crowd = {"halfway, one walk": one, f"halfway, {ensemble.IN_FLIGHT} in flight": many}
    if c:
        c.one_walk.restype = ctypes.c_uint32

        def in_c() -> int:
            at = c.one_walk(
                pointer(network.start), pointer(network.who), ctypes.c_uint32(0),
                ctypes.c_uint64(int(word)), ctypes.c_int64(steps),
            )  # fmt: skip
            return int(at)

        assert in_c() == one(), "C and halfway must stand on the same node"
        contenders[YARDSTICK] = in_c
    rows = race(contenders, work, rounds, steps)
    return rows + race(crowd, f"{work} in all", rounds, steps)


def pairs(network: Network, system: str, rounds: int, c: ctypes.CDLL | None) -> list[Row]:
    """Pairs of walks until they meet ('heard', equal speed), warm tables."""
    compass = meeting.compass(bearings(network)) if system == "directional" else None
    memory = compass or meeting.Blindfold(np.zeros(1, np.uint8))
    trails, ground = meeting.trails(network.n), meeting.Graph(network.start, network.who)
    ends = distinct_pairs(network.n, PAIRS, SEED)
    steps, nodes = np.empty(PAIRS, np.int64), np.empty(PAIRS, np.int64)

    def ours() -> None:
        meeting.meetings(
            memory, trails, ground, ends, np.uint64(SEED), 1, True, NOT_MET, steps, nodes
        )

    ours()
    total, where = int(steps.sum()), nodes.copy()
    contenders: dict[str, Callable[[], object]] = {f"halfway, {system}": ours}
    if c:
        contenders[YARDSTICK] = in_c(c, network, compass, ends, steps, nodes)
        contenders[YARDSTICK]()
        assert (int(steps.sum()), list(nodes)) == (total, list(where)), "not the same walks"
    work = f"{PAIRS:,} {system} pairs, n = {network.n}, {total:,} steps"
    return race(contenders, work, rounds, total)


def in_c(
    c: ctypes.CDLL,
    network: Network,
    compass: meeting.Compass | None,
    ends: np.ndarray,
    steps: np.ndarray,
    nodes: np.ndarray,
) -> Callable[[], object]:
    """The same pairs in C, with memory of its own."""
    mine, stamp = meeting.trails(network.n), [0]
    tables: list[np.ndarray | None] = [None] * 7
    if compass:
        own = meeting.compass(compass.bearings)
        b = compass.bearings
        tables = [b.base_at, b.ties_at, b.base, b.ties, own.passed, own.behind, own.row]
    fixed = [pointer(a) for a in (network.start, network.who, mine.mark, mine.back, mine.order)]
    fixed += [None if a is None else pointer(a) for a in tables]

    def contender() -> None:
        c.meetings(
            *fixed, ctypes.c_uint32(stamp[0]), pointer(ends), ctypes.c_int64(PAIRS),
            ctypes.c_uint64(SEED), ctypes.c_int64(1), pointer(steps), pointer(nodes),
        )  # fmt: skip
        stamp[0] += PAIRS

    return contender


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """The address of an array that outlives the call."""
    return array.ctypes.data_as(ctypes.c_void_p)


def main() -> None:
    """Run every race and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object a contender a line")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=3_000_000, help="of the single walk")
    chosen = parser.parse_args()
    c = c_library(HERE / "walks.c")
    rows: list[Row] = []
    for n in (1500, 3000):
        network = connected_unit_disk(n, 0.04, SEED).network
        rows += single(network, chosen.steps, chosen.rounds, c)
        for system in ("pure", "directional"):
            rows += pairs(network, system, chosen.rounds, c)
    show(rows, chosen.json, "step")


if __name__ == "__main__":
    main()
