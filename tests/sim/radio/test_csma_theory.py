"""The CSMA radio against theory: shares received, within 4 standard errors."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.sim.radio.csma import WIFI_A, WIFI_B, csma
from tests.sim.radio import slotted
from tests.sim.radio.loads import hidden, poisson_domain, saturated

SEEDS = range(6)


def error(values: list[float]) -> float:
    """The standard error of the mean, at least 5e-4."""
    return max(float(np.std(values, ddof=1) / np.sqrt(len(values))), 5e-4)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_saturated_broadcasts_get_through_as_renewal_theory_says(n: int) -> None:
    runs = [saturated(n, WIFI_A, 0.4, seed) for seed in SEEDS]
    for got, exact in (
        ([run.received for run in runs], slotted.share_alone(n, 15)),
        ([run.busy for run in runs], slotted.busy_share(n, 15, 9e-6, 34e-6, 124e-6)),
    ):
        assert abs(np.mean(got) - exact) < 4 * error(got)


@pytest.mark.parametrize("n", [5, 20])
def test_saturated_unicast_collides_as_a_slotted_simulation_does(n: int) -> None:
    unlimited = WIFI_B._replace(retries=10**6)
    measured = [1 - saturated(n, unlimited, 4.0, seed, unicast=True).received for seed in SEEDS]
    slots = [slotted.acknowledged(n, 31, 1023, 2000, seed)[0] for seed in SEEDS]
    assert abs(np.mean(measured) - np.mean(slots)) < 4 * np.hypot(error(measured), error(slots))
    # Bianchi's model assumes that collisions are independent: a few percent off.
    assert abs(np.mean(measured) - slotted.bianchi(n, 31, 1023)[1]) < 0.03


def test_hidden_nodes_collide_as_theory_says() -> None:
    shares = [hidden(WIFI_A, 1.0, seed) for seed in SEEDS]
    assert abs(np.mean(shares) - slotted.hidden_share(WIFI_A, 124e-6)) < 4 * error(shares)
    few = [hidden(WIFI_A, 4.0, seed, rate=200.0) for seed in SEEDS]
    assert abs(np.mean(few) - slotted.aloha_share(200.0, 124e-6)) < 4 * error(few)


def test_a_load_below_saturation_is_carried_completely() -> None:
    carried, repeated = poisson_domain(10, WIFI_B, 20.0, 10.0, seed=1)
    assert carried == 1.0
    assert 0 < repeated < 0.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bit_rate": 0.0}, "radio.bit_rate = 0"),
        ({"slot_s": np.nan}, "radio.slot_s = nan"),
        ({"difs_s": 20e-6}, "radio.difs_s = 2e-05"),
        ({"sense_s": 20e-6}, "radio.sense_s = 2e-05"),
        ({"cw_min": 64, "cw_max": 31}, "radio.cw_min = 64: expected 0 to cw_max = 31"),
        ({"retries": -1}, "radio.retries = -1"),
        ({"queue_limit": 0}, "radio.queue_limit = 0"),
    ],
)
def test_an_impossible_timing_is_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(Problem, match=message):
        csma(2, 1, WIFI_B._replace(**change))  # type: ignore[arg-type]
