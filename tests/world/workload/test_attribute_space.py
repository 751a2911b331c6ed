"""Content as cells: the boxes of subscriptions, the cells that they cover, and their errors."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.workload.attribute_space import boxes_of, check_shape, values_of
from halfway.world.workload.demand import Drawn

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=3)
Cell = tuple[int, ...]


def covered(box: tuple[tuple[int, int], ...]) -> set[Cell]:
    """The cells of a box, by the values of their attributes."""
    return set(product(*(range(first, last + 1) for first, last in box)))


@given(SHAPES, st.data())
def test_boxes_cover_each_cell_once_and_no_other(shape: list[int], data: st.DataObject) -> None:
    cells = data.draw(st.sets(st.integers(0, prod(shape) - 1), min_size=1))
    values = values_of(shape)
    assert values.flags.c_contiguous  # for handlers the type of one attribute's values
    boxes = boxes_of(cells, shape)
    found = [cell for box in boxes for cell in covered(box)]
    assert sorted(found) == sorted(tuple(values[cell].tolist()) for cell in cells)


@given(SHAPES, st.data())
def test_a_box_is_one_box(shape: list[int], data: st.DataObject) -> None:
    ends = [sorted(data.draw(st.tuples(*[st.integers(0, m - 1)] * 2))) for m in shape]
    box = tuple((first, last) for first, last in ends)
    cells = [int(np.ravel_multi_index(cell, shape)) for cell in covered(box)]
    assert boxes_of(cells, shape) == [box]


@given(SHAPES, st.integers(0, 2**32), st.data())
def test_drawn_subscriptions_are_boxes_within_the_range(
    shape: list[int], seed: int, data: st.DataObject
) -> None:
    width = data.draw(st.integers(1, min(shape)))
    cells = prod(shape)
    plain = Drawn(20, cells, 1, 2, seed=seed)
    wide = Drawn(20, cells, 1, 2, seed=seed, width=width, attributes=tuple(shape))
    wants: dict[Cell, set[int]] = {cell: set() for cell in product(*map(range, shape))}
    for cell, rows in zip(wants, plain.subscribers, strict=True):
        corner = [min(value, m - width) for value, m in zip(cell, shape, strict=True)]
        for inside in product(*(range(low, low + width) for low in corner)):
            wants[inside] |= set(rows.tolist())
    assert [set(rows.tolist()) for rows in wide.subscribers] == list(wants.values())
    assert all((np.diff(rows) > 0).all() for rows in wide.subscribers)
    assert wide.shape == tuple(shape)


@pytest.mark.parametrize(
    ("shape", "topics", "width", "named"),
    [
        ((2, 3), 5, 1, r"attributes = \[2, 3\]: expected .* the product 5"),
        ((2, 0), 0, 1, r"attributes = \[2, 0\]: expected 1 or more"),
        ((2, 3), 6, 3, "width = 3: expected 1 to 2, the smallest number of values"),
        ((1,) * 7, 1, 1, "expected at most 6"),
        ((), 4, 5, "width = 5: expected 1 to topics = 4"),
    ],
)
def test_a_shape_that_does_not_fit_is_an_error(
    shape: tuple[int, ...], topics: int, width: int, named: str
) -> None:
    with pytest.raises(Problem, match=named):
        check_shape(shape, topics, width)
