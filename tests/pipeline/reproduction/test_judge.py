"""Opinions at their limits."""

import math

import pytest

from halfway.pipeline.reproduction.judge import judge_number, judge_order, judge_range

NAN = math.nan


@pytest.mark.parametrize(
    ("published", "measured", "low", "high", "opinion", "reason"),
    [
        (100, 103.1, 102, 104, "agrees", "+3.1 % from the printed value, inside ±10 %"),
        (100, 115, 99.8, 130, "agrees", "+15.0 % from the printed value, the printed value is"),
        (100, 115, 100.4, 130, "agrees", "inside our interval [100.4, 130]"),
        (100, 115, 101, 130, "differs", "outside ±10 % and outside our interval [101, 130]"),
        (100, 80, 70, 90, "differs", "-20.0 %"),
        (100, 80, NAN, NAN, "not comparable", "one network gives no interval"),
        (100, 95, NAN, NAN, "agrees", "inside ±10 %"),
        (100, NAN, NAN, NAN, "not comparable", "nothing was measured"),
        (0, 0.3, 0.25, 0.35, "agrees", "+0.3 from a printed 0"),
        (2, 4, 1.75, 6.25, "not comparable", "too wide to decide"),
    ],
)
def test_numbers(published, measured, low, high, opinion, reason):
    found = judge_number(published, measured, low, high, relative=0.1)
    assert found[0] == opinion
    assert reason in found[1]


@pytest.mark.parametrize(
    ("measured", "low", "high", "opinion"),
    [
        (8, 7, 9, "agrees"),
        (10.5, 10.2, 10.9, "agrees"),
        (11, 10.4, 12, "not comparable"),
        (12, 11, 13, "differs"),
        (3, 2, 4, "differs"),
        (12, NAN, NAN, "not comparable"),
        (NAN, NAN, NAN, "not comparable"),
    ],
)
def test_ranges(measured, low, high, opinion):
    assert judge_range(6, 10, measured, low, high)[0] == opinion


@pytest.mark.parametrize(
    ("value", "low", "high", "opinion"),
    [
        (0.8, 0.7, 0.9, "agrees"),
        (0.8, 0.6, 1.05, "same trend"),
        (0.8, NAN, NAN, "same trend"),
        (1.1, 0.9, 1.3, "opposite trend"),
        (1.0, 0.9, 1.1, "not comparable"),
        (0.995, 0.992, 0.998, "same trend"),
        (1.0005, 1.0001, 1.0009, "opposite trend"),
        (1.2, 1.1, 1.3, "differs"),
        (NAN, NAN, NAN, "not comparable"),
    ],
)
def test_orders(value, low, high, opinion):
    assert judge_order(value, low, high)[0] == opinion


def test_a_distance_that_is_not_relevant_is_a_trend():
    assert judge_order(0.001, 0.0005, 0.0015, equal=0.0)[0] == "differs"
    found = judge_order(0.001, 0.0005, 0.0015, equal=0.0, relevant=0.02)
    assert found[0] == "opposite trend"
    assert "less than 0.02 above 0" in found[1]
    assert judge_order(1.099, 1.098, 1.0995, equal=1.1)[0] == "agrees"  # a limit, not an order


def test_an_order_of_differences_is_around_zero():
    assert judge_order(-2.0, -3.0, -1.0, equal=0.0)[0] == "agrees"
    assert "difference -2" in judge_order(-2.0, -3.0, 1.0, equal=0.0)[1]
