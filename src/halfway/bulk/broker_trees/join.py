"""The join of a bulk broker [uas §4, Algorithm 1]: the broker finds its parent, its alternate and
its grandparent.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import (
    NO_BROKER,
    Broker,
    Overlay,
    UnderlayPath,
    connected,
    linked,
)
from halfway.problem import Problem
from halfway.protocols.broker_trees.paths.decisions import is_nearer
from halfway.world.underlays.disjoint import disjoint_pair
from halfway.world.underlays.routes import Flags, Rows, Tree, path, places_on, route, shortest


def join(overlay: Overlay, row: int) -> int:
    """Join a broker on a node to the bulk overlay and return its number; the first broker becomes
    the root.

    [uas §4] the parent is the nearest broker in IP hops; of equally near brokers, the first that
    joined. Raises Problem for a node that is down, that has a broker, or that reaches no broker.
    """
    _check_row(overlay, row)
    broker = Broker(overlay.joined, row)
    if overlay.root == NO_BROKER:
        overlay.root = broker.number
    else:
        tree = shortest(overlay.underlay.network, overlay.hop, row, overlay.closed)
        parent = nearest(overlay, tree, sorted(connected(overlay)))
        if parent == NO_BROKER:
            label = overlay.underlay.network.label(row)
            what = f"node {label} reaches no broker that reaches the root"
            raise Problem(what, remedy="let the broker join after the faults on its routes end")
        attach(overlay, broker, parent, tree)
    overlay.brokers[broker.number] = broker
    overlay.joined += 1
    if overlay.rules.retry and broker.parent != NO_BROKER:
        retry_below(overlay, broker.parent)
    return broker.number


def nearest(overlay: Overlay, tree: Tree, numbers: list[int]) -> int:
    """Return the candidate for the parent of a joining broker that is nearest to the source of the
    shortest path tree, by the decision `is_nearer` of the messages; or NO_BROKER.
    """
    broker, least = NO_BROKER, np.inf  # no broker that cannot be reached is nearer than this
    for number in numbers:
        hops = tree.weight[overlay[number].row]
        if is_nearer(hops, number, least, broker):
            broker, least = number, float(hops)
    return broker


def attach(overlay: Overlay, broker: Broker, parent: int, tree: Tree | None = None) -> None:
    """[uas §4, Algorithm 1] Make a joining broker the child of `parent`, and search for y and z.

    tree: the shortest paths from the joining broker, if known. Raises RuntimeError for a parent
    below the broker, which would form a cycle.
    """
    if overlay.is_below(parent, broker.number):
        raise RuntimeError(f"broker {parent} is below broker {broker.number}")
    overlay.brokers[broker.number] = broker
    broker.parent = parent
    network = overlay.underlay.network
    broker.direct = broker.second = broker.upper = None
    broker.alternate = broker.grandparent = NO_BROKER
    if overlay.closed.rows[broker.row]:
        return
    if tree is None:
        tree = shortest(network, overlay.hop, broker.row, overlay.closed)
    if overlay.is_up(parent):
        broker.direct = overlay.route(path(tree, overlay[parent].row))
        choose_second(overlay, broker, tree)
    choose_upper(overlay, broker, tree)


def retry_below(overlay: Overlay, parent: int) -> None:
    """[remedy of the join] Choose the missing alternates of a broker's children again, after
    another broker's join made a new candidate.
    """
    for child in overlay.children(parent):
        if overlay[child].second is None:
            choose_second(overlay, overlay[child])


def choose_second(overlay: Overlay, broker: Broker, tree: Tree | None = None) -> None:
    """[uas §4] Find Alternate in the join of a broker: the parent's nearest neighbour by a path
    disjoint of x.

    `tree` as in `attach`. Without such a neighbour and without a remedy, `second` is None.
    """
    broker.alternate, broker.second, broker.bend = NO_BROKER, None, 0
    direct = broker.direct
    if direct is None or not direct.is_open(overlay.closed) or not overlay.is_up(broker.parent):
        return
    _choose_alternate(overlay, broker, direct, tree)
    if broker.second is None and overlay.rules.bare_path:
        _choose_bare(overlay, broker, direct)


def candidates(overlay: Overlay, broker: Broker) -> list[int]:
    """Return the candidates for the alternate of a joining broker, ascending. Candidates are the
    live neighbours of the parent, except the broker and the brokers below it.
    """
    return sorted(
        number
        for number in overlay.neighbours(broker.parent)
        if overlay.is_up(number) and not overlay.is_below(number, broker.number)
    )


def _choose_alternate(
    overlay: Overlay, broker: Broker, direct: UnderlayPath, first: Tree | None
) -> None:
    """Set the `second` path of a joining broker to the path through its nearest candidate. first:
    the shortest paths of the broker.
    """
    network, interpretation = overlay.underlay.network, overlay.rules.interpretation
    inner, parent = direct.rows[1:-1], overlay[broker.parent].row
    alternates = candidates(overlay, broker)
    if not alternates:
        return
    # [uas §3.1] "tested": the legs are the routes of the routers, which are disjoint only by
    # chance.
    if interpretation != "tested":
        with avoided(overlay, [*inner, parent]):
            first = shortest(network, overlay.hop, broker.row, overlay.closed)
    elif first is None:
        first = shortest(network, overlay.hop, broker.row, overlay.closed)
    if interpretation == "free":
        with avoided(overlay, [*inner, broker.row]):
            last = shortest(network, overlay.hop, parent, overlay.closed)
    near = first.weight
    if overlay.rules.proximity == "hops":
        near = shortest(network, overlay.hop, broker.row, overlay.closed).weight
    for number in alternates:
        hops, best = near[overlay[number].row], broker.alternate
        if best != NO_BROKER and not is_nearer(hops, number, near[overlay[best].row], best):
            continue
        leg = path(first, overlay[number].row)
        if interpretation == "free":
            link = path(last, overlay[number].row)[::-1].copy()
        else:
            link = _link_to_parent(overlay, broker, number)
        if not len(leg) or not len(link) or parent in leg or broker.row in link:
            continue
        if not np.isin(inner, np.concatenate((leg, link))).any():
            broker.alternate, broker.bend = number, len(leg) - 1
            broker.second = overlay.route(np.concatenate((leg, link[1:])))


def _link_to_parent(overlay: Overlay, broker: Broker, alternate: int) -> Rows:
    """Return the rows from alternate to parent under their overlay link, for a join; no rows if the
    link is down.
    """
    for here, other in ((alternate, broker.parent), (broker.parent, alternate)):
        for end, rows in linked(overlay[here]):
            in_tree = end == overlay[here].parent
            if end == other and (in_tree or overlay.rules.neighbours == "links"):
                route = overlay.route(rows)
                if route is not None and route.is_open(overlay.closed):
                    return rows if here == alternate else rows[::-1].copy()
    return np.empty(0, np.int32)


def _choose_bare(overlay: Overlay, broker: Broker, direct: UnderlayPath) -> None:
    broker.second = overlay.route(beside(overlay, direct.rows))
    if broker.second is not None:
        return
    # We may move x as well, because the shortest path can block every second path. If the underlay
    # has cut nodes or bridges, both paths share these and nothing else.
    pair = _least_shared(overlay, direct)
    if pair is not None:
        broker.direct, broker.second = overlay.route(pair[0]), overlay.route(pair[1])


def _least_shared(overlay: Overlay, direct: UnderlayPath) -> tuple[Rows, Rows] | None:
    """Return two paths of a joining broker that share only the elements of every path between the
    two ends.
    """
    network, stops = overlay.underlay.network, [int(direct.rows[0])]
    for row in direct.rows[1:-1].tolist():
        with avoided(overlay, [row]):
            detour = route(network, overlay.hop, stops[0], int(direct.rows[-1]), overlay.closed)
        if not len(detour):
            stops.append(row)
    stops.append(int(direct.rows[-1]))
    first_parts, second_parts = [direct.rows[:1]], [direct.rows[:1]]
    for a, b in pairwise(stops):
        pair = disjoint_pair(network, overlay.hop, a, b, overlay.closed)
        bridge = np.array([a, b], np.int32)  # no cut node between them and no two paths: one link
        first_parts.append((bridge if pair is None else pair[0])[1:])
        second_parts.append((bridge if pair is None else pair[1])[1:])
    first, second = np.concatenate(first_parts), np.concatenate(second_parts)
    return None if np.array_equal(first, second) else (first, second)


def choose_upper(overlay: Overlay, broker: Broker, tree: Tree | None = None) -> None:
    """[uas §4] Find Node_disjointPath(P, C) in the join of a broker: a path to the grandparent that
    does not pass the parent.
    """
    broker.grandparent, broker.upper = NO_BROKER, None
    if broker.parent == NO_BROKER or overlay.closed.rows[broker.row]:
        return
    parent = overlay[broker.parent]
    if not overlay.is_up(parent.parent):
        return
    broker.grandparent, target = parent.parent, overlay[parent.parent].row
    network = overlay.underlay.network
    if overlay.rules.interpretation == "tested":
        if tree is None:
            rows = route(network, overlay.hop, broker.row, target, overlay.closed)
        else:
            rows = path(tree, target)
        if parent.row in rows:
            return
    else:
        with avoided(overlay, [parent.row]):
            rows = route(network, overlay.hop, broker.row, target, overlay.closed)
    broker.upper = overlay.route(rows)


def beside(overlay: Overlay, rows: Rows) -> Rows:
    """Return the shortest path that shares only its ends with a path of a joining broker."""
    with avoided(overlay, rows[1:-1]), link_avoided(overlay, rows):
        ends = int(rows[0]), int(rows[-1])
        return route(overlay.underlay.network, overlay.hop, *ends, overlay.closed)


def avoided(overlay: Overlay, rows: list[int] | Rows) -> AbstractContextManager[None]:
    """Close the rows of the underlay that the path of a joining broker must avoid."""
    return _closed(overlay.closed.rows, np.asarray(rows, np.int64))


def link_avoided(overlay: Overlay, rows: Rows) -> AbstractContextManager[None]:
    """Close the link under a joining broker's path of one hop, for the search of a second path."""
    one_hop = rows if len(rows) == 2 else rows[:0]
    return _closed(overlay.closed.places, places_on(overlay.underlay.network, one_hop))


@contextmanager
def _closed(flags: Flags, some: npt.NDArray[np.integer]) -> Iterator[None]:
    before = flags[some]
    flags[some] = True
    try:
        yield
    finally:
        flags[some] = before


def _check_row(overlay: Overlay, row: int) -> None:
    network = overlay.underlay.network
    if not 0 <= row < network.n:
        raise Problem(
            f"node {row} does not exist: expected 0 to {network.n - 1}", where=network.name
        )
    if overlay.closed.rows[row]:
        raise Problem(f"node {network.label(row)} is down: expected a node that is up")
    if any(broker.row == row for broker in overlay.brokers.values()):
        raise Problem(f"node {network.label(row)} already has a broker: expected another node")
