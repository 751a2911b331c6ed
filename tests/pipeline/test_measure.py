"""Estimates against slow, obvious computations, and intervals against their promise."""

import math

import numpy as np
import pytest

from halfway.pipeline.measure import around, difference, estimate, ratio, weights
from halfway.pipeline.study import Summary


def _clustered(seed, networks, units, effect=1.0, shift=0.0):
    dice = np.random.default_rng(seed)
    level = dice.normal(0, effect, networks)
    values = 20 + shift + np.repeat(level, units) + dice.normal(0, 3, networks * units)
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


def test_intervals_cover_about_as_often_as_they_promise():
    assert (_coverage(10, 150) >= 0.89).all()


@pytest.mark.slow
@pytest.mark.parametrize("networks", [5, 10, 100])
def test_intervals_cover_95_percent(networks):
    assert np.abs(_coverage(networks, 2000) - 0.95).max() < 0.02


def test_around_ignores_resamples_without_a_value():
    low, high = around(1.0, [0.5, 1.5, math.nan], 5)
    assert low < 1.0 < high
