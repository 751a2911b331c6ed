"""The components of a network: the component of each row, the largest component, and
subnetworks.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.world.graphs.breadth_first import mark_reachable
from halfway.world.graphs.network import Network

_u4 = np.uint32


def connected(network: Network) -> bool:
    """Return whether a network has one component: all pairs of nodes have a path. A single node is
    connected.
    """
    return bool(reaches_everyone(network.start, network.who))


def components(network: Network) -> npt.NDArray[np.int32]:
    """Return the number of the component of each network row [n].

    Numbers begin at 0, in the order of the lowest rows of the components.
    """
    found: npt.NDArray[np.int32] = _components(network.start, network.who)
    return found


def largest_component(network: Network) -> Network:
    """Return the largest component of a network.

    Of components of equal size, the component with the lowest row counts.
    """
    component = components(network)
    rows = np.flatnonzero(component == np.bincount(component).argmax())
    return network if len(rows) == network.n else subnetwork(network, rows)


def subnetwork(network: Network, rows: npt.NDArray[np.integer]) -> Network:
    """Return the subnetwork of some rows (ascending), such as a component, with their labels and
    positions.
    """
    kept = np.zeros(network.n, np.bool_)
    kept[rows] = True
    new_row = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    end = np.repeat(np.arange(network.n), network.degree)
    inside = kept[end] & kept[network.who]
    degree = np.bincount(new_row[end[inside]], minlength=len(rows))
    return replace(
        network,
        start=np.concatenate(([0], np.cumsum(degree))).astype(np.uint32),
        who=new_row[network.who[inside]],
        position=None if network.position is None else network.position[rows],
        labels=rows.astype(np.int32) if network.labels is None else network.labels[rows],
    )


@kernel
def reaches_everyone(start, who):
    """Return whether a network has one component, as row 0 reaches every row."""
    n = start.shape[0] - 1
    component = np.full(n, -1, np.int32)
    return np.int64(mark_reachable(start, who, _u4(0), 0, 0, component, np.empty(n, np.int32))) == n


@kernel
def _components(start, who):
    n = start.shape[0] - 1
    component = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    number = 0
    for i in range(n):
        if component[i] < 0:
            mark_reachable(start, who, _u4(i), number, 0, component, queue)
            number += 1
    return component
