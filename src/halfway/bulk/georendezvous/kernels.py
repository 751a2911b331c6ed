"""The compiled kernels of bulk GeoRendezvous, which call the decisions in the protocol's module
`cells`.

The kernels are twins of the message-level protocol: a message takes the same cells if no node joins
or leaves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous.maps import CellMap, mask_at
from halfway.core.compiled import inlined, kernel
from halfway.protocols.georendezvous.cells import (
    HOME,
    adjacent_cell,
    cell_of,
    closer,
    decide,
    point_position,
)


class NodesInCells(NamedTuple):
    """The nodes of a network in the cells, as the compiled kernels of bulk GeoRendezvous read
    them.
    """

    mask: npt.NDArray[np.uint8]  # [rows, columns] populated neighbour cells, as bits
    side: float  # of a cell
    position: npt.NDArray[np.float64]  # [n, 2]
    cell: npt.NDArray[np.int64]  # [n, 2] column, row
    key: np.uint64  # of the hashes of topics


@inlined
def masks_of(populated, mask):
    """Fill the mask of the compiled kernels of GeoRendezvous: bits for the populated cells among
    the eight neighbours of each cell.

    populated [rows, columns] of bool, mask [rows, columns] of uint8.
    """
    rows, columns = populated.shape
    for y in range(rows):
        for x in range(columns):
            bits = 0
            for direction in range(8):
                near_x, near_y = adjacent_cell(x, y, direction)
                inside = 0 <= near_x < columns and 0 <= near_y < rows
                if inside and populated[near_y, near_x]:
                    bits |= 1 << direction
            mask[y, x] = bits


@inlined
def route_over(cells, x, y, dx, dy, path, columns, most):
    """Route one message from cell (x, y) of a map towards cell (dx, dy).

    Return the x and y of its home, the hops until its first arrival there, and all hops: these
    include the traversal of the home perimeter, if there was one. `path` [places] receives the
    cells, y * columns + x, of all hops, as far as there are places. A route of more than `most`
    hops is (-1, -1, -1, -1).
    """
    on_perimeter, entry_x, entry_y, first, back = 0, x, y, 0, 0
    hops, arrived = np.int64(0), np.int64(0)
    while hops < most:
        if hops < path.shape[0]:
            path[hops] = y * columns + x
        if on_perimeter == 0 or closer(x, y, entry_x, entry_y, dx, dy):
            arrived = hops
        direction, on_perimeter, entry_x, entry_y, first = decide(
            mask_at(cells, x, y), x, y, dx, dy, on_perimeter, entry_x, entry_y, first, back
        )
        if direction == HOME:
            return x, y, arrived, hops
        x, y = adjacent_cell(x, y, direction)
        back = (direction + 4) & 7
        hops += 1
    return np.int64(-1), np.int64(-1), np.int64(-1), np.int64(-1)


@inlined
def route(mask, x, y, dx, dy, path):
    """Route one message of bulk GeoRendezvous in a kernel over a mask [rows, columns], as
    `route_over` does.

    The limit of the loop is above the hops of every route.
    """
    rows, columns = mask.shape
    # Each traversal crosses a directed edge at most once, and no two begin at one cell.
    most = np.int64(8) * rows * columns * rows * columns + 1
    return route_over(CellMap(mask), x, y, dx, dy, path, columns, most)


@kernel
def routed(mask, ends, hops):
    """Route many messages: `ends` [R, 4] has x, y of the start and of d; `hops` [R, 4] has results
    of `route`.
    """
    nowhere = np.empty(0, np.int64)
    for r in range(ends.shape[0]):
        hops[r, 0], hops[r, 1], hops[r, 2], hops[r, 3] = route(
            mask, ends[r, 0], ends[r, 1], ends[r, 2], ends[r, 3], nowhere
        )


@inlined
def point_cell(key, topic, number, side):
    """Return x and y of a topic's rendezvous point, and the column and row of its cell."""
    x, y = point_position(key, topic, number)
    return x, y, cell_of(x, 0.0, side), cell_of(y, 0.0, side)


@kernel
def legs(nodes, pairs, legs, distance, empty):
    """Fill the legs of bulk GeoRendezvous in a kernel for pair p, by which notifications pass each
    rendezvous point of topic p.

    pairs [P, 2] of rows (publisher, subscriber). Fills legs [P, I, 3] with hops publisher - home,
    of the home perimeter, and home - subscriber; -1 where the two are in different components.
    distance [P, I]: squared, of the subscriber from the point; empty [P, I]: 1 where the point's
    cell is empty.
    """
    mask, position, cell = nodes.mask, nodes.position, nodes.cell
    nowhere = np.empty(0, np.int64)
    for p in range(pairs.shape[0]):
        publisher, subscriber = pairs[p, 0], pairs[p, 1]
        px, py = cell[publisher, 0], cell[publisher, 1]
        sx, sy = cell[subscriber, 0], cell[subscriber, 1]
        for i in range(legs.shape[1]):
            x, y, dx, dy = point_cell(nodes.key, p, i, nodes.side)
            across, up = position[subscriber, 0] - x, position[subscriber, 1] - y
            distance[p, i] = across * across + up * up
            hx, hy, arrived, hops = route(mask, px, py, dx, dy, nowhere)
            empty[p, i] = hx != dx or hy != dy
            tx, ty, last, _ = route(mask, hx, hy, sx, sy, nowhere)
            apart = tx != sx or ty != sy
            legs[p, i, 0] = -1 if apart else arrived
            legs[p, i, 1] = -1 if apart else hops - arrived
            legs[p, i, 2] = -1 if apart else last


@inlined
def add_path(mask, x, y, dx, dy, path, mark, stamp):
    """Mark the hops of a bulk route of GeoRendezvous with `stamp`, for the kernel of trees.

    Return x and y of the home cell, the number of hops, and the number of newly marked hops.
    """
    columns = mask.shape[1]
    hx, hy, hops, _ = route(mask, x, y, dx, dy, path)
    fresh = 0
    for h in range(min(hops, path.shape[0] - 1)):
        at, onto = path[h], path[h + 1]
        step = 3 * (onto // columns - at // columns + 1) + (onto % columns - at % columns + 1)
        if mark[at, step] != stamp:
            mark[at, step] = stamp
            fresh += 1
    return hx, hy, hops, fresh


@inlined
def best_point(nodes, home, row, t, tried, distance):
    """Return, in a kernel of bulk GeoRendezvous, the rendezvous point with the fewest hops among
    the `tried` points closest to the subscriber, or -1.
    """
    position, cell = nodes.position, nodes.cell
    for i in range(home.shape[0]):
        x, y, _, _ = point_cell(nodes.key, t, i, nodes.side)
        across, up = position[row, 0] - x, position[row, 1] - y
        distance[i] = across * across + up * up
    nowhere = np.empty(0, np.int64)
    choice, best = np.int64(-1), np.int64(1) << 40
    for _ in range(tried):  # the closest point first, so that it wins a tie
        p = np.argmin(distance)
        distance[p] = np.inf
        x, y, last, _ = route(
            nodes.mask, home[p, 0], home[p, 1], cell[row, 0], cell[row, 1], nowhere
        )
        if x != cell[row, 0] or y != cell[row, 1]:
            return np.int64(-1)
        if home[p, 2] + last < best:
            best, choice = home[p, 2] + last, np.int64(p)
    return choice


@inlined
def add_leg(mask, x, y, dx, dy, path, own, stamp, shared, first, out):
    """Add a leg to the counts of a notification tree: links once, links once a point, every hop."""
    _, _, hops, new = add_path(mask, x, y, dx, dy, path, own, stamp)
    out[1] += new
    out[2] += hops
    _, _, _, new = add_path(mask, x, y, dx, dy, path, shared, first)
    out[0] += new


@kernel
def trees(nodes, publisher, subscribers, points, tried, out):
    """Fill `out` in a kernel with the hops of notification trees of bulk GeoRendezvous, for one
    notification of each publisher.

    publisher [T], subscribers [T, k] of rows; tree t uses `points` points of topic t, of which each
    subscriber tries the `tried` closest. out [T, 3]: the hops if each link counts once, if each
    link counts once for each point, and if each subscriber receives its own message; -1 if a
    subscriber is in another component.
    """
    mask, cell = nodes.mask, nodes.cell
    rows, columns = mask.shape
    path = np.empty(8 * rows * columns, np.int64)
    shared = np.zeros((rows * columns, 9), np.int64)
    own = np.zeros((rows * columns, 9), np.int64)
    home, distance = np.empty((points, 3), np.int64), np.empty(points)
    choice = np.empty(subscribers.shape[1], np.int64)
    stamp = 0
    for t in range(publisher.shape[0]):
        px, py = cell[publisher[t], 0], cell[publisher[t], 1]
        for i in range(points):
            _, _, dx, dy = point_cell(nodes.key, t, i, nodes.side)
            home[i, 0], home[i, 1], home[i, 2], _ = route(mask, px, py, dx, dy, path)
        for s in range(subscribers.shape[1]):
            row = subscribers[t, s]
            choice[s] = best_point(nodes, home, row, t, tried, distance)
        out[t, :] = 0
        first = stamp + 1  # stamp of the whole tree; each point has a higher stamp
        for i in range(points):
            stamp += 1
            if not (choice == i).any():
                continue
            hx, hy = home[i, 0], home[i, 1]
            _, _, dx, dy = point_cell(nodes.key, t, i, nodes.side)
            add_leg(mask, px, py, dx, dy, path, own, stamp, shared, first, out[t])
            for s in range(subscribers.shape[1]):
                if choice[s] == i:
                    sx, sy = cell[subscribers[t, s], 0], cell[subscribers[t, s], 1]
                    add_leg(mask, hx, hy, sx, sy, path, own, stamp, shared, first, out[t])
        if choice.min() < 0:
            out[t, :] = -1
