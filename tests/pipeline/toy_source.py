"""A data source that simulates the toys, for the tests; workers import it from here."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.source import PlannedRuns, ResultSource, SimulatedRuns, cut
from halfway.pipeline.tidy_rows import spark_columns
from tests.pipeline.toys import points


class ToySource(ResultSource):
    """The toys' runs, made by the tasks that read."""

    @classmethod
    def name(cls) -> str:
        return "toys"

    def schema(self) -> Any:
        return spark_columns({"n": pa.int64(), "system": pa.string()})

    def reader(self, schema: Any) -> Any:
        return ToyRuns(schema)


class ToyRuns(SimulatedRuns):
    """Runs of which some fail."""

    def partitions(self) -> Sequence[PlannedRuns]:
        every = [*points(), *points("faulty", fault="raises")[:1]]
        table = plan(every, 2)
        return cut(table, {one: [json.loads(one)] for one in table["parameters"].to_pylist()}, 3)
