"""The layout of a network for drawing: its positions, or a layout by distances in hops."""

import numpy as np
import numpy.typing as npt

from halfway.world.graphs.network import Network

_PIVOTS = 60
_POLISHED = 600  # maximum number of nodes for stress majorisation over all pairs
_ROUNDS = 60

Doubles = npt.NDArray[np.float64]


def positions(network: Network) -> Doubles:
    """Return [n, 2]: the layout of a network, its positions if all are known, else `by_hops`.

    Equal networks get equal layouts.
    """
    own = network.position
    if own is not None and own.shape == (network.n, 2) and np.isfinite(own).all():
        return own
    return by_hops(network)


def by_hops(network: Network) -> Doubles:
    """Return [n, 2]: a layout whose distances are close to the distances in hops: pivot MDS, and
    more rounds for small n.

    Source: Brandes and Pich, "Eigensolver methods for progressive multidimensional scaling of
    large data", 2007; and stress majorisation (Gansner, Koren, North 2004).
    """
    n = network.n
    pivots = n if n <= _POLISHED else _PIVOTS
    hops = _distances(network, pivots)
    squares = hops**2
    centred = squares - squares.mean(0) - squares.mean(1, keepdims=True) + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        return np.zeros((n, 2))
    place = -0.5 * centred @ axes
    # The sign of an eigenvector is arbitrary: place the first node of the maximum on the left.
    place *= np.where(place[np.abs(place).argmax(0), [0, 1]] > 0, -1.0, 1.0)
    place *= hops.max() / max(float(np.ptp(place)), 1e-12)
    return _polished(place, hops) if pivots == n else place


def _distances(network: Network, pivots: int) -> Doubles:
    """Return [n, pivots]: hops from pivots that are far apart, for the layout; large across
    components.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = network.n
    rows = (np.ones(len(network.who)), network.who, network.start.astype(np.int64))
    graph = csr_array(rows, shape=(n, n))
    columns, nearest, pivot = [], np.full(n, np.inf), int(np.argmax(network.degree))
    for _ in range(pivots):
        hops = dijkstra(graph, indices=pivot, unweighted=True)
        columns.append(hops)
        nearest = np.minimum(nearest, hops)
        pivot = int(np.argmax(nearest))
    distances = np.stack(columns, axis=1)
    if pivots == n:  # every pair, in the order of the rows, for the stress
        distances = dijkstra(graph, unweighted=True)
    known = distances[np.isfinite(distances)]
    distances[~np.isfinite(distances)] = 1.3 * max(float(known.max()), 1.0)
    return distances


def _polished(place: Doubles, hops: Doubles) -> Doubles:
    """Return a layout after stress majorisation with the weights 1 / hops²: near pairs
    count more.
    """
    weight = 1.0 / np.maximum(hops, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    total = weight.sum(1)
    # Separates nodes with equal distances to all others.
    turn = np.arange(len(place))
    place = place + 1e-3 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for _ in range(_ROUNDS):
        away = place[:, None, :] - place[None, :, :]
        length = np.maximum(np.sqrt((away**2).sum(2)), 1e-9)
        pull = (weight * hops / length)[:, :, None] * away
        place = (weight @ place + pull.sum(1)) / total[:, None]
    return place
