"""The contended medium against theory: shares that get through, within 4 standard errors."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.sim.radio.csma import WIFI_A, WIFI_B, contention
from tests.sim.engine.loads import hidden, poisson_domain, saturated
from tests.sim.radio import slotted

SEEDS = range(6)


def error(values: list[float]) -> float:
    """The standard error of their mean, and never less than what one part in a thousand is."""
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
    patient = WIFI_B._replace(retries=10**6)
    ours = [1 - saturated(n, patient, 4.0, seed, unicast=True).received for seed in SEEDS]
    slots = [slotted.acknowledged(n, 31, 1023, 2000, seed)[0] for seed in SEEDS]
    assert abs(np.mean(ours) - np.mean(slots)) < 4 * np.hypot(error(ours), error(slots))
    # Bianchi takes collisions for independent of what happened before: a few percent off.
    assert abs(np.mean(ours) - slotted.bianchi(n, 31, 1023)[1]) < 0.03


def test_who_does_not_hear_the_other_collides_with_it() -> None:
    shares = [hidden(WIFI_A, 1.0, seed) for seed in SEEDS]
    assert abs(np.mean(shares) - slotted.hidden_share(WIFI_A, 124e-6)) < 4 * error(shares)
    few = [hidden(WIFI_A, 4.0, seed, rate=200.0) for seed in SEEDS]
    assert abs(np.mean(few) - slotted.aloha_share(200.0, 124e-6)) < 4 * error(few)


def test_a_load_below_saturation_is_carried_whole() -> None:
    carried, repeated = poisson_domain(10, WIFI_B, 20.0, 10.0, seed=1)
    assert carried == 1.0
    assert 0 < repeated < 0.05


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bit_rate": 0.0}, "bit_rate is 0"),
        ({"slot_s": np.nan}, "slot_s is nan"),
        ({"difs_s": 20e-6}, "difs_s is 2e-05"),
        ({"sense_s": 20e-6}, "sense_s is 2e-05"),
        ({"cw_min": 64, "cw_max": 31}, "the window is 64 to 31"),
        ({"retries": -1}, "retries is -1"),
        ({"line_limit": 0}, "line_limit is 0"),
    ],
)
def test_a_timing_that_makes_no_sense_is_named(change: dict[str, float], named: str) -> None:
    with pytest.raises(Problem, match=named):
        contention(2, 1, WIFI_B._replace(**change))  # type: ignore[arg-type]
