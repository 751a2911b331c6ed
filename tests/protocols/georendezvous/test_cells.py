"""Cells of GeoRendezvous: the cell of a point, the order of cells, and routing decisions."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols.georendezvous.cells import (
    CELL_SIDE_RADII,
    HOME,
    STAY,
    adjacent_cell,
    cell_of,
    closer,
    decide,
    direction_between,
    greedy,
    next_counterclockwise,
    octant,
    point_position,
)

cells = st.tuples(st.integers(-9, 9), st.integers(-9, 9))


def test_nodes_of_cells_that_touch_always_hear_each_other() -> None:
    """[geo §2.1] "nodes inside a given cell can listen to all the nodes in any of the eight"."""
    assert 2 * math.sqrt(2) * CELL_SIDE_RADII < 1
    assert 2 * math.sqrt(2) * CELL_SIDE_RADII > 1 - 1e-12


@given(st.floats(0, 1), st.floats(0.01, 1))
def test_a_point_lies_in_its_cell(value: float, side: float) -> None:
    """[geo §2.1] "the cell corresponding to any point in space": within its borders."""
    cell = int(cell_of(value, 0.0, side))
    assert cell * side <= value * (1 + 1e-12)
    assert value <= (cell + 1) * side * (1 + 1e-12)


@given(cells, cells, cells)
def test_the_order_of_cells_is_total(
    a: tuple[int, int], b: tuple[int, int], d: tuple[int, int]
) -> None:
    assert closer(*a, *b, *d) + closer(*b, *a, *d) + (a == b) == 1
    if math.dist(a, d) < math.dist(b, d):
        assert closer(*a, *b, *d)


@given(cells, cells, cells, cells)
def test_the_order_of_cells_is_transitive(
    a: tuple[int, int], b: tuple[int, int], c: tuple[int, int], d: tuple[int, int]
) -> None:
    if closer(*a, *b, *d) and closer(*b, *c, *d):
        assert closer(*a, *c, *d)


@given(cells, st.integers(0, 7))
def test_a_step_and_its_direction(cell: tuple[int, int], direction: int) -> None:
    onto = adjacent_cell(*cell, direction)
    assert direction_between(*cell, *onto) == direction
    assert direction_between(*onto, *cell) == (direction + 4) % 8
    assert direction_between(*cell, *cell) == direction_between(*cell, cell[0] + 2, cell[1]) == -1


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_octants_are_those_of_the_angle(across: int, up: int) -> None:
    if (across, up) != (0, 0):
        turn = math.atan2(up, across) % (2 * math.pi)
        assert octant(across, up) == int(turn / (math.pi / 4) + 1e-9) % 8


@given(st.integers(0, 255), st.integers(0, 7))
def test_the_next_populated_direction_counterclockwise(mask: int, direction: int) -> None:
    ahead = [(direction + turn) % 8 for turn in range(1, 9) if mask >> (direction + turn) % 8 & 1]
    assert next_counterclockwise(mask, direction) == (ahead[0] if ahead else STAY)


@given(st.integers(0, 255), cells, cells)
def test_greedy_takes_the_closest_neighbour_if_it_is_closer(
    mask: int, cell: tuple[int, int], d: tuple[int, int]
) -> None:
    """[geo §2.1] "that minimizes the distance to the destination, as long as this cell is
    closer"."""
    near = {
        direction: adjacent_cell(*cell, direction)
        for direction in range(8)
        if mask >> direction & 1
    }
    ranked = sorted((math.dist(c, d), c, direction) for direction, c in near.items())
    expected = STAY
    if ranked and (math.dist(cell, d), cell) > ranked[0][:2]:
        expected = ranked[0][2]
    assert greedy(mask, *cell, *d) == expected


def test_an_isolated_cell_is_its_own_home() -> None:
    assert decide(0, 3, 3, 7, 5, 0, 0, 0, 0, 0)[0] == HOME


def test_points_are_uniform_and_do_not_depend_on_their_number() -> None:
    """[geo §2.2, §2.3] "independent positions of the space": numbers of one topic, and topics."""
    for topic, number in ((None, 3), (5, None)):
        places = [
            point_position(
                np.uint64(9), k if topic is None else topic, k if number is None else number
            )
            for k in range(4000)
        ]
        boxes = Counter((int(4 * x), int(4 * y)) for x, y in places)
        assert len(boxes) == 16
        assert sum((count - 250) ** 2 / 250 for count in boxes.values()) < 37.7  # p = 0.001
    # Live nodes of other versions must hash a topic to the same point.
    assert point_position(np.uint64(9), 5, 3) == (0.674915952007261, 0.25571833017316914)
    assert point_position(np.uint64(8), 5, 3) != point_position(np.uint64(9), 5, 3)


def test_a_traversal_restarts_if_its_first_edge_is_no_longer_the_first() -> None:
    """[geo §2.1] A cell was populated between the line to the goal and the first edge of the
    traversal.
    """
    west, south = 4, 6
    before, after = 1 << west, 1 << west | 1 << 3
    direction, on_perimeter, *entry, first = decide(before, 3, 3, 6, 3, 0, 0, 0, 0, 0)
    assert (direction, on_perimeter, entry, first) == (west, 1, [3, 3], west)
    assert decide(before, 3, 3, 6, 3, 1, 3, 3, west, south)[0] == HOME
    assert decide(after, 3, 3, 6, 3, 1, 3, 3, west, south) == (3, 1, 3, 3, 3)
