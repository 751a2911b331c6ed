"""Metrics of only some runs, read from an optional part of the outcome."""

import math
from collections.abc import Callable
from typing import TypeVar

from halfway.sim.metrics.outcome import Outcome

OutcomePart = TypeVar("OutcomePart")
ValueOf = Callable[[Outcome], float]


def reader(
    part: Callable[[Outcome], OutcomePart | None],
) -> Callable[[Callable[[OutcomePart], float]], ValueOf]:
    """Return a function that turns a function of an outcome's part into a metric.

    A run whose outcome lacks the part has the value nan.
    """

    def read(value: Callable[[OutcomePart], float]) -> ValueOf:
        def of_run(outcome: Outcome) -> float:
            measured = part(outcome)
            return math.nan if measured is None else value(measured)

        return of_run

    return read
