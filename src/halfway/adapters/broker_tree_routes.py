"""The paths of a run of a broker tree, chosen once by the overlay's Join and the underlay's routes.

Routers know where every broker is. Routes do not change during a run, as the paper presumes.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.join import avoided, beside, join, link_avoided
from halfway.bulk.broker_trees.overlay import NO_BROKER, Overlay, Rules
from halfway.protocols.broker_trees.source_routes import NodePath, Routes, routes
from halfway.world.graphs.network import Network
from halfway.world.graphs.statistics import components
from halfway.world.underlays.routes import Rows, Tree, path, shortest, shortest_from
from halfway.world.underlays.underlay import Underlay

Int32s = npt.NDArray[np.int32]


def largest_component(network: Network) -> Int32s:
    """Rows of the largest component, which broker tree routes stay in, ascending."""
    component = components(network)
    return np.flatnonzero(component == np.bincount(component).argmax()).astype(np.int32)


def drawn_overlay(network: Network, brokers: int, seed: int) -> Overlay:
    """The drawn overlay of a broker tree's routes: brokers on distinct uniform nodes of the largest
    component, joined in order of drawing."""
    # Delays and bandwidths do not matter for routes of fewest hops.
    some = np.ones(len(network.who))
    overlay = Overlay(Underlay(network, some, some), Rules())
    for row in np.random.default_rng(seed).permutation(largest_component(network))[:brokers]:
        join(overlay, int(row))
    return overlay


def routes_of(overlay: Overlay, clients: Int32s, known_brokers: int = 1) -> Routes:
    """Return every route that a broker tree may need; brokers by number, clients' nodes by row.

    A client's broker is the nearest in hops, of equally near ones the first that joined; without a
    reachable broker there is no path. Of up to `known_brokers` brokers that a client knows, the
    others are the nearest on paths that avoid the first one's, then the nearest on any path. Second
    paths lead to all possible parents: the brokers above and, below the root, its other children.
    """
    network = overlay.underlay.network
    rows = np.array([overlay[k].row for k in range(overlay.joined)], np.int32)
    trees = shortest_from(network, overlay.hop, rows)
    pairs = combinations(range(len(rows)), 2)
    direct = {(a, b): path(trees[a], int(rows[b])) for a, b in pairs}
    for k, broker in overlay.brokers.items():
        for other, taken in ((broker.parent, broker.direct), (broker.grandparent, broker.upper)):
            if other != NO_BROKER and taken is not None:
                direct.pop((min(k, other), max(k, other)), None)
                direct[k, other] = taken.rows
    second: dict[tuple[int, int], Rows] = {}
    for a, b in _possible_parents(overlay):
        own = overlay[a].second
        if b == overlay[a].parent and own is not None:
            second[a, b] = own.rows
        else:
            leading = direct[a, b] if (a, b) in direct else direct[b, a][::-1]
            second[a, b] = beside(overlay, leading)
    second = {pair: names for pair, names in second.items() if len(names)}
    first = _nearest_brokers(trees, rows, clients)
    known = {
        client: _paths_to_brokers(overlay, rows, taken, known_brokers)
        for client, taken in first.items()
    }
    return routes(network.n, rows, direct, second, known)


def _possible_parents(overlay: Overlay) -> list[tuple[int, int]]:
    pairs = [(k, above) for k in overlay.brokers for above in overlay.ancestors(k)]
    top = overlay.children(overlay.root)
    return pairs + [(a, b) for a in top for b in top if a > b]


def _nearest_brokers(trees: list[Tree], rows: Int32s, clients: Int32s) -> dict[int, Rows]:
    hops = np.stack([tree.weight[clients] for tree in trees])
    nearest = hops.argmin(axis=0)
    taken = set(rows.tolist())
    return {
        int(client): path(trees[k], int(client))[::-1]
        for client, k, least in zip(clients, nearest, hops.min(axis=0), strict=True)
        if int(client) not in taken and np.isfinite(least)
    }


def _paths_to_brokers(overlay: Overlay, rows: Int32s, first: Rows, most: int) -> list[NodePath]:
    """A client's paths to at most `most` brokers of the tree, given the path to its nearest one."""
    if most == 1:
        return [first]
    network, own = overlay.underlay.network, int(first[0])
    with avoided(overlay, first[1:]), link_avoided(overlay, first):
        past = shortest(network, overlay.hop, own, overlay.closed)
    found: dict[int, NodePath] = {int(first[-1]): first}
    for tree in (past, shortest(network, overlay.hop, own, overlay.closed)):
        for k in np.argsort(tree.weight[rows], kind="stable"):
            row = int(rows[k])
            if len(found) < most and row not in found and np.isfinite(tree.weight[row]):
                found[row] = path(tree, row)
    return list(found.values())
