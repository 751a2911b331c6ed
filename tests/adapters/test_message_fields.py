"""Every record of a run fills only the fields that the kinds of its system declare."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from pyarrow import compute, parquet

from halfway.adapters.registry import TABLE
from halfway.core.message import MESSAGE
from halfway.core.records.trace_columns import PLAIN, WHAT
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.workload.demand import Drawn
from tests.networks import disk
from tests.protocols.fields import undeclared

NETWORK = disk(n=80, radius=0.3, seed=3)


def traced(path: Path) -> npt.NDArray[np.void]:
    """The records of a trace, received by nodes or by their applications."""
    table: Any = parquet.read_table(path, columns=["what", *PLAIN, "args", "reals"])
    table = table.filter(compute.is_in(table["what"], pa.array(WHAT[:2]))).combine_chunks()
    records = np.zeros(len(table), MESSAGE)
    for name in PLAIN:
        records[name] = table[name].to_numpy()
    for name in ("args", "reals"):
        values = compute.list_flatten(table[name]).to_numpy()
        records[name] = values.reshape(len(table), -1)
    return records


@pytest.mark.parametrize("system", TABLE)
def test_records_fill_only_declared_fields(system: str, tmp_path: Path) -> None:
    demand = Drawn(
        n=NETWORK.n, topics=3, subscribers_each=10, publishers_each=2, events=40, every_s=0.5,
        seed=1,
    )  # fmt: skip
    options = {"retries": 2} if "retries" in TABLE[system].options else {}
    simulation = Simulation(
        system, NETWORK, workload=demand, seconds=30.0, seed=1, options=options,
        faults=[Churn(mean_up_s=15.0, mean_down_s=3.0, share=0.2)],
        inspection=Inspection(trace=tmp_path / "run.parquet"), stretch=False,
    )  # fmt: skip
    simulation.run()
    records = traced(tmp_path / "run.parquet")
    assert len(records) > 100
    assert undeclared(simulation.instance.kinds, records) == []
