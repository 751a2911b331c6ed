"""The limit of records at one instant."""

import pytest

from halfway.problem import Problem
from halfway.sim.endless_loop import InstantLimit


def test_time_that_stands_still_is_an_error() -> None:
    instant = InstantLimit(most=100)
    instant.check(1.0, 5_000, "mine")  # the first time that this instant is seen
    instant.check(1.0, 5_100, "mine")
    with pytest.raises(Problem, match=r"mine: more than 100 records at 1 s, .*timer of 0 s"):
        instant.check(1.0, 5_101, "mine")


def test_time_that_advances_is_none() -> None:
    instant = InstantLimit(most=100)
    for second in range(1, 50):
        instant.check(float(second), 90 * second, "mine")
        instant.check(float(second), 90 * second + 80, "mine")
