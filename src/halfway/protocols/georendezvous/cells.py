"""Square cells over a plane: which cell a point lies in, where a key hashes to, the next cell.

Cell Hash Routing [geo §2.1] sees only cells: a populated cell is one virtual node in its centre,
linked to the populated ones among its eight neighbours. Cells are pairs of integers, so distances
between centres are compared exactly, on squares. Directions are numbered counterclockwise from
east; a node's knowledge of its surroundings is one byte, bit p set if the cell that way is
populated.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.prng import advanced, mixed, seeded, uniform

# Cells this wide, in radii: 1 / (2 sqrt 2), rounded down. Nodes of cells that touch, even at a
# corner, are then always within reach of each other.
CELL_SIDE_RADII = 0.35355339059327

STAY = 8  # greedy mode: no neighbour is closer
HOME = 9  # the message has arrived

# Steps by direction: E, NE, N, NW, W, SW, S, SE.
_ACROSS = np.array([1, 1, 0, -1, -1, -1, 0, 1], np.int64)
_UP = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)


@inlined
def cell_of(value, low, side):
    """Column of an x or row of a y: cells are half open, so a point is in exactly one."""
    return np.int64(np.floor((value - low) / side))


@inlined
def stepped(x, y, way):
    """The cell next to (x, y) in a direction."""
    return x + _ACROSS[way], y + _UP[way]


@inlined
def direction(from_x, from_y, to_x, to_y):
    """The direction from a cell to one of its eight neighbours; -1 if it is none of them."""
    for way in range(8):
        if from_x + _ACROSS[way] == to_x and from_y + _UP[way] == to_y:
            return way
    return -1


@inlined
def hashed(key, topic, number):
    """[geo §2.3] rendezvous point `number` of a topic: a place in the unit square."""
    word = advanced(seeded(seeded(np.uint64(key), topic), number))
    x = uniform(mixed(word))
    return x, uniform(mixed(advanced(word)))


@inlined
def closer(ax, ay, bx, by, dx, dy):
    """Whether cell a comes before cell b on the way to cell d: by distance, then x, then y."""
    # We break ties of distance, because with a plain `<` publisher and subscriber would settle on
    # different homes for about half of the empty cells.
    a = (ax - dx) * (ax - dx) + (ay - dy) * (ay - dy)
    b = (bx - dx) * (bx - dx) + (by - dy) * (by - dy)
    if a != b:
        return a < b
    return ax < bx or (ax == bx and ay < by)


@inlined
def greedy(mask, x, y, dx, dy):
    """[geo §2.1] the populated neighbour closest to d, if it is closer than (x, y); else STAY."""
    best_x, best_y, best = x, y, STAY
    for way in range(8):
        if (mask >> way) & 1:
            near_x, near_y = x + _ACROSS[way], y + _UP[way]
            if closer(near_x, near_y, best_x, best_y, dx, dy):
                best_x, best_y, best = near_x, near_y, way
    return best


@inlined
def octant(across, up):
    """The last of the eight directions that a vector has reached, turning counterclockwise."""
    if up >= 0 and across > 0:
        return 0 if up < across else 1
    if up > 0:
        return 2 if -across < up else 3
    if across < 0:
        return 4 if -up < -across else 5
    return 6 if across < -up else 7


@inlined
def turned(mask, way):
    """The first populated direction counterclockwise of `way`, which itself comes last."""
    for turn in range(1, 9):
        onto = (way + turn) & 7
        if (mask >> onto) & 1:
            return onto
    return STAY


@inlined
def decide(mask, x, y, dx, dy, touring, entry_x, entry_y, first, back):
    """Where a message for cell d goes on from cell (x, y): the whole of the routing.

    touring: 1 in perimeter mode, which the message entered at (entry_x, entry_y) by leaving in
    direction `first`; back: the direction it came from. Returns (direction or HOME, touring,
    entry_x, entry_y, first) as it shall travel on.
    """
    # [geo §2.1] "as soon as the message reaches some cell h, such that ||hd|| < ||c3 d||, the
    # message leaves the perimeter mode"
    if touring == 1 and not closer(x, y, entry_x, entry_y, dx, dy):
        fresh = turned(mask, octant(dx - x, dy - y)) if x == entry_x and y == entry_y else first
        if fresh != first:
            # A cell beside the entry has filled or emptied during the tour, whose first edge would
            # never be met again: the tour begins anew. In a still network this does not happen.
            return fresh, 1, x, y, fresh
        way = turned(mask, back)
        # We end a tour on the first directed edge met again, because a tour passes the cells that
        # hold two parts of a face together more than once before it has seen all of it.
        if way == STAY or (x == entry_x and y == entry_y and way == first):
            return HOME, 1, entry_x, entry_y, first
        return way, 1, entry_x, entry_y, first
    way = greedy(mask, x, y, dx, dy)
    if way != STAY:
        return way, 0, x, y, way
    if mask == 0 or (x == dx and y == dy):
        return HOME, 0, x, y, way
    # [geo §2.1] "contour the face in the direction where the line c3 d lies"
    way = turned(mask, octant(dx - x, dy - y))
    return way, 1, x, y, way
