"""The kernels of lazy unit disk graphs (`LazyGraph`): cells, nodes and neighbours.

A part of the unit square is a number as in a heap: 1 is the square, and the halves of part p are 2p
and 2p + 1, split across x and y in turn. Fair coins, one for each node, divide the nodes of part p
among its halves: the first half gets as many nodes as there are ones among as many random bits of
the stream p. The parts of the last level are the cells. The nodes of cell c are uniform in it, from
the stream c. So all nodes are independent and uniform in the square, and their number is exact.
Node ids are ranks in the order of the cells. The public API is `lazy_disk.py`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.missing import NONE
from halfway.core.prng import advanced, mixed, seeded
from halfway.world.graphs.lazy.halvings import in_first_half

_WAYS = 4  # slots of a set of a cache; the least recently used one is replaced

_u4, _u8 = np.uint32, np.uint64
_27 = np.uint64(27)
_TO_UNIT_37 = 2.0**-37  # a cell's number has 15 bits at most, so a coordinate is exact


class CachedCells(NamedTuple):
    """The cells of a `LazyGraph` that were looked up last, with their nodes."""

    key: npt.NDArray[np.int64]  # [slots] number of the cell; -1: empty
    used: npt.NDArray[np.int64]  # [slots] time of the last use
    first: npt.NDArray[np.int64]  # [slots] id of the first node
    nodes: npt.NDArray[np.int64]  # [slots] number of nodes
    x: npt.NDArray[np.float64]  # [slots, capacity]
    y: npt.NDArray[np.float64]


class CachedViews(NamedTuple):
    """The nodes of a `LazyGraph` that were looked up last, with their neighbours."""

    key: npt.NDArray[np.int64]  # [slots] id of the node; -1: empty
    used: npt.NDArray[np.int64]  # [slots] time of the last use
    degree: npt.NDArray[np.uint32]  # [slots]
    own: npt.NDArray[np.float64]  # [slots, 2] position of the node
    who: npt.NDArray[np.uint32]  # [slots, capacity] ids of the neighbours, ascending
    x: npt.NDArray[np.float64]  # [slots, capacity] their positions
    y: npt.NDArray[np.float64]


class LazyGraph(NamedTuple):
    """A lazy unit disk graph: its parameters, the ids of its large parts, and its caches."""

    seed: np.uint64
    radius: np.float64
    bits: np.int64  # of a cell's column, and of its row
    levels: np.int64  # of halvings whose result is known
    first: npt.NDArray[np.int64]  # [2^levels + 1] id of the first node of each part of that level
    cells: CachedCells
    views: CachedViews
    clock: npt.NDArray[np.int64]  # [1] uses of the caches
    drawn: npt.NDArray[np.int64]  # [2] cells and neighbour lists drawn so far
    near: npt.NDArray[np.int64]  # [9] slots of the cells around a node


@inlined
def _interleaved(column, row, bits):
    number = np.int64(0)
    for bit in range(bits - 1, -1, -1):
        number = (number << 2) | (((column >> bit) & 1) << 1) | ((row >> bit) & 1)
    return number


@inlined
def _part_of(part, first, count, half, second):
    """Return the number, the first node and the number of nodes of one half of a part: of the
    second half if `second` is 1. half: number of nodes of the first half.
    """
    if second == 1:
        return 2 * part + 1, first + half, count - half
    return 2 * part, first, half


@inlined
def _nodes_of(graph, cell):
    """Return the first id and the number of the nodes of a cell, by its number."""
    below = 2 * graph.bits - graph.levels
    large = cell >> below
    first = graph.first[large]
    count = graph.first[large + 1] - first
    part = (np.int64(1) << graph.levels) + large
    for level in range(below - 1, -1, -1):
        half = in_first_half(graph.seed, part, count)
        part, first, count = _part_of(part, first, count, half, (cell >> level) & 1)
    return first, count


@inlined
def _cell_of(graph, i):
    """Return the number of the cell of a node."""
    low, high = np.int64(0), np.int64(1) << graph.levels
    while high - low > 1:  # the last part that begins at or below i
        middle = (low + high) >> 1
        if graph.first[middle] <= i:
            low = middle
        else:
            high = middle
    first, count = graph.first[low], graph.first[low + 1] - graph.first[low]
    part = (np.int64(1) << graph.levels) + low
    for _ in range(2 * graph.bits - graph.levels):
        half = in_first_half(graph.seed, part, count)
        part, first, count = _part_of(part, first, count, half, np.int64(i >= first + half))
    return part - (np.int64(1) << (2 * graph.bits))


@inlined
def _slot(cache, clock, key, hashed):
    """Return the slot of a cell's key in the cache of a lazy graph, or the slot to replace, and
    whether it has the key.
    """
    clock[0] += 1
    begin = (np.int64(hashed) & (cache.key.shape[0] // _WAYS - 1)) * _WAYS
    oldest = begin
    for slot in range(begin, begin + _WAYS):
        if cache.key[slot] == key:
            cache.used[slot] = clock[0]
            return slot, True
        if cache.used[slot] < cache.used[oldest]:
            oldest = slot
    cache.used[oldest] = clock[0]
    return oldest, False


@inlined
def cell_slot(graph, column, row):
    """Return the slot of a cell in the cache, with the cell's nodes.

    Raises OverflowError if the cell has more nodes than a slot has room for.
    """
    cells = graph.cells
    cell = _interleaved(column, row, graph.bits)
    # Cells next to each other are in different sets, so that none replaces another.
    slot, known = _slot(cells, graph.clock, cell, (row & 15) << 4 | (column & 15))
    if known:
        return slot
    first, count = _nodes_of(graph, cell)
    if count > cells.x.shape[1]:
        raise OverflowError("a cell has more nodes than the cache has room for")
    side = 1.0 / float(np.int64(1) << graph.bits)
    word = seeded(graph.seed, (np.int64(1) << (2 * graph.bits)) + cell)
    for k in range(count):
        word = advanced(word)
        cells.x[slot, k] = (column + float(mixed(word) >> _27) * _TO_UNIT_37) * side
        word = advanced(word)
        cells.y[slot, k] = (row + float(mixed(word) >> _27) * _TO_UNIT_37) * side
    cells.key[slot], cells.first[slot], cells.nodes[slot] = cell, first, count
    graph.drawn[0] += 1
    return slot


@inlined
def place_in_cells(graph, value):
    """Return the column of an x or the row of a y in the cells; of the nearest cell, if outside."""
    most = (np.int64(1) << graph.bits) - 1
    return min(max(np.int64(np.floor(value * float(most + 1))), 0), most)


@inlined
def _window(graph, x, y):
    """Find the slots of the cells that the disk around (x, y) may reach, in the order of their ids:
    `graph.near`. Returns their number, nine at most.
    """
    left, right = place_in_cells(graph, x - graph.radius), place_in_cells(graph, x + graph.radius)
    low, high = place_in_cells(graph, y - graph.radius), place_in_cells(graph, y + graph.radius)
    count = np.int64(0)
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            slot = cell_slot(graph, column, row)
            key, place = graph.cells.key[slot], count
            while place > 0 and graph.cells.key[graph.near[place - 1]] > key:
                graph.near[place] = graph.near[place - 1]
                place -= 1
            graph.near[place] = slot
            count += 1
    return count


@inlined
def view_at(graph, i, x, y):
    """Return the slot of the neighbours of node i in the cache; (x, y) is the node's position.

    The slot stays valid for the next two calls at least. Raises OverflowError if the node has more
    neighbours than a slot has room for.
    """
    views, cells, reach = graph.views, graph.cells, graph.radius * graph.radius
    slot, known = _slot(views, graph.clock, np.int64(i), mixed(_u8(i)))
    if known:
        return slot
    views.key[slot] = NONE
    who, near_x, near_y = views.who[slot], views.x[slot], views.y[slot]
    degree, own = _u4(0), _u4(i)
    for near in range(_window(graph, x, y)):
        cell = graph.near[near]
        node, count = _u4(cells.first[cell]), _u4(cells.nodes[cell])
        if np.int64(degree) + np.int64(count) > who.shape[0]:
            raise OverflowError("a node has more neighbours than the cache has room for")
        cell_x, cell_y = cells.x[cell], cells.y[cell]
        for k in range(count):
            # Written first and kept if near: no branch to mispredict.
            near_x[degree], near_y[degree] = cell_x[k], cell_y[k]
            dx, dy = cell_x[k] - x, cell_y[k] - y
            who[degree] = node
            degree += _u4((dx * dx + dy * dy < reach) & (node != own))
            node += _u4(1)
    views.key[slot], views.degree[slot] = i, degree
    views.own[slot, 0], views.own[slot, 1] = x, y
    graph.drawn[1] += 1
    return slot


@inlined
def position_of(graph, i):
    """Return the position (x, y) of a node, by its id and its cell alone."""
    cell = _cell_of(graph, np.int64(i))
    column, row = np.int64(0), np.int64(0)
    for bit in range(graph.bits):
        column |= ((cell >> (2 * bit + 1)) & 1) << bit
        row |= ((cell >> (2 * bit)) & 1) << bit
    slot = cell_slot(graph, column, row)
    k = np.int64(i) - graph.cells.first[slot]
    return graph.cells.x[slot, k], graph.cells.y[slot, k]


@inlined
def view(graph, i):
    """Return the slot of a node's neighbours in the cache of a `LazyGraph`; see `view_at`."""
    slot, known = _slot(graph.views, graph.clock, np.int64(i), mixed(_u8(i)))
    if known:
        return slot
    x, y = position_of(graph, i)
    return view_at(graph, i, x, y)


@kernel
def positions(graph, nodes, position):
    """Fill position [k, 2] for the nodes [k] of a `LazyGraph`, by their cells."""
    graph = borrowed(graph)
    for k in range(nodes.shape[0]):
        position[k, 0], position[k, 1] = position_of(graph, nodes[k])


@kernel
def neighbours(graph, i):
    """Return the neighbours of a node of a `LazyGraph`, ascending: [degree] ids."""
    graph = borrowed(graph)
    slot = view(graph, i)
    return graph.views.who[slot, : graph.views.degree[slot]].copy()
