"""How far apart two points of a set can be: exact, without comparing all pairs."""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel


def farthest(position: npt.NDArray[np.float64]) -> float:
    """The largest Euclidean distance between two of the points [n, 2], in their unit; 0 for one."""
    if len(position) < 2:
        return 0.0
    middle = (position.min(axis=0) + position.max(axis=0)) / 2
    away = np.hypot(*(position - middle).T)
    known = float(away.max())  # a pair is at least as far apart as the farthest is from the middle
    # Whoever is in the farthest pair is at least known - max(away) away, a bound that grows with
    # every better pair; so the points are met from the outside inwards.
    order = np.argsort(-away, kind="stable")
    return float(np.sqrt(_farthest(position[order], away[order], known)))


@kernel
def _farthest(position, away, known):
    best = known * known
    for i in range(position.shape[0]):
        for j in range(i):
            reach = away[i] + away[j]
            if reach * reach < best:
                break  # all that follow are nearer to the middle still
            x = position[i, 0] - position[j, 0]
            y = position[i, 1] - position[j, 1]
            best = max(best, x * x + y * y)
    return best
