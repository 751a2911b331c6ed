"""Weighted shortest paths and disjoint pairs on Waxman underlays, compared with C and scipy.

python bench/routes.py [--json] [--rounds N]

All implementations must find the same distances; networkx runs where it takes under a minute.
"""

import argparse
import ctypes
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from halfway.world.underlays.disjoint import disjoint_pair
from halfway.world.underlays.routes import (
    Tree,
    places_on,
    route,
    shortest,
    shortest_from,
    unit_weights,
)
from halfway.world.underlays.underlay import Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from side_by_side import YARDSTICK, Row, c_library, race, show

HERE = Path(__file__).parent
SEED = 7
SOURCES = 20
PAIRS = 20


def trees(underlay: Underlay, rounds: int, c: ctypes.CDLL | None) -> list[Row]:
    """Race shortest path trees from some sources to all nodes of an underlay."""
    network, weight = underlay.network, underlay.delay_s
    sources = np.linspace(0, network.n - 1, SOURCES).astype(np.int64)
    start = network.start.astype(np.int32)
    graph = csr_array((weight, network.who, start), shape=(network.n, network.n))

    def with_halfway() -> list[Tree]:
        return shortest_from(network, weight, sources)

    def with_scipy() -> np.ndarray:
        found, _ = dijkstra(graph, indices=sources, return_predecessors=True)
        return found

    expected = np.array([tree.weight for tree in with_halfway()])
    assert np.array_equal(expected, with_scipy()), "scipy must find the same distances"
    implementations: dict[str, Callable[[], object]] = {
        "halfway": with_halfway,
        "scipy": with_scipy,
    }
    if c:
        implementations[YARDSTICK] = in_c(c, underlay, sources, with_halfway())
    work = f"{SOURCES} sources to all, n = {network.n:,}"
    return race(implementations, work, rounds, SOURCES)


def in_c(
    c: ctypes.CDLL, underlay: Underlay, sources: np.ndarray, expected: list[Tree]
) -> Callable[[], object]:
    """Return the same shortest path trees in C, checked to be equal in every row."""
    network = underlay.network

    def implementation() -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for source in sources:
            weight, parent = np.empty(network.n), np.empty(network.n, np.int32)
            c.shortest(
                ctypes.c_uint32(network.n), pointer(network.start), pointer(network.who),
                pointer(underlay.delay_s), ctypes.c_int32(int(source)), pointer(weight),
                pointer(parent),
            )  # fmt: skip
            found.append((weight, parent))
        return found

    for (weight, parent), tree in zip(implementation(), expected, strict=True):
        assert np.array_equal(weight, tree.weight), "C must find the same distances"
        assert np.array_equal(parent, tree.parent), "C must break ties in the same way"
    return implementation


def pairs(underlay: Underlay, rounds: int) -> list[Row]:
    """Race node-disjoint pairs, single routes, and networkx's min-cost flow on small networks."""
    network = underlay.network
    weight = np.round(underlay.delay_s * 1e9)  # networkx's flows add whole numbers only
    ends = np.random.default_rng(SEED).integers(0, network.n, (PAIRS, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    implementations: dict[str, Callable[[], object]] = {
        "halfway, pair": lambda: [disjoint_pair(network, weight, a, b) for a, b in ends.tolist()],
        "halfway, route": lambda: [route(network, weight, a, b) for a, b in ends.tolist()],
        "halfway, tree": lambda: [shortest(network, weight, a) for a in ends[:, 0].tolist()],
        "halfway, hops": lambda: [
            shortest(network, unit_weights(network), a) for a in ends[:, 0].tolist()
        ],
    }
    if network.n <= 1000:
        graph = split_nodes(underlay, weight)

        def with_networkx() -> list[int]:
            return [flow_weight(graph, a, b) for a, b in ends.tolist()]

        for (a, b), cost in zip(ends.tolist(), with_networkx(), strict=True):
            pair = disjoint_pair(network, weight, a, b)
            assert pair is not None
            assert sum(weight[places_on(network, rows)].sum() for rows in pair) == cost
        implementations["networkx, pair"] = with_networkx
    return race(implementations, f"{len(ends)} pairs of ends, n = {network.n:,}", rounds, len(ends))


def split_nodes(underlay: Underlay, weight: np.ndarray) -> nx.DiGraph:
    """Return the flow network of the underlay: each node is split into an input and an output."""
    graph, network = nx.DiGraph(), underlay.network
    for i in range(network.n):
        graph.add_edge((i, "in"), (i, "out"), capacity=1, weight=0)
    for a, b, cost in zip(underlay.owner, network.who, weight, strict=True):
        graph.add_edge((int(a), "out"), (int(b), "in"), capacity=1, weight=int(cost))
    return graph


def flow_weight(graph: nx.DiGraph, source: int, target: int) -> int:
    """Return the least weight of two disjoint paths, by networkx's network simplex."""
    graph.nodes[source, "out"]["demand"], graph.nodes[target, "in"]["demand"] = -2, 2
    cost = nx.min_cost_flow_cost(graph)
    del graph.nodes[source, "out"]["demand"], graph.nodes[target, "in"]["demand"]
    return int(cost)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Return the address of an underlay's array, which must outlive the call."""
    return array.ctypes.data_as(ctypes.c_void_p)


def main() -> None:
    """Run every race of shortest paths and disjoint pairs, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one line per implementation")
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    c = c_library(HERE / "routes.c")
    rows: list[Row] = []
    for n in (10_000, 100_000):
        side = 1000 if n == 10_000 else 3000
        rows += trees(waxman(Waxman(n=n, side=side), SEED), chosen.rounds, c)
    rows += pairs(waxman(Waxman(n=10_000), SEED), chosen.rounds)
    rows += pairs(waxman(Waxman(n=300), SEED), 1)
    show(rows, chosen.json, "route")


if __name__ == "__main__":
    main()
