"""Networks by their cells, for the tests of GeoRendezvous."""

from dataclasses import replace

import numpy as np

from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk


def network_of(cells: list[tuple[int, int]], radius: float = 0.5) -> Network:
    """A network with a node in each of the given cells (column, row); a cell may be given again.

    Rows follow the order of cells in a unit disk graph, not the order given.
    """
    side = radius * 0.35355339059327
    seen: dict[tuple[int, int], int] = {}
    position = []
    for x, y in cells:
        again = seen[x, y] = seen.get((x, y), 0) + 1
        position.append((side * (x + 0.1 * (again % 9 + 1)), side * (y + 0.5)))
    return replace(unit_disk(np.array(position), radius), labels=None)
