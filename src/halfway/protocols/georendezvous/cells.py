"""The grid of square cells in Cell Hash Routing: cell of a position, position of a point, and the
choice of the next cell.

Cell Hash Routing [geo §2.1] sees only cells. A populated cell is one virtual node at its centre,
with links to the populated cells among its eight neighbours. Cells are pairs of integers, so
distances between centres are compared exactly, on squares. Directions are numbered counterclockwise
from east. A node stores its surroundings in one byte: bit p is set if the cell in direction p is
populated.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.prng import advanced, mixed, seeded, uniform

# The side of a cell in radii: 1 / (2 sqrt 2), rounded down. Then any two nodes in touching cells,
# even if only the corners touch, are within reach of each other.
CELL_SIDE_RADII = 0.35355339059327

STAY = 8  # greedy mode: no neighbour is closer
HOME = 9  # the message has arrived

# Steps by direction: E, NE, N, NW, W, SW, S, SE.
_ACROSS = np.array([1, 1, 0, -1, -1, -1, 0, 1], np.int64)
_UP = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)


@inlined
def cell_of(value, low, side):
    """Return the column of coordinate x, or the row of y, in a grid of half-open square cells."""
    return np.int64(np.floor((value - low) / side))


@inlined
def adjacent_cell(x, y, direction):
    """Return the square cell next to cell (x, y) in a direction."""
    return x + _ACROSS[direction], y + _UP[direction]


@inlined
def direction_between(from_x, from_y, to_x, to_y):
    """Return the direction from a square cell to a touching cell, or -1 if they do not touch."""
    for direction in range(8):
        if from_x + _ACROSS[direction] == to_x and from_y + _UP[direction] == to_y:
            return direction
    return -1


@inlined
def point_position(key, topic, point):
    """Return the position of a topic's rendezvous point in the unit square of the cells [geo
    §2.3].
    """
    random_state = advanced(seeded(seeded(np.uint64(key), topic), point))
    x = uniform(mixed(random_state))
    return x, uniform(mixed(advanced(random_state)))


@inlined
def closer(ax, ay, bx, by, dx, dy):
    """Return whether cell a of the grid precedes cell b in closeness to cell d: by distance, then
    column, then row.
    """
    # We break ties of distance, because with a plain `<` publisher and subscriber would settle on
    # different homes for about half of the empty cells.
    a = (ax - dx) * (ax - dx) + (ay - dy) * (ay - dy)
    b = (bx - dx) * (bx - dx) + (by - dy) * (by - dy)
    if a != b:
        return a < b
    return ax < bx or (ax == bx and ay < by)


@inlined
def greedy(mask, x, y, dx, dy):
    """[geo §2.1] Return the greedy choice of the next cell in the grid: the direction to the
    populated cell closest to cell d, or STAY.
    """
    best_x, best_y, best = x, y, STAY
    for direction in range(8):
        if (mask >> direction) & 1:
            near_x, near_y = x + _ACROSS[direction], y + _UP[direction]
            if closer(near_x, near_y, best_x, best_y, dx, dy):
                best_x, best_y, best = near_x, near_y, direction
    return best


@inlined
def octant(across, up):
    """Return the last of eight directions between square cells that a vector has passed, turning
    counterclockwise.
    """
    if up >= 0 and across > 0:
        return 0 if up < across else 1
    if up > 0:
        return 2 if -across < up else 3
    if across < 0:
        return 4 if -up < -across else 5
    return 6 if across < -up else 7


@inlined
def next_counterclockwise(mask, direction):
    """Return the next populated direction counterclockwise from a direction at a square cell of the
    grid; this direction itself comes last.
    """
    for turn in range(1, 9):
        onto = (direction + turn) & 7
        if (mask >> onto) & 1:
            return onto
    return STAY


@inlined
def decide(mask, x, y, dx, dy, on_perimeter, entry_x, entry_y, first, back):
    """Choose the next cell of the grid for a message at cell (x, y) with destination d, by the
    complete rule of Cell Hash Routing.

    on_perimeter: 1 in perimeter mode, which the message entered at (entry_x, entry_y) when it left
    in direction `first`; back: the direction from which the message came. Returns (direction or
    HOME, on_perimeter, entry_x, entry_y, first) for the next hop.
    """
    # [geo §2.1] "as soon as the message reaches some cell h, such that ||hd|| < ||c3 d||, the
    # message leaves the perimeter mode"
    if on_perimeter == 1 and not closer(x, y, entry_x, entry_y, dx, dy):
        fresh = (
            next_counterclockwise(mask, octant(dx - x, dy - y))
            if x == entry_x and y == entry_y
            else first
        )
        if fresh != first:
            # A cell next to the entry was populated or emptied during the traversal, and the
            # message would never meet the first edge again: restart the traversal. In a static
            # network this does not happen.
            return fresh, 1, x, y, fresh
        direction = next_counterclockwise(mask, back)
        # We end a traversal when the message meets its first directed edge again. A traversal may
        # pass a cell that connects two parts of a face more than once before it has seen the whole
        # face.
        if direction == STAY or (x == entry_x and y == entry_y and direction == first):
            return HOME, 1, entry_x, entry_y, first
        return direction, 1, entry_x, entry_y, first
    direction = greedy(mask, x, y, dx, dy)
    if direction != STAY:
        return direction, 0, x, y, direction
    if mask == 0 or (x == dx and y == dy):
        return HOME, 0, x, y, direction
    # [geo §2.1] "contour the face in the direction where the line c3 d lies"
    direction = next_counterclockwise(mask, octant(dx - x, dy - y))
    return direction, 1, x, y, direction


@apart
def point_of(rules, topic, point):
    """Return the position of a rendezvous point [geo §2.3] in the rectangle of the grid, which all
    nodes know.
    """
    # The numbers of topics differ between live nodes, so the topics have names there.
    name = rules.names[topic] if rules.names.shape[0] > 0 else np.uint64(topic)
    x, y = point_position(rules.key, name, point)
    return rules.low_x + x * rules.wide, rules.low_y + y * rules.high


@apart
def cell_at(rules, x, y):
    """Return the column and the row of the square cell at a position, by the rules of
    GeoRendezvous.
    """
    return cell_of(x, rules.low_x, rules.side), cell_of(y, rules.low_y, rules.side)
