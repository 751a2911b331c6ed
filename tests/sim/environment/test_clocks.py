"""Clocks: no record of any system changes when the clocks of its nodes are shifted."""

import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.problem import Problem
from halfway.sim.engine.clocks import TICKS, Clocks, elapsed, own_time
from halfway.sim.environment.clock_errors import ClockErrors, clocks_of
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.workload.demand import Drawn
from tests.networks import disk

_NETWORK = disk(60, 0.4, seed=3)  # dense enough for the cells of georendezvous


def _run(system: str, clock: ClockErrors | None) -> Simulation:
    """A run with losses, retransmissions and restarts, so that every kind of timer is used."""
    options = {"retries": 2} if "retries" in TABLE[system].options else {}
    options |= {"hops": 2} if system == "heartbeat" else {}  # all hops are too many records
    options |= {"period_s": 5.0} if system == "path-heartbeat" else {}  # likewise
    simulation = Simulation(
        system, _NETWORK, seconds=40.0, seed=5, options=options,
        nodes=NodeSettings(clock=clock), inspection=Inspection(received_records=1 << 20),
        radio=IdealRadio(delay_s=0.001, success=0.95),
        faults=[Churn(mean_up_s=40.0, mean_down_s=4.0, share=0.3, until=30.0)],
        workload=Drawn(n=60, topics=3, publishers_each=2, subscribers_each=6, events=20, seed=2),
    )  # fmt: skip
    simulation.run()
    return simulation


@pytest.mark.parametrize("system", sorted(TABLE))
@pytest.mark.long
def test_shifted_clocks_change_no_record_of_a_run(system: str) -> None:
    shifts = [_run(system, ClockErrors(offset_s=most)) for most in (0.0, 86_400.0)]
    (plain, rows), (shifted, its_rows) = (some.received_records() for some in shifts)
    assert len(plain) > 100
    assert np.array_equal(rows, its_rows)
    assert plain.tobytes() == shifted.tobytes()
    reports = [some.reports()[0].tobytes() for some in shifts]
    assert reports[0] == reports[1]


def test_a_clock_shows_whole_ticks_of_its_own_rate() -> None:
    clocks = Clocks(np.array([0.0, 3.0]), np.array([1.0, 1.001]))
    assert own_time(clocks, 0, 2.0) == 2.0
    assert abs(own_time(clocks, 1, 2.0) - 5.002) <= 1.0 / TICKS
    assert (own_time(clocks, 1, 2.0) * TICKS).is_integer()
    assert elapsed(clocks, 1, 1.001) == pytest.approx(1.0)


def test_the_seed_draws_offsets_and_drifts_within_their_limits() -> None:
    errors = ClockErrors(offset_s=100.0, drift_ppm=50.0)
    clocks, again = (clocks_of(errors, 1000, 7) for _ in range(2))
    assert clocks.offset_s.tobytes() == again.offset_s.tobytes()
    assert 0.0 <= clocks.offset_s.min() < 1.0
    assert 99.0 < clocks.offset_s.max() <= 100.0
    drift = (clocks.rate - 1.0) * 1e6
    assert -50.0 <= drift.min() < -49.0
    assert 49.0 < drift.max() <= 50.0
    assert len(clocks_of(None, 1000, 7).rate) == 0


@pytest.mark.parametrize("errors", [{"offset_s": -1.0}, {"drift_ppm": 2e5}])
def test_a_clock_error_out_of_range_is_refused(errors: dict[str, float]) -> None:
    with pytest.raises(Problem, match=f"clock.{next(iter(errors))} = .*: expected a number from 0"):
        clocks_of(ClockErrors(**errors), 3, 1)


def test_drifting_clocks_leave_flooding_complete() -> None:
    simulation = Simulation(
        "flooding", _NETWORK, seconds=40.0,
        nodes=NodeSettings(clock=ClockErrors(offset_s=1e6, drift_ppm=1e4)),
        workload=Drawn(n=60, subscribers_each=20, events=10, seed=2),
    )  # fmt: skip
    assert simulation.run().delivery_ratio == 1.0
