"""The kernels of the cell grid, with which unit disk graphs are built: points in cell order and the
neighbours of each point.

Rows of cells are at least a radius high and cut into columns. All points within the radius lie in
runs of cells in three rows, and a run is contiguous in memory. The public API is `unit_disk.py`.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, seeded, uniform

_COLUMNS_A_RADIUS = 3.0  # 2-4 were best in measurements; with more, the table grows

_u4 = np.uint32


class Grid(NamedTuple):
    """A cell grid: rows at least a radius high, cut into columns. The fields `per_*` are the
    numbers of cells in a unit length.
    """

    low_x: float
    low_y: float
    per_x: float
    per_y: float
    columns: np.int64
    rows: np.int64


@inlined
def _bin(value, low, per, count):
    # The bin number grows with `value` even after rounding. So a point that is nearer than the
    # radius along an axis lies in a bin between the bins of `value - radius` and `value + radius`.
    place = (value - low) * per
    if place < 0.0:
        return np.int64(0)
    return min(np.int64(min(place, 4e9)), count - 1)


@inlined
def _grid(position, radius):
    low_x, high_x = position[0, 0], position[0, 0]
    low_y, high_y = position[0, 1], position[0, 1]
    for i in range(position.shape[0]):
        x, y = position[i, 0], position[i, 1]
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
    # At most about 2n cells, regardless of the extent of the points.
    n = float(position.shape[0])
    wide, high = high_x - low_x, high_y - low_y
    rows = np.int64(min(high / radius, n)) + 1
    columns = np.int64(min(_COLUMNS_A_RADIUS * wide / radius, 2.0 * n / rows)) + 1
    per_y = min(1.0 / radius, rows / high if high > 0.0 else np.inf)
    per_x = min(_COLUMNS_A_RADIUS / radius, columns / wide if wide > 0.0 else np.inf)
    return Grid(low_x, low_y, per_x, per_y, columns, rows)


@kernel
def binned(position, grid):
    """Sort points by cell of the grid.

    Return the start of each cell [cells + 1], the points in this order [n, 2], and their indices in
    `position` [n].
    """
    n = position.shape[0]
    cells = grid.rows * grid.columns
    first = np.zeros(cells + 1, _u4)
    cell = np.empty(n, _u4)
    for i in range(n):
        row = _bin(position[i, 1], grid.low_y, grid.per_y, grid.rows)
        c = _u4(row * grid.columns + _bin(position[i, 0], grid.low_x, grid.per_x, grid.columns))
        cell[i] = c
        first[c] += _u4(1)
    total = _u4(0)
    for k in range(cells + 1):
        total = _u4(total + first[k])
        first[k] = total
    ordered = np.empty((n, 2))
    label = np.empty(n, np.int32)
    for i in range(n - 1, -1, -1):  # backwards: ends become starts; the order within a cell is kept
        c = cell[i]
        first[c] -= _u4(1)
        j = first[c]
        ordered[j, 0] = position[i, 0]
        ordered[j, 1] = position[i, 1]
        label[j] = i
    return first, ordered, label


@inlined
def _columns_around(x, radius, grid):
    """Return the columns of the cell grid that a disk around x may reach: the first, and the
    end.
    """
    a = _bin(x - radius, grid.low_x, grid.per_x, grid.columns)
    return a, _bin(x + radius, grid.low_x, grid.per_x, grid.columns) + 1


@inlined
def _rows_around(y, radius, grid):
    """Return the rows of the cell grid that a disk around y may reach: the first, and the end."""
    row = _bin(y - radius, grid.low_y, grid.per_y, grid.rows)
    return row, _bin(y + radius, grid.low_y, grid.per_y, grid.rows) + 1


@inlined
def _estimate(first, ordered, grid, radius):
    # Estimate the graph's entries from every 61st node; a low estimate costs one copy.
    n = ordered.shape[0]
    seen = np.int64(0)
    for i in range(0, n, 61):
        x, y = ordered[i, 0], ordered[i, 1]
        a, b = _columns_around(x, radius, grid)
        row = _bin(y, grid.low_y, grid.per_y, grid.rows) * grid.columns
        seen += np.int64(first[row + b]) - np.int64(first[row + a])
    # A disk of radius r has the area pi r², and one row around it the area 2.25 r². So the disk has
    # pi / 2.25 = 1.4 times as many entries as the row. We add a margin.
    return np.int64(1.6 * seen / ((n + 60) // 61) * n) + 1024


@kernel
def grid_of(position, radius):
    """Build the cell grid of points; return the grid, the three results of `binned`, and an
    estimate of the size of `who`.
    """
    grid = _grid(position, radius)
    first, ordered, label = binned(position, grid)
    return grid, first, ordered, label, _estimate(first, ordered, grid, radius)


@kernel
def fill(first, ordered, grid, radius, start, who, begin, k):
    """Write a cell grid's neighbour rows from row `begin` and entry k on.

    Return the row and the entry where `who` became full; (n, entries) if all rows are written.
    """
    n, capacity, reach = ordered.shape[0], who.shape[0], radius * radius
    for i in range(begin, n):
        start[i] = begun = k
        x, y = ordered[i, 0], ordered[i, 1]
        a, b = _columns_around(x, radius, grid)
        row, end_row = _rows_around(y, radius, grid)
        for r in range(row, end_row):
            j = first[_u4(r * grid.columns + a)]
            end = first[_u4(r * grid.columns + b)]
            if k + np.int64(end) - np.int64(j) > capacity:
                return i, begun
            while j < end:  # written first and kept if near: no branch to mispredict
                dx, dy = ordered[j, 0] - x, ordered[j, 1] - y
                who[k] = j
                k += np.int64((dx * dx + dy * dy < reach) & (j != _u4(i)))
                j += _u4(1)
    start[n] = k
    return n, k


@inlined
def _has_neighbour(i, first, ordered, grid, radius):
    x, y = ordered[i, 0], ordered[i, 1]
    a, b = _columns_around(x, radius, grid)
    row, end_row = _rows_around(y, radius, grid)
    for r in range(row, end_row):
        for j in range(first[_u4(r * grid.columns + a)], first[_u4(r * grid.columns + b)]):
            dx, dy = ordered[_u4(j), 0] - x, ordered[_u4(j), 1] - y
            if dx * dx + dy * dy < radius * radius and j != i:
                return True
    return False


@kernel
def draw_into(position, seed, draw):
    """Fill `position` [n, 2] with points for a cell grid: one draw, uniform in [0, 1), x before
    y.
    """
    word = seeded(seed, draw)
    for i in range(position.shape[0]):
        word = advanced(word)
        position[i, 0] = uniform(mixed(word))
        word = advanced(word)
        position[i, 1] = uniform(mixed(word))


@kernel
def first_without_isolated(position, radius, seed, begun, last):
    """Find with the cell grid the first draw of points in [begun, last) that isolates no node;
    return its number, or `last`.

    Most draws are rejected at an isolated node, before the graph is built. The points of the draw
    are left in `position`.
    """
    n = position.shape[0]
    for draw in range(begun, last):
        draw_into(position, seed, np.uint64(draw))
        grid = _grid(position, radius)
        first, ordered, _ = binned(position, grid)
        i = 0
        while i < n and (n == 1 or _has_neighbour(i, first, ordered, grid, radius)):
            i += 1
        if i == n:
            return draw
    return last
