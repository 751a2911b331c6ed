"""The Spark data source of result folders and traces, and the parts that every data source of runs
shares.

A row is one observation. A failed run is one row with the message in `error` and null in `metric`.
The functions import the other modules: a worker of a cluster must unpack this package first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from halfway.pipeline.spark.shipping import use_unpacked_copy
from halfway.pipeline.tidy_rows import Fields, tidy, tidy_schema
from halfway.pipeline.traces import TraceReader, trace_columns, trace_files
from halfway.problem import Problem

_READ = [
    *("key", "measurement", "parameters", "replicate", "status", "error", "digest"),
    "observations",
]
_RUNS_AT_ONCE = 64  # a few MB of observations


class ResultSource(DataSource):
    """The Spark data source of result folders and of traces: option `path`, or `load(path)`.

    Columns: key, measurement, study, title, point, one for each parameter, replicate, metric, unit,
    value, t0_s, t1_s, error. Option `parameters` selects parameters ("system,n"), as a long
    scenario may be one of them. A run that several studies or points need is read once for each.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the data source of result folders for `spark.read.format`."""
        return "halfway"

    def schema(self) -> StructType:
        """Return the columns of the data source of result folders: those of a trace, or those for
        the parameters of the folder's runs.
        """
        if self._trace():
            return trace_columns()
        parameters = self._store().rows("parameters")["parameters"].unique().to_pylist()
        selected = listed(self.options["parameters"]) if "parameters" in self.options else None
        return from_arrow_schema(tidy_schema(parameters, selected))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader for a result folder or a trace at the data source's path; each task
        reads a Parquet file.
        """
        if files := self._trace():
            return TraceReader(files, schema)
        return FinishedRuns(str(self._store().folder), schema)

    def _trace(self) -> list[Path]:
        """Return the files of the trace at the option `path` of the Spark data source; [] if it
        names no trace.
        """
        return trace_files(Path(self.options["path"])) if "path" in self.options else []

    def _store(self) -> Any:
        from halfway.pipeline.audit import results_in

        if "path" not in self.options:
            raise Problem(
                "no folder given", remedy='give a folder by .load("DIR") or .option("path", "DIR")'
            )
        return results_in(Path(self.options["path"]))


@dataclass
class FileOfRuns(InputPartition):
    """A Parquet file of runs for a data source's task, and the rows to read (None: all)."""

    path: str
    rows: list[int] | None
    studies: dict[str, list[dict[str, str]]]  # key -> study, title and point of each that needs it


class FinishedRuns(DataSourceReader):
    """The data source's reader of a result folder; it reads finished runs that occur twice only
    once.
    """

    def __init__(self, folder: str, schema: StructType) -> None:
        self.folder, self.schema = folder, schema

    def partitions(self) -> Sequence[InputPartition]:
        """Return the data source's tasks for a result folder, one for each Parquet file of finished
        runs.
        """
        from halfway.pipeline.store.store import Store, chosen, read_rows

        small = pa.schema([("key", pa.string()), ("status", pa.string())])
        files = Store(self.folder).files()
        parts = [read_rows(file, small) for file in files]
        whole = pa.concat_tables([small.empty_table(), *parts])
        selected = np.zeros(whole.num_rows, bool)
        selected[chosen(whole["key"], whole["status"]).to_numpy()] = True
        studies = _studies(self.folder)
        groups, at = [], 0
        for file, part in zip(files, parts, strict=True):
            rows = np.flatnonzero(selected[at : at + part.num_rows]).tolist()
            own = {key: studies[key] for key in part["key"].to_pylist() if key in studies}
            groups.append(FileOfRuns(str(file), None if len(rows) == part.num_rows else rows, own))
            at += part.num_rows
        return groups

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the data source's rows of a result folder's Parquet file, a few finished runs at a
        time.
        """
        assert isinstance(partition, FileOfRuns)
        use_unpacked_copy()
        from halfway.pipeline.store.store import altered, damaged_runs

        schema, at = to_arrow_schema(self.schema, timezone="UTC"), 0
        selected = None if partition.rows is None else set(partition.rows)
        with pq.ParquetFile(partition.path) as opened:
            for batch in opened.iter_batches(_RUNS_AT_ONCE, columns=_READ):
                if keys := altered(batch):
                    raise damaged_runs(partition.path, keys)
                rows = batch.to_pylist()
                if selected is not None:
                    rows = [row for i, row in enumerate(rows, at) if i in selected]
                at += batch.num_rows
                for row in rows:
                    row["observations"] = {o["metric"]: o["values"] for o in row["observations"]}
                # Each row once for each study and point that needs it.
                studies = [partition.studies.get(row["key"], [{}]) for row in rows]
                pairs = [
                    (row, study) for row, own in zip(rows, studies, strict=True) for study in own
                ]
                parameters = [
                    {**msgspec.json.decode(row["parameters"]), **study} for row, study in pairs
                ]
                if rows:
                    yield tidy([row for row, _ in pairs], parameters, schema)


def _studies(folder: str) -> dict[str, list[dict[str, str]]]:
    """Return key -> study, title and point for the Spark data source, one for each study of the
    folder that needs the run.
    """
    from halfway.pipeline.store.store import Store
    from halfway.pipeline.store.study_requests import read_requests

    studies: dict[str, list[dict[str, str]]] = {}
    for study in read_requests(Store(folder).studies):
        for key, point in study.runs:
            words = {"study": study.name, "title": study.title, "point": point}
            studies.setdefault(key, []).append(words)
    return studies


@dataclass
class PlannedRuns(InputPartition):
    """A task of any data source that simulates: plan rows, each with one or more sets of parameter
    columns.
    """

    rows: list[dict[str, Any]]
    parameters: list[list[dict[str, Any]]]


class SimulatedRuns(DataSourceReader):
    """The shared part of every data source that simulates the runs of a plan inside its tasks,
    never in the driver.

    Subclasses define `partitions`, which returns the plan as `PlannedRuns`.
    """

    def __init__(self, schema: StructType) -> None:
        self.schema = schema

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Simulate a task's planned runs one by one; yield the data source's rows of each."""
        assert isinstance(partition, PlannedRuns)
        use_unpacked_copy()
        from halfway.pipeline.spark.simulate_rows import result

        schema = to_arrow_schema(self.schema, timezone="UTC")  # Spark requires an exact match
        for row, sets in zip(partition.rows, partition.parameters, strict=True):
            made = result(row) if row["key"] else dict(row)
            for fields in sets:
                yield tidy([made], [fields], schema)


def cut(plan: pa.Table, columns: Mapping[str, Sequence[Fields]], count: int) -> list[PlannedRuns]:
    """Cut a plan into `count` tasks of any data source that simulates, the runs on one network in
    one task.

    columns: parameters (canonical JSON) -> the sets of values for the parameter columns.
    """
    from halfway.pipeline.plan.tasks import by_network, tasks

    ordered = by_network(plan)
    numbers = tasks(ordered, [1.0] * max(1, min(count, plan.num_rows)))
    runs: dict[int, PlannedRuns] = {}
    for number, row in zip(numbers.tolist(), ordered.to_pylist(), strict=True):
        task = runs.setdefault(number, PlannedRuns([], []))
        task.rows.append(row)
        task.parameters.append([dict(fields) for fields in columns[row["parameters"]]])
    return list(runs.values())


def listed(text: str) -> list[str]:
    """Return the names in an option of any data source of runs, which commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]
