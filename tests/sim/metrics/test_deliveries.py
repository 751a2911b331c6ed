"""Histograms, delivery accounting, energy and load."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.histogram import Histogram
from halfway.sim.metrics.outcome import load
from halfway.sim.radio.energy import Airtime, Power, air_seconds, checked, spent
from halfway.world.workload.demand import Publications

VALUES = st.lists(st.floats(0.0, 1e9), min_size=1, max_size=80)


@given(VALUES, st.integers(1, 5), st.floats(0.01, 1.0))
def test_quantiles_of_a_histogram_are_near_those_of_the_values(
    values: list[float], parts: int, share: float
) -> None:
    histogram = Histogram()
    for part in np.array_split(np.array(values), parts):
        histogram.add(part)
    exact = sorted(values)[max(1, math.ceil(share * len(values) - 1e-9)) - 1]
    assert histogram.quantile(share) == pytest.approx(exact, rel=0.008, abs=1e-300)
    assert histogram.mean == pytest.approx(np.mean(values))
    assert (histogram.count, histogram.max) == (len(values), max(values))
    whole = Histogram()
    whole.add(values)
    assert (whole.sum, whole.quantile(share)) == (histogram.sum, histogram.quantile(share))


def test_small_whole_numbers_are_exact() -> None:
    histogram = Histogram()
    histogram.add(np.arange(128))
    assert [histogram.quantile((k + 1) / 128) for k in range(128)] == list(range(128))
    assert math.isnan(Histogram().quantile(0.5))


def deliveries(
    subscribers: list[list[int]], n: int = 6, window: int = 4, periods: Any = None
) -> DeliveryAccounting:
    rows = [np.array(some, np.int32) for some in subscribers]
    demand: Any = SimpleNamespace(topics=len(rows), subscribers=rows, periods=periods or {})
    return DeliveryAccounting(demand, n, window)


def publish(
    accounting: DeliveryAccounting, event: int, t: float, row: int, topic: int, down: Any = ()
) -> bool:
    up = np.ones(6, bool)
    up[list(down)] = False
    columns = (np.array([value]) for value in (t, row, topic, event))
    return accounting.enter_publication(0, Publications(*columns), up, None)


def deliver(accounting: DeliveryAccounting, *notifications: tuple[int, int, float, int]) -> None:
    event, row, at, hops = (np.array(column) for column in zip(*notifications, strict=True))
    accounting.enter_notifications(event, row, at.astype(float), hops)


def test_expected_are_the_subscribers_that_are_up_but_for_the_publisher() -> None:
    accounting = deliveries([[1, 2, 3]])
    assert publish(accounting, 0, 1.0, 1, 0, down=[3])
    accounting.settle(1.0)
    assert accounting.expected == 1  # 2: not 1, which publishes, and not 3, which is down
    assert not publish(accounting, 1, 2.0, 3, 0, down=[3])
    assert (accounting.published, accounting.unpublished) == (1, 0), "before its time"
    accounting.settle(np.inf)
    assert (accounting.published, accounting.unpublished, accounting.expected) == (1, 1, 1)


def test_a_delivery_counts_once_and_keeps_its_delay() -> None:
    accounting = deliveries([[1, 2, 3]])
    publish(accounting, 0, 1.0, 0, 0)
    deliver(accounting, (0, 1, 1.5, 2), (0, 1, 1.75, 9), (0, 2, 3.0, 4))
    deliver(accounting, (0, 2, 4.0, 1), (0, 5, 4.0, 1))
    accounting.settle(9.0)
    assert (
        accounting.delivered,
        accounting.duplicates,
        accounting.unsolicited,
        accounting.late,
    ) == (2, 2, 1, 0)
    assert (accounting.latency_s.mean, accounting.latency_s.max) == (1.25, 2.0)
    assert accounting.hops.mean == 3.0
    assert accounting.delivery_ratio == pytest.approx(2 / 3)


def test_a_subscriber_that_was_down_catches_up_and_is_not_expected() -> None:
    accounting = deliveries([[1, 2, 3]])
    publish(accounting, 0, 1.0, 0, 0, down=[3])
    deliver(accounting, (0, 3, 5.0, 1), (0, 1, 2.0, 1))
    deliver(accounting, (0, 3, 6.0, 1))
    accounting.settle(9.0)
    assert (
        accounting.expected,
        accounting.delivered,
        accounting.caught_up,
        accounting.duplicates,
    ) == (2, 1, 1, 1)
    assert accounting.delivery_ratio == 0.5


def test_an_event_closes_when_a_window_of_newer_ones_was_published() -> None:
    accounting = deliveries([[1]], window=2)
    for event in range(3):
        publish(accounting, event, float(event), 0, 0)
    deliver(accounting, (0, 1, 1.5, 1), (1, 1, 9.0, 1), (2, 1, 9.0, 1))
    assert (accounting.delivered, accounting.late) == (3, 0), (
        "0 was delivered before 2 was published"
    )
    again = deliveries([[1]], window=2)
    for event in range(3):
        publish(again, event, float(event), 0, 0)
    deliver(again, (0, 1, 2.0, 1))
    assert (again.delivered, again.late) == (0, 1)


def test_stretch_is_hops_over_those_of_a_shortest_path() -> None:
    accounting = deliveries([[1, 2]])
    some = Publications(np.array([0.0]), *(np.array([k]) for k in (0, 0, 0)))
    accounting.enter_publication(0, some, np.ones(6, bool), np.array([0, 2, -1, 0, 0, 0], np.int32))
    deliver(accounting, (0, 1, 1.0, 3), (0, 2, 1.0, 3))
    assert (accounting.stretch.count, accounting.stretch.mean) == (1, 1.5)


def test_energy_is_time_times_power_and_idle_is_the_rest() -> None:
    power = Power(2.0, 3.0, 0.5, bit_rate=800.0)
    tx, rx = (air_seconds(np.array(volume), power.bit_rate) for volume in ([100, 0], [300, 100]))
    found = spent(power, Airtime(tx, rx), np.array([10.0, 0.5]))
    assert list(found.tx) == [2.0, 0.0]
    assert list(found.rx) == [9.0, 3.0]
    assert list(found.idle) == [3.0, 0.0]
    assert list(found.total) == [14.0, 3.0]
    with pytest.raises(Problem, match="bit_rate = 0"):
        checked(power._replace(bit_rate=0.0))


def test_gini_is_0_for_equal_loads_and_near_1_if_one_node_has_it_all() -> None:
    assert load(np.full((50, 2), 3)).gini == pytest.approx(0.0)
    one = np.zeros((50, 2), np.int64)
    one[7] = (4, 6)
    assert load(one) == (0.2, 0.0, 10.0, pytest.approx(0.98))
    assert load(np.zeros((3, 2), np.int64)).gini == 0.0
