"""Filters on the content of events: conjunctions of intervals.

[Carzaniga, Rosenblum & Wolf 2001, §3] a filter is a set of constraints on attributes, all of which
must hold. A constraint here is a closed interval of doubles: x = 3 is [3, 3], and x < 3 ends at the
double below 3. The caller turns words into numbers. So the result for an event is exact.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.problem import Problem

Bounds = tuple[float, float]
_OPEN_END = "use -inf or inf for an open end"


class Filters(NamedTuple):
    """Content filters: filter f has the constraints first[f]:first[f+1], with at most one
    constraint for an attribute.

    An event without the attribute (NaN) fails the constraint. Every event passes a filter without
    constraints.
    """

    first: npt.NDArray[np.int32]  # [filters + 1]
    attribute: npt.NDArray[np.int32]  # [constraints]
    low: npt.NDArray[np.float64]  # [constraints] least value that passes
    high: npt.NDArray[np.float64]  # [constraints] greatest; below `low` if no value passes


def filters(wanted: Sequence[Mapping[int, Bounds | Sequence[Bounds]]]) -> Filters:
    """Return content filters from dictionaries: attribute -> (low, high), or a list of such
    intervals.

    Raises Problem for a bound that is not a number and for a negative attribute.
    """
    first, attribute, low, high = [0], [], [], []
    for f, constraints in enumerate(wanted):
        for a in sorted(constraints):
            least, most = _intersection(f, a, constraints[a])
            attribute.append(a)
            low.append(least)
            high.append(most)
        first.append(len(attribute))
    return Filters(
        np.array(first, np.int32),
        np.array(attribute, np.int32),
        np.array(low, np.float64),
        np.array(high, np.float64),
    )


def below(value: float) -> float:
    """Return the upper end of the content filter `x < value`: the greatest double below the
    value.
    """
    return float(np.nextafter(value, -np.inf))


def above(value: float) -> float:
    """Return the lower end of the content filter `x > value`: the least double above the value."""
    return float(np.nextafter(value, np.inf))


def _intersection(f: int, attribute: int, bounds: Bounds | Sequence[Bounds]) -> tuple[float, float]:
    intervals = np.atleast_2d(np.asarray(bounds, np.float64))
    where = f"filter {f}, attribute {attribute}"
    if intervals.ndim != 2 or intervals.shape[1] != 2:
        raise Problem("interval: expected a pair (low, high)", where=where)
    if np.isnan(intervals).any():
        raise Problem("interval: expected numbers, not NaN", where=where, remedy=_OPEN_END)
    if attribute < 0:
        raise Problem("expected an attribute number of 0 or more", where=where)
    return float(intervals[:, 0].max()), float(intervals[:, 1].min())


@inlined
def matches(filters, f, values):
    """Return whether the values [attributes] of an event pass content filter f; NaN is a missing
    value.
    """
    for c in range(filters.first[f], filters.first[f + 1]):
        a = filters.attribute[c]
        if a >= values.shape[0] or not filters.low[c] <= values[a] <= filters.high[c]:
            return False
    return True


@kernel
def match_matrix(filters, values):
    """Return a matrix [events, filters]: True if the values of event e pass content filter f."""
    found = np.empty((values.shape[0], filters.first.shape[0] - 1), np.bool_)
    filters, values = borrowed(filters), borrowed(values)
    for e in range(found.shape[0]):
        for f in range(found.shape[1]):
            found[e, f] = matches(filters, f, values[e])
    return found
