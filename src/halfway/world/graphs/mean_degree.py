"""The radius at which a unit disk graph in the unit square has a given mean degree."""

import math

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem


def neighbour_probability(radius: float) -> float:
    """Return P(distance of two uniform points of the unit square < `radius` <= 1), with borders,
    from which the mean degree follows.

    The distribution of the distance of two points in a square: π r² - 8/3 r³ + r⁴/2.
    """
    return radius * radius * (math.pi - radius * (8.0 / 3.0 - radius / 2.0))


def radius_of_degree(n: int, degree: float) -> float:
    """Return the radius, in sides of the square, for a mean `degree` among n nodes.

    Raises Problem where no radius up to 1 reaches that degree.
    """
    most = max(n - 1, 0) * neighbour_probability(1.0)
    if not 0 < degree <= most:
        if n < 2:
            raise Problem(f"degree = {degree:g}, n = {n}: expected at least 2 nodes")
        what = f"degree = {degree:g}: expected a mean degree above 0 and at most {most:.4g}"
        raise Problem(f"{what}, which n = {n} nodes have at radius 1")
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if (n - 1) * neighbour_probability(middle) < degree:
            low = middle
        else:
            high = middle
    return high


def distance_to_neighbours(position: npt.NDArray[np.float64], neighbours: int) -> float:
    """Return the radius at which half of the nodes of a unit disk graph have at least a given
    degree.

    position: [n, 2]; with fewer nodes, the distance to the farthest one. For less than 2 nodes the
    result is 1.
    """
    if len(position) < 2:
        return 1.0
    from scipy.spatial import cKDTree

    nearest = min(neighbours, len(position) - 1) + 1  # a node is its own nearest
    gap, _ = cKDTree(position).query(position, k=[nearest])
    return float(np.median(gap))
