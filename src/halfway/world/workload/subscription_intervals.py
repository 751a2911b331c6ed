"""Subscriptions as intervals, the runs of consecutive topics that each row subscribes to, and as
boxes, in which each attribute of the content has an interval.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.world.workload.attribute_space import Box, boxes_of
from halfway.world.workload.demand import Demand
from halfway.world.workload.named_roles import ALWAYS, Period


def intervals(demand: Demand) -> Iterator[tuple[int, int, int]]:
    """Yield the subscription intervals (row, first topic, last topic), in order of the last topic.

    A row subscribes to all topics of an interval for the same period: see `begins` and `ends`.
    """
    begun: dict[int, int] = {}
    for topic in range(demand.topics + 1):
        here = set(demand.subscribers[topic].tolist()) if topic < demand.topics else set()
        if demand.periods:
            later = {
                row
                for row in here & begun.keys()
                if _period(demand, row, topic) != _period(demand, row, topic - 1)
            }
            for row in sorted(later):
                yield row, begun.pop(row), topic - 1
        for row in sorted(begun.keys() - here):
            yield row, begun.pop(row), topic - 1
        for row in here - begun.keys():
            begun[row] = topic


def boxes(demand: Demand) -> list[tuple[int, int, Box]]:
    """Return the subscriptions of each row as boxes: (row, first topic of the box, the box).

    Without attributes, a box is an interval of topics, in the order of `intervals`. A row
    subscribes to all topics of a box for the same period.
    """
    if len(demand.shape) < 2:
        return [(row, first, ((first, last),)) for row, first, last in intervals(demand)]
    cells: dict[tuple[int, Period], list[int]] = {}
    for topic, rows in enumerate(demand.subscribers):
        for row in rows.tolist():
            cells.setdefault((row, _period(demand, row, topic)), []).append(topic)
    return [
        (row, int(np.ravel_multi_index([first for first, _ in box], demand.shape)), box)
        for (row, _), rows_of_filter in sorted(cells.items())
        for box in boxes_of(rows_of_filter, demand.shape)
    ]


def begins(demand: Demand, some: Sequence[tuple[int, int, Any]]) -> npt.NDArray[np.float64]:
    """Return the seconds at which each of the subscription intervals, or boxes, begins."""
    return np.array([_period(demand, row, first)[0] for row, first, _ in some], np.float64)


def ends(demand: Demand, some: Sequence[tuple[int, int, Any]]) -> npt.NDArray[np.float64]:
    """Return the seconds at which each of the subscription intervals, or boxes, ends, or inf for
    one without end.
    """
    return np.array([_period(demand, row, first)[1] for row, first, _ in some], np.float64)


def _period(demand: Demand, row: int, topic: int) -> Period:
    return demand.periods.get((row, topic), ALWAYS)
