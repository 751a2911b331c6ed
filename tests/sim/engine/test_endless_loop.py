"""The limit of records at one instant."""

import pytest

from halfway.problem import Problem
from halfway.sim.engine.endless_loop import InstantLimit


def test_time_that_stands_still_is_an_error() -> None:
    instant = InstantLimit(most=100)
    instant.check(1.0, 5_000, 0, "mine")  # the first time that this instant is seen
    instant.check(1.0, 5_100, 0, "mine")
    with pytest.raises(Problem, match=r"mine: more than 100 records at 1 s, .*timer of 0 s"):
        instant.check(1.0, 5_101, 0, "mine")


def test_time_that_advances_is_none() -> None:
    instant = InstantLimit(most=100)
    for second in range(1, 50):
        instant.check(float(second), 90 * second, 0, "mine")
        instant.check(float(second), 90 * second + 80, 0, "mine")


def test_all_records_in_flight_may_be_due_at_one_instant() -> None:
    instant = InstantLimit(most=100)
    instant.check(1.0, 5_000, 300, "mine")
    instant.check(1.0, 5_400, 0, "mine")
    with pytest.raises(Problem, match="time does not advance"):
        instant.check(1.0, 5_401, 0, "mine")
