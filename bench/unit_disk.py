"""Unit disk graphs from given points: halfway, C, scipy, igraph and networkx compared.

python bench/unit_disk.py [--json] [--rounds N] [--small]
"""

import argparse
import ctypes
import math
from collections.abc import Callable
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from halfway.world.graphs.unit_disk import draw_positions, unit_disk
from side_by_side import c_library, race, remark, show

Points = npt.NDArray[np.float64]


class Rows:
    """Compressed rows that C allocated. They are freed with the object, after the clock stopped."""

    def __init__(self, library: ctypes.CDLL, who: ctypes.c_void_p, entries: int) -> None:
        self.compiled, self.who, self.entries = library, who, entries

    def __del__(self) -> None:
        self.compiled.forget(self.who)


def with_c(library: ctypes.CDLL, points: Points, radius: float) -> Rows:
    """Return the unit disk graph by the cell grid in C, through ctypes."""
    n = len(points)
    start = np.empty(n + 1, np.uint32)
    ordered, label = np.empty((n, 2)), np.empty(n, np.int32)
    who = ctypes.c_void_p()
    library.unit_disk.restype = ctypes.c_int64
    entries = library.unit_disk(
        ctypes.c_uint32(n),
        ctypes.c_void_p(points.ctypes.data),
        ctypes.c_double(radius),
        ctypes.c_void_p(start.ctypes.data),
        ctypes.byref(who),
        ctypes.c_void_p(ordered.ctypes.data),
        ctypes.c_void_p(label.ctypes.data),
    )
    return Rows(library, who, int(entries))


def with_kd_tree(points: Points, radius: float) -> csr_array:
    """Return the unit disk graph by scipy: all pairs from the k-d tree, then compressed rows."""
    pair = cKDTree(points).query_pairs(radius, output_type="ndarray")
    ends = np.concatenate((pair, pair[:, ::-1]))
    ones = np.ones(len(ends), np.int8)
    return csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(len(points), len(points)))


def candidates(points: Points, radius: float, library: ctypes.CDLL | None) -> dict[str, Callable]:
    """Return the libraries' unit disk graphs of the same points; igraph's GRG draws its own
    points.
    """
    n = len(points)
    found: dict[str, Callable] = {"halfway": lambda: unit_disk(points, radius)}
    if library is not None:
        found["C"] = lambda: with_c(library, points, radius)
    found["scipy cKDTree"] = lambda: with_kd_tree(points, radius)
    found["igraph, given points"] = lambda: igraph.Graph.Nearest_Neighbor_Graph(
        points, k=-1, r=radius
    )
    found["igraph GRG, own points"] = lambda: igraph.Graph.GRG(n, radius)
    if n <= 10_000:  # a dict of dicts of a million nodes takes several GB
        where = {i: (x, y) for i, (x, y) in enumerate(points.tolist())}
        found["networkx"] = lambda: nx.random_geometric_graph(n, radius, pos=where)
    else:
        remark(f"networkx is skipped at n = {n:,}: its graph alone would take several GB")
    return found


def check_links(points: Points, radius: float, library: ctypes.CDLL | None) -> int:
    """Return the number of links, after checking that all libraries find as many for the same
    points.
    """
    links = unit_disk(points, radius).links
    others = {"scipy": with_kd_tree(points, radius).nnz // 2}
    others["igraph"] = igraph.Graph.Nearest_Neighbor_Graph(points, k=-1, r=radius).ecount()
    if library is not None:
        others["C"] = with_c(library, points, radius).entries // 2
    wrong = {name: count for name, count in others.items() if count != links}
    if wrong:
        raise SystemExit(f"halfway finds {links} links, but others differ: {wrong}")
    return links


def main() -> None:
    """Race unit disk graphs at the paper's largest size and at a million nodes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=0, help="rounds of each race (31 and 5)")
    parser.add_argument("--small", action="store_true", help="skip the million nodes")
    wanted = parser.parse_args()
    library = c_library(Path(__file__).with_suffix(".c"))
    races = [(3000, 0.04, 31), (1_000_000, math.sqrt(15 / math.pi / 1e6), 5)]
    rows = []
    for n, radius, rounds in races[: 1 if wanted.small else 2]:
        points = draw_positions(n, seed=1)
        links = check_links(points, radius, library)
        work = f"unit disk graph, n = {n:,}, r = {radius:.3g}, {links:,} links"
        field = candidates(points, radius, library)
        rows += race(field, work, wanted.rounds or rounds, units=n)
    show(rows, wanted.json, unit="node")


if __name__ == "__main__":
    main()
