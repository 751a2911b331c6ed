"""Subscriptions as intervals: each run of consecutive topics to which a row subscribes is one
interval.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from halfway.world.workload.demand import Demand
from halfway.world.workload.roles import ALWAYS, Period


def intervals(demand: Demand) -> Iterator[tuple[int, int, int]]:
    """Yield the subscription intervals (row, first topic, last topic), in order of the last topic.

    A row subscribes to all topics of an interval for the same period: see `begins` and `ends`.
    """
    begun: dict[int, int] = {}
    for topic in range(demand.topics + 1):
        here = set(demand.subscribers[topic].tolist()) if topic < demand.topics else set()
        if demand.periods:
            later = {row for row in here & begun.keys() if _period(demand, row, topic)
                     != _period(demand, row, topic - 1)}  # fmt: skip
            for row in sorted(later):
                yield row, begun.pop(row), topic - 1
        for row in sorted(begun.keys() - here):
            yield row, begun.pop(row), topic - 1
        for row in here - begun.keys():
            begun[row] = topic


def begins(demand: Demand, some: Sequence[tuple[int, int, int]]) -> npt.NDArray[np.float64]:
    """Return the seconds at which each of the subscription intervals begins."""
    return np.array([_period(demand, row, first)[0] for row, first, _ in some], np.float64)


def ends(demand: Demand, some: Sequence[tuple[int, int, int]]) -> npt.NDArray[np.float64]:
    """Return the seconds at which each of the subscription intervals ends, or inf for an interval
    without end.
    """
    return np.array([_period(demand, row, first)[1] for row, first, _ in some], np.float64)


def _period(demand: Demand, row: int, topic: int) -> Period:
    return demand.periods.get((row, topic), ALWAYS)
