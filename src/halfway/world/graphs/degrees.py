"""The degrees of a network in five numbers."""

from typing import NamedTuple

import numpy as np

from halfway.world.graphs.network import Network


class DegreeStatistics(NamedTuple):
    """Statistics of a network's degrees."""

    least: int
    mean: float
    median: float
    most: int
    isolated: int  # nodes without a neighbour


def degree_statistics(network: Network) -> DegreeStatistics:
    """Return the statistics of a network's degrees: least, mean, median, greatest, and number of
    isolated nodes.
    """
    degree = network.degree
    least, most, isolated = degree.min(), degree.max(), np.count_nonzero(degree == 0)
    middle = float(degree.mean()), float(np.median(degree))
    return DegreeStatistics(int(least), *middle, int(most), int(isolated))
