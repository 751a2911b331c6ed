"""Clocks: no record of any system changes when the clocks of its nodes are shifted."""

import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.workload.demand import Drawn
from tests.networks import disk

_NETWORK = disk(60, 0.4, seed=3)  # dense enough for the cells of georendezvous
_TREES = {"siena", "underlay-siena"}


def _run(system: str, clock: ClockErrors | None) -> Simulation:
    """A run with losses, retransmissions and restarts, so that every kind of timer is used."""
    options = {"retries": 2} if "retries" in TABLE[system].options else {}
    simulation = Simulation(
        system, _NETWORK, seconds=40.0, seed=5, clock=clock, options=options, journal=1 << 20,
        radio=IdealRadio(delay_s=0.001, success=0.95),
        faults=[Churn(mean_up_s=40.0, mean_down_s=4.0, share=0.3, until=30.0)],
        workload=Drawn(n=60, topics=3, publishers_each=2, subscribers_each=6, events=20, seed=2),
    )  # fmt: skip
    simulation.run()
    return simulation


@pytest.mark.parametrize("system", sorted(set(TABLE) - _TREES))
def test_shifted_clocks_change_no_record_of_a_run(system: str) -> None:
    shifts = [_run(system, ClockErrors(offset_s=most)) for most in (0.0, 86_400.0)]
    (plain, rows), (shifted, its_rows) = (some.journal() for some in shifts)
    assert len(plain) > 100
    assert np.array_equal(rows, its_rows)
    assert plain.tobytes() == shifted.tobytes()
    reports = [some.reports()[0].tobytes() for some in shifts]
    assert reports[0] == reports[1]
