"""Benchmark of bulk walks against C: one pure walk, many in flight, and pairs that meet.

All implementations walk the same walks from the same seeds on the same arrays, and must end on the
same nodes. The walks in flight share random states, and are compared with one walk instead.
"""

import argparse
import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import ensemble
from halfway.bulk.walks import choices, pair_kernels
from halfway.bulk.walks.networks import Graph
from halfway.bulk.walks.trails import trails as new_trails
from halfway.bulk.walks.weight_table import WeightTable, weight_table
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
    """Race one pure walk, and many in flight together, with the same number of steps in all."""
    graph, spans = Graph(network.start, network.who), ensemble.spans_of(network)
    random = np.uint64(seeded(np.uint64(SEED), 0))
    randoms = np.array([seeded(np.uint64(SEED), w) for w in range(ensemble.IN_FLIGHT)], np.uint64)

    def one() -> int:
        return int(ensemble.one_walk(graph, 0, random, steps))

    def many() -> None:
        at = np.arange(ensemble.IN_FLIGHT, dtype=np.uint32)
        ensemble.advance_all(spans, network.who, at, randoms.copy(), steps // ensemble.IN_FLIGHT)

    work = f"pure walk, n = {network.n}, {steps:,} steps"
    implementations: dict[str, Callable[[], object]] = {"halfway, one walk": one}
    crowd = {"halfway, one walk": one, f"halfway, {ensemble.IN_FLIGHT} in flight": many}
    if c:
        c.one_walk.restype = ctypes.c_uint32

        def in_c() -> int:
            at = c.one_walk(
                pointer(network.start), pointer(network.who), ctypes.c_uint32(0),
                ctypes.c_uint64(int(random)), ctypes.c_int64(steps),
            )  # fmt: skip
            return int(at)

        assert in_c() == one(), "C and halfway must end on the same node"
        implementations[YARDSTICK] = in_c
    rows = race(implementations, work, rounds, steps)
    return rows + race(crowd, f"{work} in all", rounds, steps)


def pairs(network: Network, system: str, rounds: int, c: ctypes.CDLL | None) -> list[Row]:
    """Race pairs of walks until they meet ('heard', equal speed), with warm tables."""
    table = weight_table(network) if system == "directional" else None
    memory = choices.directional_memory(table) if table else choices.pure_memory()
    trails, graph = new_trails(network.n), Graph(network.start, network.who)
    walks, ends = pair_kernels.pair_of_walks(), distinct_pairs(network.n, PAIRS, SEED)
    steps, nodes = np.empty(PAIRS, np.int64), np.empty(PAIRS, np.int64)
    rule, found = pair_kernels.MeetingRule(1, True, NOT_MET), pair_kernels.Meetings(steps, nodes)

    def in_numba() -> None:
        pair_kernels.meetings(memory, trails, graph, walks, ends, np.uint64(SEED), rule, found)

    in_numba()
    total, where = int(steps.sum()), nodes.copy()
    implementations: dict[str, Callable[[], object]] = {f"halfway, {system}": in_numba}
    if c:
        implementations[YARDSTICK] = in_c(c, network, table, ends, steps, nodes)
        implementations[YARDSTICK]()
        assert (int(steps.sum()), list(nodes)) == (total, list(where)), "not the same walks"
    work = f"{PAIRS:,} {system} pairs, n = {network.n}, {total:,} steps"
    return race(implementations, work, rounds, total)


def in_c(
    c: ctypes.CDLL,
    network: Network,
    table: WeightTable | None,
    ends: np.ndarray,
    steps: np.ndarray,
    nodes: np.ndarray,
) -> Callable[[], object]:
    """Return the results of the same pairs of walks in C, with separate arrays."""
    mine, stamp = new_trails(network.n), [0]
    tables: Sequence[np.ndarray | None] = [None] * 7
    if table:
        own = choices.directional_memory(table)
        tables = [
            table.base_at,
            table.ties_at,
            table.base,
            table.ties,
            own.passed,
            own.raised_by,
            own.row,
        ]
    fixed: list[ctypes.c_void_p | None] = [
        pointer(a) for a in (network.start, network.who, mine.mark, mine.back, mine.order)
    ]
    fixed += [None if a is None else pointer(a) for a in tables]

    def implementation() -> None:
        c.meetings(
            *fixed, ctypes.c_uint32(stamp[0]), pointer(ends), ctypes.c_int64(PAIRS),
            ctypes.c_uint64(SEED), ctypes.c_int64(1), pointer(steps), pointer(nodes),
        )  # fmt: skip
        stamp[0] += PAIRS

    return implementation


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Return the address of a walk's array, which must outlive the call."""
    return array.ctypes.data_as(ctypes.c_void_p)


def main() -> None:
    """Run every race of walks and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one line per implementation")
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
