"""The attribute space of content: each attribute has a number of values, and a topic is one cell.

A filter on the content is a box: for each attribute a range of consecutive values. Cells are
numbered in row-major order, so the values of the last attribute vary first.
"""

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from halfway.core import message
from halfway.problem import Problem

MOST_ATTRIBUTES = message.MOST_ATTRIBUTES
Box = tuple[tuple[int, int], ...]  # for each attribute the first and the last value


def check_shape(shape: Sequence[int], topics: int, width: int) -> None:
    """Raise Problem unless the values of each attribute of an attribute space fit the topics and
    the width of a filter.

    Without attributes, the topics are the values of one attribute.
    """
    if len(shape) > MOST_ATTRIBUTES:
        what = f"attributes = {list(shape)}: expected at most {MOST_ATTRIBUTES}"
        raise Problem(what, remedy="leave out an attribute")
    if shape and min(shape) < 1:
        raise Problem(f"attributes = {list(shape)}: expected 1 or more values of each attribute")
    if shape and prod(shape) != topics:
        what = f"attributes = {list(shape)}: expected positive numbers with the product {topics}"
        raise Problem(f"{what}, the number of topics", remedy="leave out `topics`")
    least = min(shape, default=topics)
    if not 1 <= width <= least:
        smallest = f"{least}, the smallest number of values of an attribute"
        bound = smallest if shape else f"topics = {topics}"
        raise Problem(f"width = {width}: expected 1 to {bound}", remedy="lower width")


def values_of(shape: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return [cells, attributes]: the value of each attribute in each cell of an attribute
    space.
    """
    # In another order in memory, the array would have another type for compiled code. A handler
    # that reads it would be compiled again for two or more attributes.
    return np.indices(shape).reshape(len(shape), -1).T.astype(np.int64, order="C")


def widened(
    rows: Sequence[npt.NDArray[np.int32]], shape: Sequence[int], width: int
) -> list[npt.NDArray[np.int32]]:
    """Return the subscribed rows of each cell of an attribute space, ascending; rows[c] want the
    box of `width` values of each attribute from cell c on.

    A box that would exceed the last value of an attribute ends at this value, and keeps its
    width.
    """
    corners = np.minimum(values_of(shape), np.array(shape) - width)
    steps = values_of([width] * len(shape))
    wanted: list[list[npt.NDArray[np.int32]]] = [[] for _ in rows]
    for corner, parts in zip(corners, rows, strict=True):
        for cell in np.ravel_multi_index(tuple((corner + steps).T), shape).tolist():
            wanted[cell].append(parts)
    return [np.unique(np.concatenate(parts)) for parts in wanted]


def boxes_of(cells: Iterable[int], shape: Sequence[int]) -> list[Box]:
    """Return disjoint boxes of an attribute space that together cover exactly these cells.

    Boxes that touch along one attribute are merged, beginning with the last attribute.
    """
    if not shape:
        return [()]
    inner = prod(shape[1:])
    parts: dict[int, list[int]] = {}
    for cell in sorted(cells):
        parts.setdefault(cell // inner, []).append(cell % inner)
    filters: list[Box] = []
    begun: dict[Box, int] = {}  # a box of the other attributes -> the value with which it began
    for value in range(min(parts), max(parts) + 2):
        here = boxes_of(parts[value], shape[1:]) if value in parts else []
        for box in [box for box in begun if box not in here]:
            filters.append(((begun.pop(box), value - 1), *box))
        for box in here:
            begun.setdefault(box, value)
    return filters
