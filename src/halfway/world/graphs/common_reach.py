"""The common reach of a network: the distance within which all pairs of nodes are linked."""

import numpy as np

from halfway.world.graphs.extent import farthest
from halfway.world.graphs.network import Network

_ROWS_AT_ONCE = 4096


def common_reach(network: Network) -> float:
    """Return the common reach of a network: the largest distance r below which all pairs of nodes
    are linked.

    On a unit disk graph, r is at least the radius. If two nodes at one point are not linked, r is
    0. If all pairs are linked, r exceeds every distance. The network must have positions.
    """
    from scipy.spatial import cKDTree

    position = np.asarray(network.position)
    n, tree = network.n, cKDTree(position)
    rows = np.repeat(np.arange(n, dtype=np.int64), network.degree)
    links = rows * n + network.who  # ascending, as `who` is within a row
    ended = np.append(links, -1)  # no pair equals the entry after the last link
    best = np.inf
    order = np.argsort(network.degree, kind="stable")
    for first in range(0, n, _ROWS_AT_ONCE):
        chunk = order[first : first + _ROWS_AT_ONCE]
        # Of a node's degree + 1 nearest others, at least one is not a neighbour.
        nearest = min(int(network.degree[chunk].max(initial=0)) + 2, n)
        gap, who = tree.query(position[chunk], k=nearest, distance_upper_bound=best)
        gap, who = gap.reshape(len(chunk), -1), who.reshape(len(chunk), -1)
        pairs = chunk[:, None] * n + who
        linked = ended[np.searchsorted(links, pairs)] == pairs
        unlinked = np.isfinite(gap) & (who != chunk[:, None]) & ~linked
        best = min(best, float(gap[unlinked].min(initial=np.inf)))
    return best if np.isfinite(best) else 2.0 * farthest(position) + 1.0
