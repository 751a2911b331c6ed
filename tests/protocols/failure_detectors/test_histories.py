"""Every crash is suspected by every monitor of its component in the end, after churn; calm runs."""

import pytest

from tests.protocols.failure_detectors.histories import calm_suspicions, failures
from tests.protocols.failure_detectors.runs import DETECTORS


@pytest.mark.parametrize("system", DETECTORS)
def test_after_churn_every_crash_is_suspected_and_every_other_member_trusted(system: str) -> None:
    assert failures(system, 0) == []


def test_a_neighbour_that_comes_back_and_dies_before_the_next_period_is_suspected() -> None:
    # A leaf of a star waits long between two probes, and its hub is up for less than that.
    assert failures("lifeguard", 59) == []


@pytest.mark.slow
@pytest.mark.parametrize("system", DETECTORS)
def test_ten_thousand_histories(system: str) -> None:
    assert [line for seed in range(100) for line in failures(system, seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("system", DETECTORS)
def test_no_suspicion_in_a_million_member_periods_without_a_fault(system: str) -> None:
    assert calm_suspicions(system, 1000.0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("system", ["heartbeat", "path-heartbeat"])
def test_phi_suspects_no_member_whose_heartbeats_come_at_regular_times(system: str) -> None:
    assert calm_suspicions(system, 1000.0, phi_threshold=8.0) == 0
