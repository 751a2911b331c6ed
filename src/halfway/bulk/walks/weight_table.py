"""The table of weights n_xz of directional walks, for all pairs of neighbours of every node.

[drw Fig. 3, Initialization] A step of a walk is then a look-up. The first passage of a link uses
weights without raises, so this module finds the least weights once. `docs/decisions/0005` has the
measurements.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.problem import Problem
from halfway.protocols.walks.directional_walk import least
from halfway.world.graphs.network import Network

MOST_DEGREE = 32_767  # a weight is at most twice a degree, and is kept in 16 bits
MOST_WEIGHTS = 1 << 30  # 2 GiB of weights; places in the table have 32 bits


class WeightTable(NamedTuple):
    """The table of weights of directional walks (from x, at y, to z), where a directed link e = x→y
    is its place in `who`.
    """

    base_at: npt.NDArray[np.uint32]  # [m+1] where the weights of link e begin in `base`
    base: npt.NDArray[np.uint16]  # n_xz for z ∈ N(y), in the order of y's neighbours
    ties_at: npt.NDArray[np.uint32]  # [m+1] where the ties of link e begin in `ties`
    ties: npt.NDArray[np.uint16]  # positions in N(y) with the least weight


def weight_table(network: Network) -> WeightTable:
    """Return the weight table of a network, which has Σ deg² weights.

    The time also grows with the two-hop neighbourhoods.

    Raises Problem for a network whose table would be too large.
    """
    degree = network.degree
    _check_size(network.name, degree)
    base_at = np.zeros(len(network.who) + 1, np.uint32)
    np.cumsum(degree[network.who], out=base_at[1:], dtype=np.uint32)
    base = np.empty(base_at[-1], np.uint16)
    ties_at = np.empty_like(base_at)
    ties = np.empty_like(base)
    scratch = np.zeros(network.n, np.uint16)
    row = np.empty(max(int(degree.max(initial=0)), 1), np.uint16)
    _fill(network.start, network.who, base_at, base, ties_at, ties, scratch, row)
    return WeightTable(base_at, base, ties_at, ties[: ties_at[-1]].copy())


def _check_size(name: str, degree: npt.NDArray[np.int64]) -> None:
    widest, whole = int(degree.max(initial=0)), int((degree.astype(np.uint64) ** 2).sum())
    if widest > MOST_DEGREE or whole > MOST_WEIGHTS:
        raise Problem(
            f"the table of a directional walk needs {whole:,} weights, and a node has {widest:,} "
            f"neighbours: expected at most {MOST_WEIGHTS:,} weights and "
            f"{MOST_DEGREE:,} neighbours",
            where=name,
            remedy="use a sparser network, or random walks",
        )


@kernel
def _fill(start, who, base_at, base, ties_at, ties, common, row):
    """Fill the weight table of directional walks; `common` [n] has n_xz for the present x, and is 0
    between two x.
    """
    end = np.uint32(0)
    for x in range(np.uint32(start.shape[0] - 1)):
        first, last = start[x], start[np.uint32(x + 1)]
        for e in range(first, last):
            y = np.uint32(who[e])
            for f in range(start[y], start[np.uint32(y + 1)]):
                common[np.uint32(who[f])] += np.uint16(1)
        for e in range(first, last):
            common[np.uint32(who[e])] += np.uint16(last - first)
        for e in range(first, last):
            y = np.uint32(who[e])
            ties_at[e] = end
            degree = start[np.uint32(y + 1)] - start[y]
            # The walk may go back to x itself: x ∉ N(x), so the weight of x is deg(x).
            for p in range(degree):
                row[p] = common[np.uint32(who[start[y] + p])]
                base[base_at[e] + p] = row[p]
            minimum, _ = least(row, degree)
            for p in range(degree):
                if row[p] == minimum:
                    ties[end] = p
                    end += np.uint32(1)
        for e in range(first, last):
            y = np.uint32(who[e])
            common[y] = 0
            for f in range(start[y], start[np.uint32(y + 1)]):
                common[np.uint32(who[f])] = 0
    ties_at[ties_at.shape[0] - 1] = end
