"""The kernels of the moving grid: exact times at which moving nodes enter and leave each other's
range.

Each call covers one slice of time. The public API is `moving_grid.py`.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.world.mobility.motion import leg_at, place

# Seconds. A shorter gap of a link is ignored, because consecutive pieces round differently.
SHORTEST_GAP = 1e-9


class LinkChanges(NamedTuple):
    """Crossings: links that come up or go down, in order of (t, a, b). The changes of one pair
    alternate.
    """

    t: npt.NDArray[np.float64]  # [changes] seconds
    a: npt.NDArray[np.int32]  # [changes] rows, a < b
    b: npt.NDArray[np.int32]
    up: npt.NDArray[np.bool_]  # [changes] True: the link comes up; False: it goes down


class Pieces(NamedTuple):
    """Straight pieces of the paths of moving nodes in a slice of time, for the search of
    crossings.
    """

    first: npt.NDArray[np.int64]  # [n+1] node i's pieces are first[i] up to first[i+1]
    node: npt.NDArray[np.int32]
    t0: npt.NDArray[np.float64]
    t1: npt.NDArray[np.float64]
    x: npt.NDArray[np.float64]  # position at t0
    y: npt.NDArray[np.float64]
    vx: npt.NDArray[np.float64]
    vy: npt.NDArray[np.float64]
    middle: npt.NDArray[np.float64]  # [pieces, 2]


class Cursors(NamedTuple):
    """The progress of the search for crossings: the leg and the presence of each node at the
    present slice.
    """

    leg: npt.NDArray[np.int64]  # [n] the last leg that began
    interval: npt.NDArray[np.int64]  # [n] the first interval of presence that did not end


class NearPieces(NamedTuple):
    """Pieces of paths that may come within range of each other: a graph of the pieces."""

    start: npt.NDArray[np.uint32]  # [pieces + 1] row r is near the rows who[start[r]:start[r + 1]]
    who: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]  # [pieces] the row of each piece
    label: npt.NDArray[np.int32]  # [pieces] the piece of each row


class OpenLinks(NamedTuple):
    """The links that are open at one moment of the search for crossings, by a, then b."""

    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]


class Contacts(NamedTuple):
    """The contacts of one moving node in a search for crossings: the other nodes, and the times
    (seconds).
    """

    other: npt.NDArray[np.int32]
    begin: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]


def empty_pieces(n: int, pieces: int) -> Pieces:
    """Allocate the path pieces of n moving nodes for the search for crossings."""
    t0, t1, x, y, vx, vy = (np.empty(pieces) for _ in range(6))
    first, node = np.empty(n + 1, np.int64), np.empty(pieces, np.int32)
    return Pieces(first, node, t0, t1, x, y, vx, vy, np.empty((pieces, 2)))


@inlined
def _add(pieces, legs, i, k, moving, begin, end, most, count):
    # Add node i's path on leg k (or after it) in [begin, end), in pieces of at most `most`.
    vx, vy = 0.0, 0.0
    parts = np.int64(1)
    if moving:
        lasts = legs.t1[k] - legs.t0[k]
        vx, vy = (legs.x1[k] - legs.x0[k]) / lasts, (legs.y1[k] - legs.y0[k]) / lasts
        far = math.sqrt(vx * vx + vy * vy) * (end - begin)
        parts = np.int64(far / most) + 1
    t = begin
    for part in range(1, parts + 1):
        stop = end if part == parts else begin + (end - begin) * part / parts
        if stop > t:
            if count == pieces.node.shape[0]:
                return -1
            x, y = place(legs, k, t)
            pieces.node[count], pieces.t0[count], pieces.t1[count] = i, t, stop
            pieces.x[count], pieces.y[count] = x, y
            pieces.vx[count], pieces.vy[count] = vx, vy
            pieces.middle[count, 0] = x + vx * (stop - t) / 2.0
            pieces.middle[count, 1] = y + vy * (stop - t) / 2.0
            count += 1
            t = stop
    return count


@inlined
def _add_path(pieces, legs, i, k, begin, end, most, count):
    # Add node i's path in [begin, end), from leg k on; pieces join at the same instant.
    k = leg_at(legs, i, k, begin)
    t = begin
    while t < end:
        moving = legs.t0[k] <= t < legs.t1[k]
        stop = end
        if moving:
            stop = min(legs.t1[k], end)
        elif t < legs.t0[k]:
            stop = min(legs.t0[k], end)
        elif k + 1 < legs.first[i + 1]:
            stop = min(legs.t0[k + 1], end)
        count = _add(pieces, legs, i, k, moving, t, stop, most, count)
        if count < 0:
            return count
        t = stop
        k = leg_at(legs, i, k, t)
    return count


@kernel
def cut(legs, presence, cursors, most, begin, end, pieces):
    """Cut paths in [begin, end) into pieces for the search of crossings, by node and time; return
    their number.

    -1: `pieces` is full.
    """
    count = 0
    for i in range(legs.first.shape[0] - 1):
        pieces.first[i] = count
        cursors.leg[i] = leg_at(legs, i, cursors.leg[i], begin)
        j, last = cursors.interval[i], presence.first[i + 1]
        while j < last and presence.t1[j] <= begin:
            j += 1
        cursors.interval[i] = j
        while j < last and presence.t0[j] < end:
            t0, t1 = max(begin, presence.t0[j]), min(end, presence.t1[j])
            count = _add_path(pieces, legs, i, cursors.leg[i], t0, t1, most, count)
            if count < 0:
                return count
            j += 1
    pieces.first[-1] = count
    return count


@inlined
def _contact(pieces, p, q, radius):
    # The time (begin, end) in which two pieces are nearer than the radius; may be empty.
    t0, t1 = max(pieces.t0[p], pieces.t0[q]), min(pieces.t1[p], pieces.t1[q])
    if not t0 < t1:
        return t0, t0
    past, since = t0 - pieces.t0[p], t0 - pieces.t0[q]
    x = pieces.x[q] + pieces.vx[q] * since - pieces.x[p] - pieces.vx[p] * past
    y = pieces.y[q] + pieces.vy[q] * since - pieces.y[p] - pieces.vy[p] * past
    vx, vy = pieces.vx[q] - pieces.vx[p], pieces.vy[q] - pieces.vy[p]
    c = x * x + y * y - radius * radius
    speed = vx * vx + vy * vy
    if speed == 0.0:
        return t0, t1 if c < 0.0 else t0
    # |position + v t|^2 = r^2; the discriminant by the cross product avoids cancellation.
    half, cross = x * vx + y * vy, x * vy - y * vx
    inside = speed * radius * radius - cross * cross
    if not inside > 0.0:
        return t0, t0
    far = -half - math.sqrt(inside) if half > 0.0 else -half + math.sqrt(inside)
    first, second = far / speed, c / far
    first, second = min(first, second), max(first, second)
    begin = t0 if first <= 0.0 else t0 + first
    return begin, t1 if second >= t1 - t0 else min(t0 + second, t1)


@inlined
def _sort(other, begin, end, m):
    # Shell sort of m intervals by (other, begin): few, and mostly in order.
    gap = m // 2
    while gap > 0:
        for i in range(gap, m):
            b, t0, t1 = other[i], begin[i], end[i]
            j = i
            while j >= gap and (
                other[j - gap] > b or (other[j - gap] == b and begin[j - gap] > t0)
            ):
                other[j], begin[j], end[j] = other[j - gap], begin[j - gap], end[j - gap]
                j -= gap
            other[j], begin[j], end[j] = b, t0, t1
        gap //= 2


@inlined
def _collect(pieces, i, near, radius, contacts):
    # Collect the contacts of node i with each later node, in order; return their number.
    m = 0
    for p in range(pieces.first[i], pieces.first[i + 1]):
        row = near.rank[p]
        for e in range(near.start[row], near.start[row + 1]):
            q = near.label[near.who[e]]
            if pieces.node[q] > i:
                t0, t1 = _contact(pieces, p, q, radius)
                if t0 < t1:
                    contacts.other[m] = pieces.node[q]
                    contacts.begin[m], contacts.end[m] = t0, t1
                    m += 1
    _sort(contacts.other, contacts.begin, contacts.end, m)
    return m


@inlined
def _record(out, count, t, a, b, up):
    out.t[count], out.a[count], out.b[count], out.up[count] = t, a, b, up
    return count + 1


@inlined
def _replay(contacts, k, m, i, until, was_open, out, count):
    # Write the changes of one pair, with contacts from k on. Return the start of the next pair,
    # the number of changes, and whether the link is open at the end.
    other, begin, end = contacts
    b = other[k]
    while True:
        t0, t1 = begin[k], end[k]
        k += 1
        while k < m and other[k] == b and begin[k] <= t1 + SHORTEST_GAP:
            t1 = max(t1, end[k])
            k += 1
        if not was_open:
            count = _record(out, count, t0, i, b, True)
        if t1 >= until:
            return k, count, True
        count = _record(out, count, t1, i, b, False)
        was_open = False
        if k == m or other[k] != b:
            return k, count, False


@inlined
def _most_entries(pieces, near):
    most = np.int64(0)
    for i in range(pieces.first.shape[0] - 1):
        entries = np.int64(0)
        for p in range(pieces.first[i], pieces.first[i + 1]):
            row = near.rank[p]
            entries += np.int64(near.start[row + 1]) - np.int64(near.start[row])
        most = max(most, entries)
    return most


@kernel
def joined(pieces, near, radius, now, until, before, after, out):
    """Write the crossings in [now, until) to `out`; return their number, and the number of links
    that are then open.

    before, after: the `OpenLinks` at `now`, and the array of those at `until`, to be written.
    """
    most = _most_entries(pieces, near)
    contacts = Contacts(np.empty(most, np.int32), np.empty(most), np.empty(most))
    other, begin, _ = contacts
    old_a, old_b = before
    count, opened, o, links = 0, 0, 0, old_a.shape[0]
    for i in range(pieces.first.shape[0] - 1):
        m = _collect(pieces, i, near, radius, contacts)
        k = 0
        while k < m or (o < links and old_a[o] == i):
            previous = o < links and old_a[o] == i and (k == m or old_b[o] <= other[k])
            same = previous and k < m and old_b[o] == other[k]
            was_open = same and begin[k] <= now + SHORTEST_GAP
            if previous:
                if not was_open:  # lost between two slices: absent now, or out of range
                    count = _record(out, count, now, i, old_b[o], False)
                o += 1
            if same or not previous:
                b = other[k]
                k, count, stays = _replay(contacts, k, m, i, until, was_open, out, count)
                if stays:
                    after.a[opened], after.b[opened] = i, b
                    opened += 1
    return count, opened
