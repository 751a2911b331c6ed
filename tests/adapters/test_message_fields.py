"""Every record of a run fills only the fields that the kinds of its system declare."""

import pytest

from halfway.adapters.registry import TABLE
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.workload.demand import Drawn
from tests.networks import disk
from tests.protocols.fields import undeclared

NETWORK = disk(n=80, radius=0.3, seed=3)
_MOST = 4_000_000  # received records that a run keeps


@pytest.mark.parametrize("system", TABLE)
@pytest.mark.long
def test_records_fill_only_declared_fields(system: str) -> None:
    demand = Drawn(
        n=NETWORK.n, topics=3, subscribers_each=10, publishers_each=2, events=40, every_s=0.5,
        seed=1,
    )  # fmt: skip
    options = {"retries": 2} if "retries" in TABLE[system].options else {}
    simulation = Simulation(
        system, NETWORK, workload=demand, seconds=30.0, seed=1, options=options,
        faults=[Churn(mean_up_s=15.0, mean_down_s=3.0, share=0.2)],
        inspection=Inspection(received_records=_MOST), stretch=False,
    )  # fmt: skip
    simulation.run()
    received, reported = simulation.received_records()[0], simulation.reports()[0]
    assert len(received) > 100
    assert undeclared(simulation.instance.kinds, received) == []
    assert undeclared(simulation.instance.kinds, reported) == []
