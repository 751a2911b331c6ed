"""The conversion of a list of links to a `Network`: compressed rows, without loops or repeated
links.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.world.graphs.components import largest_component
from halfway.world.graphs.import_remarks import OUTSIDE, UNPLACED, left_out_remarks
from halfway.world.graphs.network import Network

_NODES_A_CELL = 2.0


class LinkList(NamedTuple):
    """A list of links and nodes, such as that of a network file, before its conversion to
    compressed rows.
    """

    labels: list[str]  # [n] ids in the source, in order of first appearance
    ends: npt.NDArray[np.int64]  # [links, 2] indices into labels; with loops and repeats
    position: npt.NDArray[np.float64]  # [n, 2], NaN where unknown
    left_out: dict[str, int]  # dropped by the reader: kind -> count
    remarks: tuple[str, ...] = ()  # remarks of the reader for the user


def network_of(listed: LinkList, name: str, *, largest: bool = False) -> Network:
    """Convert a list of links to a simple undirected network, or only to its largest component.

    If all positions are known, rows are in cell order, otherwise in Cuthill-McKee order (breadth
    first from a peripheral node). Either way, near nodes lie near in memory.
    """
    n = len(listed.labels)
    loops = int(np.count_nonzero(listed.ends[:, 0] == listed.ends[:, 1]))
    start, who = _rows(n, listed.ends)
    repeated = len(listed.ends) - loops - len(who) // 2
    left_out = {**listed.left_out, "loops": loops, "repeated links": repeated}
    labels = np.array(listed.labels, dtype=np.str_)
    network = Network(start, who, listed.position, labels, name)
    if largest:
        network = largest_component(network)
        left_out[OUTSIDE] = n - network.n
    assert network.position is not None
    unplaced = np.isnan(network.position).any(axis=1)
    names: dict[str, list[str]] = {}
    if unplaced.any():
        left_out[UNPLACED] = int(unplaced.sum()) if not unplaced.all() else 0
        names[UNPLACED] = _labels(network)[unplaced].tolist()
        network = replace(network, position=None)
    if left_out.get(OUTSIDE):
        names[OUTSIDE] = labels[~np.isin(labels, _labels(network))].tolist()
    counted = {kind: count for kind, count in left_out.items() if count}
    remarks = (*listed.remarks, *left_out_remarks(counted, names))
    reordered_network = reordered(network, near_order(network))
    return replace(reordered_network, left_out=counted, remarks=remarks)


def _labels(network: Network) -> npt.NDArray[np.str_]:
    return np.asarray(network.labels, dtype=np.str_)


def near_order(network: Network) -> npt.NDArray[np.int64]:
    """Return an order of rows, for the conversion of a list of links, in which near nodes lie near:
    by cells, or by links.
    """
    if network.position is None:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        rows = np.ones(len(network.who), np.int8), network.who, network.start.astype(np.int32)
        graph = csr_array(rows, shape=(network.n, network.n))
        order: npt.NDArray[np.int64] = reverse_cuthill_mckee(graph, symmetric_mode=True)
        return order.astype(np.int64)
    x, y = network.position.T
    wide, high = np.ptp(x), np.ptp(y)
    thin = max(wide, high) * 1e-9 or 1.0  # all points on one line or at one point
    bands = np.sqrt(network.n / _NODES_A_CELL * max(high, thin) / max(wide, thin))
    band = (y - y.min()) / max(high, thin) * min(bands, network.n)
    return np.lexsort((x, band.astype(np.int64)))


def reordered(network: Network, order: npt.NDArray[np.int64]) -> Network:
    """Return a network converted from a list of links with the old row order[i] as row i; labels
    and positions move too.
    """
    rank = np.empty(network.n, np.int64)
    rank[order] = np.arange(network.n)
    end = np.repeat(np.arange(network.n), network.degree)
    start, who = _rows(network.n, np.column_stack((rank[end], rank[network.who])))
    return replace(
        network,
        start=start,
        who=who,
        position=None if network.position is None else network.position[order],
        labels=order.astype(np.int32) if network.labels is None else network.labels[order],
    )


def _rows(
    n: int, ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    """Return compressed rows: each undirected link once, no loops, neighbours ascending."""
    a, b = ends[ends[:, 0] != ends[:, 1]].T
    # We sort, because numpy's `unique` hashes and takes 19 times as long at two million links.
    entry = np.sort(np.concatenate((a * n + b, b * n + a)))
    entry = entry[np.diff(entry, prepend=-1) > 0]
    start = np.concatenate(([0], np.cumsum(np.bincount(entry // n, minlength=n))))
    return start.astype(np.uint32), (entry % n).astype(np.int32)
