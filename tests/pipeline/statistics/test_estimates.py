"""Estimates against slow, direct computations, and the coverage of intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from halfway.pipeline.statistics.estimates import (
    around,
    bounded,
    difference,
    estimate,
    mean_interval,
    ratio,
    weights,
)  # fmt: skip
from halfway.pipeline.statistics.summary import Summary


def _clustered(seed, networks, units, effect=1.0, shift=0.0):
    random = np.random.default_rng(seed)
    level = random.normal(0, effect, networks)
    values = 20 + shift + np.repeat(level, units) + random.normal(0, 3, networks * units)
    return values, np.repeat(np.arange(networks), units)


def _summary(values, networks, replicates=None):
    return Summary(parameters={}, metric="m", **estimate(values, networks, replicates))


def test_resamples_equal_sorting_them_one_by_one():
    values, networks = _clustered(1, 7, 11)
    values = np.round(values)
    found = estimate(values, networks)
    for b in range(0, 400, 37):
        drawn = np.repeat(np.arange(7), weights(7)[b].astype(int))
        sample = np.concatenate([values[networks == i] for i in drawn])
        assert found["boot_median"][b] == np.median(sample)
        assert found["boot_mean"][b] == pytest.approx(sample.mean(), rel=1e-12)


def test_plain_statistics_are_numpys():
    values, networks = _clustered(2, 10, 101)
    values[0] = 400.0
    found = estimate(values, networks)
    quartiles = np.percentile(values, (25, 50, 75))
    assert [found["lower_quartile"], found["median"], found["upper_quartile"]] == list(quartiles)
    assert (found["mean"], found["maximum"]) == (values.mean(), 400.0)
    reach = quartiles[2] + 1.5 * (quartiles[2] - quartiles[0])
    assert found["upper_whisker"] == values[values <= reach].max() < 400
    assert (found["networks"], found["units"]) == (10, 1010)


def test_one_network_has_no_interval():
    found = estimate([1.0, 2.0, 9.0], [0, 0, 0])
    assert found["median"] == 2.0
    assert math.isnan(found["mean_low"])
    assert math.isnan(found["median_high"])
    with pytest.raises(ValueError, match="no values"):
        estimate([], [])


def test_a_missing_replicate_keeps_points_paired():
    values, networks = _clustered(3, 10, 20)
    all_of_it = _summary(values, networks)
    lacking = _summary(values[networks != 9], networks[networks != 9], 10)
    assert lacking.networks == 9
    assert np.corrcoef(all_of_it.boot_mean, lacking.boot_mean)[0, 1] > 0.6


def test_pairing_narrows_ratios_and_differences():
    values, networks = _clustered(4, 20, 30, effect=5.0)
    other = values * 1.1 + np.random.default_rng(5).normal(0, 0.3, len(values))
    a, b = _summary(other, networks), _summary(values, networks)
    value, low, high = ratio(a, b, "mean")
    assert low < 1.1 < high
    assert high - low < 0.05 < (a.mean_high - a.mean_low) / b.mean
    value, low, high = difference(a, b, "median")
    assert value == a.median - b.median
    assert low < value < high


def test_a_ratio_to_nothing_is_nothing():
    zero = _summary(np.zeros(4), [0, 0, 1, 1])
    assert all(math.isnan(x) for x in ratio(zero, zero, "mean"))


def _coverage(networks, studies):
    hits = np.zeros(2)
    for study in range(studies):
        values, where = _clustered([6, study], networks, 30)
        found = estimate(values, where)
        hits += [
            found["mean_low"] <= 20 <= found["mean_high"],
            found["median_low"] <= 20 <= found["median_high"],
        ]
    return hits / studies


def test_intervals_cover_about_their_nominal_level():
    assert (_coverage(10, 150) >= 0.89).all()


@pytest.mark.slow
@pytest.mark.parametrize("networks", [5, 10, 100])
def test_intervals_cover_95_percent(networks):
    assert np.abs(_coverage(networks, 2000) - 0.95).max() < 0.02


def test_around_ignores_resamples_without_a_value():
    low, high = around(1.0, [0.5, 1.5, math.nan], 5)
    assert low < 1.0 < high


VALUES = st.lists(st.integers(-1000, 1000).map(lambda k: k / 7.0), min_size=2, max_size=40)


@given(VALUES)
def test_an_interval_of_a_mean_ends_at_the_farther_of_students_and_halls_end(values):
    own = np.array(values)
    mean, low, high = mean_interval(own)
    if np.ptp(own) == 0.0:
        assert (low, high) == pytest.approx((mean, mean))
        return
    count, skewness, spread = len(own), float(stats.skew(own)), own.std(ddof=1)

    def statistic(truth):
        x = (mean - truth) / spread
        return x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / (6 * count)

    quantile = stats.t.ppf(0.975, count - 1) / math.sqrt(count)
    far = 1e4 * spread
    halls = [
        optimize.brentq(lambda truth, t=t: statistic(truth) - t, mean - far, mean + far)
        for t in (quantile, -quantile)
    ]
    near = {"abs": 1e-5 * spread}
    assert low == pytest.approx(min(halls[0], mean - quantile * spread), **near)
    assert high == pytest.approx(max(halls[1], mean + quantile * spread), **near)


@given(VALUES, st.floats(0.01, 100.0))
def test_an_interval_of_a_mean_moves_turns_and_scales_with_its_values(values, scale):
    own = np.array(values)
    mean, low, high = mean_interval(own)
    near = {"abs": 1e-6 * scale * (1.0 + np.ptp(own)), "rel": 1e-9}
    assert mean_interval(-scale * own + 3.0) == pytest.approx(
        (3.0 - scale * mean, 3.0 - scale * high, 3.0 - scale * low), **near
    )


@given(VALUES.map(lambda some: np.abs(np.array(some)) / 150.0))
def test_bounded_intervals_stay_between_the_bounds_and_keep_their_estimate(values):
    shares = np.minimum(values, 1.0)
    row = Summary({}, "share", **estimate(shares, np.arange(len(shares))))
    inside = bounded(row, (0.0, 1.0))
    for name in ("mean", "median"):
        low, value, high = (getattr(inside, name + end) for end in ("_low", "", "_high"))
        assert 0.0 <= low <= value <= high <= 1.0
        assert value == getattr(row, name)
        wide = getattr(row, f"{name}_high") - getattr(row, f"{name}_low")
        assert high - low <= wide + 1e-12


def test_bounds_hardly_change_an_interval_far_from_them():
    row = Summary({}, "share", **estimate(np.array([0.49, 0.5, 0.51] * 4), np.arange(12)))
    inside = bounded(row, (0.0, 1.0))
    assert (inside.mean_low, inside.mean_high) == pytest.approx(
        (row.mean_low, row.mean_high), abs=1e-5
    )
    alone = Summary({}, "share", **estimate([0.2, 0.4], [0, 0]))
    assert math.isnan(bounded(alone, (0.0, 1.0)).mean_low)


def test_the_longer_side_of_an_interval_is_the_skewed_one():
    own = np.array([0.0] * 9 + [1.0])
    mean, low, high = mean_interval(own)
    student = stats.t.ppf(0.975, 9) * own.std(ddof=1) / math.sqrt(10)
    assert mean - low == pytest.approx(student)
    assert high - mean > 2.0 * student
    t, s = 3.182446, 1.290994  # of t(0.975, 3), and of the values 1, 2, 3, 4
    assert mean_interval([1.0, 2.0, 3.0, 4.0])[1] == pytest.approx(2.5 - t * s / 2.0, rel=1e-5)
    assert mean_interval([]) == pytest.approx((math.nan,) * 3, nan_ok=True)
    assert mean_interval([2.0]) == pytest.approx((2.0, math.nan, math.nan), nan_ok=True)
