"""Every crash is suspected by every monitor of its component in the end, after churn; calm runs."""

import re

import pytest

from tests.protocols.failure_detectors.histories import NOT_SUSPECTED, calm_suspicions, failures
from tests.systems import DETECTORS

WITH_PHI = [name for name in DETECTORS if name not in ("swim", "lifeguard")]


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


def undetected(system: str, seeds: range) -> list[str]:
    """The histories with φ = 8 in which a monitor does not suspect a crashed member in the end."""
    found = [line for seed in seeds for line in failures(system, seed, phi_threshold=8.0)]
    return [line for line in found if NOT_SUSPECTED in line]


@pytest.mark.parametrize("system", WITH_PHI)
def test_with_phi_every_crash_is_suspected_after_churn(system: str) -> None:
    assert undetected(system, range(1)) == []


def test_a_probe_with_phi_that_is_wrong_at_the_end_trusts_the_member_soon() -> None:
    (line,) = failures("walk-probe", 46, phi_threshold=8.0)
    found = re.search(r"does not trust \d+ for ([\d.]+) s, and trusts it ([\d.]+) s later", line)
    assert found is not None, line
    assert all(0.0 < float(seconds) < 5.0 for seconds in found.groups())


@pytest.mark.slow
@pytest.mark.parametrize("system", WITH_PHI)
def test_with_phi_every_crash_is_suspected_in_ten_thousand_histories(system: str) -> None:
    assert undetected(system, range(100)) == []


@pytest.mark.slow
@pytest.mark.parametrize("system", DETECTORS)
def test_no_suspicion_in_a_million_member_periods_without_a_fault(system: str) -> None:
    assert calm_suspicions(system, 1000.0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("system", ["heartbeat", "path-heartbeat"])
def test_phi_suspects_no_member_whose_heartbeats_come_at_regular_times(system: str) -> None:
    assert calm_suspicions(system, 1000.0, phi_threshold=8.0) == 0
