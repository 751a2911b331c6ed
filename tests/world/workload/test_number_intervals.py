"""Subscriptions to intervals of numbers, and the publications that they match."""

import math

import numpy as np
import pytest

from halfway.world.workload.number_intervals import NumberIntervals


@pytest.mark.long
def test_intervals_are_as_the_paper_draws_them() -> None:
    """[drip §VI-A] half of the nodes; centre in 1…100; length with mean 5, clipped."""
    demand = NumberIntervals(4000, seed=2)
    has = demand.high >= demand.low
    assert abs(has.mean() - 0.5) < 4 * 0.5 / math.sqrt(4000)
    assert demand.low.min() >= 0
    assert demand.high.max() <= 99
    inner = has & (demand.low > 8) & (demand.high < 91)
    # An interval of length x covers x whole numbers on average.
    assert (demand.high - demand.low + 1)[inner].mean() == pytest.approx(5.0, abs=0.15)
    some = demand.next_publications(200.0, 10_000)
    assert abs(len(some.t) - 160) < 4 * math.sqrt(160)
    assert (np.diff(some.t) > 0).all()
    top = np.argsort(-demand.capability)[:40]
    share = demand.capability[top].sum() / demand.capability.sum()
    assert abs(np.isin(some.row, top).mean() - share) < 4 * 0.5 / math.sqrt(len(some.t))
