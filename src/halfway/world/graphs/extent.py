"""The extent of a point set: its exact diameter, without comparing all pairs."""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel


def farthest(position: npt.NDArray[np.float64]) -> float:
    """Return the extent of points [n, 2], the largest distance, in their unit.

    Return 0 for one point.
    """
    if len(position) < 2:
        return 0.0
    middle = (position.min(axis=0) + position.max(axis=0)) / 2
    away = np.hypot(*(position - middle).T)
    known = float(away.max())  # some pair is at least this far apart
    # Both points of the farthest pair are at least known - max(away) from the middle. The bound
    # grows with every better pair, so the points are visited from the outside inwards.
    order = np.argsort(-away, kind="stable")
    return float(np.sqrt(_farthest(position[order], away[order], known)))


@kernel
def _farthest(position, away, known):
    best = known * known
    for i in range(position.shape[0]):
        for j in range(i):
            reach = away[i] + away[j]
            if reach * reach < best:
                break  # all later points are nearer to the middle
            x = position[i, 0] - position[j, 0]
            y = position[i, 1] - position[j, 1]
            best = max(best, x * x + y * y)
    return best
