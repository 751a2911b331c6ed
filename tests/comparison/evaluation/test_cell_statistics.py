"""Cells: means over networks, paired differences, and a best_system only where there is one."""

import math

import numpy as np
import pytest

from halfway.comparison.evaluation import detection, group_metrics
from halfway.comparison.evaluation.cell_statistics import (
    StoppingRule,
    best_system,
    cells_of,
    curve,
    half_width,
    too_wide,
)
from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.metrics import METRICS, guard_of, purpose_of

LESS = Metric("energy", "energy", "J", "")
MORE = Metric("delivery-ratio", "delivery ratio", "", "", "more", most=1.0)
NEITHER = Metric("degree", "degree", "", "", "")
NETWORK = np.array([5.0, 1.0, 3.0, 9.0, 7.0, 2.0])  # differs from network to network


def test_a_mean_and_its_interval_are_students() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    (cell,) = cells_of(0, LESS, {"a": values}, "a")
    assert cell.mean.value == 2.5
    side = 3.18245 * 1.29099 / 2.0  # t(0.975, 3) = 3.18245, s = 1.29099
    assert cell.mean.high == pytest.approx(2.5 + side, rel=1e-5)
    assert cell.mean.low == pytest.approx(2.5 - 2.5 * math.tanh(side / 2.5), rel=1e-5)  # energy > 0
    assert (cell.replicates, cell.difference, cell.best) == (4, None, False)


def test_differences_are_paired_by_network() -> None:
    wiggle = np.array([0.01, -0.02, 0.0, 0.02, -0.01, 0.0])
    cells = cells_of(2, LESS, {"a": NETWORK, "b": NETWORK + 0.1 + wiggle}, "a")
    against = cells[1].difference
    assert against is not None
    assert 0.0 < against.low < 0.1 < against.high < 0.12
    # Unpaired, the difference would not be significant.
    assert cells[0].mean.low < cells[1].mean.value < cells[0].mean.high
    assert [cell.best for cell in cells] == [True, False]
    assert {cell.point for cell in cells} == {2}


def test_the_better_direction_is_that_of_the_metric() -> None:
    values = {"a": NETWORK, "b": NETWORK + 1.0}
    assert [best_system(one, values) for one in (LESS, MORE, NEITHER)] == ["a", "b", None]


def test_no_system_is_best_by_chance_by_absence_or_alone() -> None:
    assert best_system(LESS, {"a": NETWORK, "b": NETWORK}) is None
    assert best_system(LESS, {"a": NETWORK, "b": NETWORK[::-1]}) is None
    assert best_system(LESS, {"a": NETWORK}) is None
    missing = np.where(np.arange(6) == 3, np.nan, NETWORK - 5.0)
    assert best_system(LESS, {"a": missing, "b": NETWORK}) is None
    # A system without any value does not prevent a best one.
    nothing = np.full(6, np.nan)
    assert best_system(LESS, {"a": NETWORK, "b": NETWORK + 1.0, "c": nothing}) == "a"
    assert best_system(LESS, {"a": NETWORK[:1], "b": NETWORK[:1] + 1.0}) is None


def test_more_systems_make_it_harder_to_be_best() -> None:
    wiggle = np.array([0.9, -0.1, 0.55, 0.2, 0.35, 0.5])
    few = {"a": NETWORK, "b": NETWORK + wiggle}
    many = few | {f"c{k}": NETWORK + wiggle + 5.0 * k for k in range(1, 30)}
    assert best_system(LESS, few) == "a"
    assert best_system(LESS, many) is None


def test_chance_alone_rarely_names_a_best_system() -> None:
    """Eight equal systems, 4,000 comparisons: at most 5 % name one (by the bound 2.5 + 0.36 %)."""
    generator = np.random.default_rng(8)
    named = 0
    for _ in range(4_000):
        values = generator.normal(size=10) + generator.normal(size=(8, 10))
        named += best_system(LESS, {str(k): column for k, column in enumerate(values)}) is not None
    assert named / 4_000 < 0.05


def test_missing_values_are_left_out_and_counted() -> None:
    gaps = np.array([np.nan, 2.0, np.nan, 4.0])
    cells = cells_of(0, LESS, {"a": np.array([1.0, 2.0, 3.0, 5.0]), "b": gaps}, "a")
    assert (cells[1].replicates, cells[1].mean.value) == (2, 3.0)
    assert cells[1].difference is not None
    assert cells[1].difference.value == -0.5
    assert math.isnan(cells[1].values[0])
    (none,) = cells_of(0, LESS, {"a": np.full(3, np.nan)}, "a")
    assert none.replicates == 0
    assert math.isnan(none.mean.value)


def test_the_half_width_of_an_interval() -> None:
    (cell,) = cells_of(0, LESS, {"a": np.array([9.0, 11.0, 10.0, 10.0])}, "a")
    assert half_width(cell, relative=True) == pytest.approx(cell.mean.margin / 10.0)
    assert half_width(cell, relative=False) == cell.mean.margin  # the longer side
    (one,) = cells_of(0, LESS, {"a": np.array([9.0])}, "a")
    assert half_width(one, relative=True) == math.inf
    (zero,) = cells_of(0, LESS, {"a": np.zeros(4)}, "a")
    assert half_width(zero, relative=True) == 0.0


def test_a_share_stays_between_0_and_1() -> None:
    (cell,) = cells_of(0, MORE, {"a": np.array([1.0, 1.0, 0.97, 1.0])}, "a")
    assert 0.999 < cell.mean.high < 1.0
    assert cell.mean.low < 0.9925 - 3.18245 * 0.015 / 2.0  # Student's, on the long side
    assert cell.mean.margin == pytest.approx(0.9925 - cell.mean.low)
    assert half_width(cell, relative=False) == cell.mean.margin


def test_intervals_stay_within_the_range_of_their_metric() -> None:
    wide = {"a": np.array([0.1, 0.2, 9.0]), "b": np.array([1.0, 0.0, 0.9])}
    stretch = Metric("stretch", "stretch", "", "", least=1.0)
    for metric, values in ((LESS, wide), (MORE, {"a": wide["b"], "b": 1.0 - wide["b"]}),
                           (stretch, {"a": 1.0 + wide["a"], "b": 1.0 + wide["b"]})):  # fmt: skip
        for cell in cells_of(0, metric, values, "a"):
            low, high = metric.bounds
            assert low < cell.mean.low < cell.mean.value < cell.mean.high < high
            if cell.difference and metric.most:
                assert -1.0 < cell.difference.low < cell.difference.high < 1.0
    (all_lost,) = cells_of(0, MORE, {"a": np.zeros(4)}, "a")
    assert (all_lost.mean.low, all_lost.mean.high) == (0.0, 0.0)


def test_a_cell_states_whether_its_system_delivers_enough_to_be_compared() -> None:
    shares = {"idle": np.zeros(6), "good": np.full(6, 0.98), "best": np.full(6, 0.99)}
    costs = dict.fromkeys(shares, NETWORK)
    cells = cells_of(0, LESS, costs, "best", shares)
    assert [cell.comparable for cell in cells] == [False, True, True]
    assert all(cell.comparable for cell in cells_of(0, MORE, shares, "best"))


def test_curves_are_means_over_networks_that_have_one() -> None:
    assert curve([np.arange(101.0), np.zeros(0), np.arange(101.0) + 2.0])[50] == 51.0
    assert curve([np.zeros(0)]) == ()


def test_no_system_is_best_by_delivering_nothing() -> None:
    cost = {"idle": NETWORK, "good": NETWORK + 1.0, "best": NETWORK + 2.0}
    most = np.full(6, 0.99)
    shares = {"idle": np.zeros(6), "good": most - 0.02, "best": most}
    assert best_system(LESS, cost) == "idle"
    assert best_system(LESS, cost, shares) == "good"
    # One system alone is not compared.
    assert best_system(LESS, cost, shares | {"good": most - 0.021}) is None
    # Gaps are taken network by network, where both have a share.
    gaps = np.where(np.arange(6) < 3, np.nan, most)
    assert best_system(LESS, cost, shares | {"idle": gaps}) == "idle"
    assert best_system(LESS, cost, {name: np.full(6, np.nan) for name in cost}) is None
    stars = [one.best for one in cells_of(0, LESS, cost, "idle", shares)]
    assert stars == [False, True, False]


def test_costs_are_guarded_by_delivery_and_recovery_time_by_the_recovery_rate() -> None:
    others = {"delivery-ratio": None, "recovery-rate": None, "recovery-time": "recovery-rate"}
    assert {one.name: guard_of(one.name) for one in METRICS if one.better} == {
        one.name: others.get(one.name, "delivery-ratio")
        for one in METRICS
        if one.name not in ("bytes-per-notification", "hello-messages", "hello-bytes")
    }  # fmt: skip


def test_costs_of_failure_detectors_are_guarded_by_the_detected_share() -> None:
    purpose = purpose_of(detection.NAMES)
    assert guard_of("detected-share", purpose) is None
    assert {guard_of(name, purpose) for name in ("energy", "mistake-rate")} == {"detected-share"}


def test_costs_of_groups_are_guarded_by_the_completeness_of_views() -> None:
    purpose = purpose_of(group_metrics.NAMES)
    assert (purpose.label, purpose.cost) == ("view completeness", "messages-per-member")
    assert guard_of("view-completeness", purpose) is None
    assert guard_of("energy", purpose) == "view-completeness"


def test_a_stopping_rule_asks_for_narrow_intervals_of_systems_with_a_value() -> None:
    rule = StoppingRule(0.1, "energy")
    values = {"a": np.array([10.0, 10.1, 9.9]), "b": np.array([5.0, 9.0, 1.0])}
    values["c"] = np.full(3, np.nan)
    cells = cells_of(0, LESS, values, "a")
    assert [cell.system for cell in too_wide(rule, cells)] == ["b"]
    assert too_wide(None, cells) == []
    assert too_wide(StoppingRule(0.1), cells) == []
