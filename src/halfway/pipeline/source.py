"""Runs as rows of a Spark data source: `spark.read.format("halfway")`. Finished ones, or made now.

A row is one observation. A run that failed is one row as well, whose `error` says why and whose
`metric` is null: nothing vanishes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from halfway.pipeline.spark.shipping import settle
from halfway.problem import Problem

_FIRST = [("key", pa.string()), ("measurement", pa.string())]
_LAST = [
    ("replicate", pa.int32()),
    ("metric", pa.string()),  # null in the row of a failed run
    ("unit", pa.int32()),
    ("value", pa.float64()),
    ("error", pa.string()),  # null, but in the row of a failed run
]
_OWN = {name for name, _ in (*_FIRST, *_LAST)}
_READ = [*("key", "measurement", "parameters", "replicate", "status", "error", "observations")]
_RUNS_AT_ONCE = 64  # a few MB of observations
Words = Mapping[str, Any]  # a run's parameters


class ResultSource(DataSource):
    """The reader of finished result folders: option `path`, or `load(path)`.

    Columns: key, measurement, one for each parameter, replicate, metric, unit, value, error. Option
    `parameters` chooses among the parameters ("system,n"), for a whole scenario may be one of them.
    """

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return "halfway"

    def schema(self) -> StructType:
        """The columns that the folder's parameters make."""
        return from_arrow_schema(tidy_schema(self._store().rows("parameters")["parameters"]
                                             .unique().to_pylist(), self._wanted()))  # fmt: skip

    def reader(self, schema: StructType) -> DataSourceReader:
        """Tasks are files."""
        return FinishedRuns(str(self._store().folder), schema)

    def _store(self) -> Any:
        from halfway.pipeline.audit import results_in

        if "path" not in self.options:
            raise Problem("no folder is named", remedy='.load("DIR") or .option("path", "DIR")')
        return results_in(Path(self.options["path"]))

    def _wanted(self) -> list[str] | None:
        return listed(self.options["parameters"]) if "parameters" in self.options else None


@dataclass
class FileOfRuns(InputPartition):
    """A Parquet file, and those of its rows that count (None: all of them)."""

    path: str
    rows: list[int] | None


class FinishedRuns(DataSourceReader):
    """Reads the finished runs of a folder; a run that is there twice is read once."""

    def __init__(self, folder: str, schema: StructType) -> None:
        self.folder, self.schema = folder, schema

    def partitions(self) -> Sequence[InputPartition]:
        """One a file."""
        from halfway.pipeline.store.store import Store, chosen, read_rows

        light = pa.schema([("key", pa.string()), ("status", pa.string())])
        files = Store(self.folder).files()
        parts = [read_rows(file, light) for file in files]
        whole = pa.concat_tables([light.empty_table(), *parts])
        counted = np.zeros(whole.num_rows, bool)
        counted[chosen(whole["key"].to_pylist(), whole["status"].to_pylist())] = True
        found, at = [], 0
        for file, part in zip(files, parts, strict=True):
            rows = np.flatnonzero(counted[at : at + part.num_rows]).tolist()
            found.append(FileOfRuns(str(file), None if len(rows) == part.num_rows else rows))
            at += part.num_rows
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The file's runs, a few at a time."""
        assert isinstance(partition, FileOfRuns)
        settle()
        schema, at = arrow_schema(self.schema), 0
        wanted = None if partition.rows is None else set(partition.rows)
        with pq.ParquetFile(partition.path) as opened:
            for batch in opened.iter_batches(_RUNS_AT_ONCE, columns=_READ):
                rows = batch.to_pylist()
                if wanted is not None:
                    rows = [row for i, row in enumerate(rows, at) if i in wanted]
                at += batch.num_rows
                for row in rows:
                    row["observations"] = {o["metric"]: o["values"] for o in row["observations"]}
                if rows:
                    yield tidy(rows, schema, lambda row: msgspec.json.decode(row["parameters"]))


@dataclass
class PlannedRuns(InputPartition):
    """Rows of a plan, each with the words that stand in its columns, once for each set of them."""

    rows: list[dict[str, Any]]
    words: list[list[dict[str, Any]]]


class SimulatedRuns(DataSourceReader):
    """Makes the runs of a plan, task by task; the driver sees neither plan nor results.

    Subclasses say in `partitions` what is planned, as `PlannedRuns`.
    """

    def __init__(self, schema: StructType) -> None:
        self.schema = schema

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Make one run after the other; a batch each."""
        assert isinstance(partition, PlannedRuns)
        settle()
        from halfway.pipeline.spark.simulate import result

        schema = arrow_schema(self.schema)
        for row, known in zip(partition.rows, partition.words, strict=True):
            made = result(row) if row["key"] else dict(row)
            for words in known:
                yield tidy([made], schema, lambda _, words=words: words)


def cut(plan: pa.Table, words: Mapping[str, Sequence[Words]], count: int) -> list[PlannedRuns]:
    """A plan in so many tasks, runs on one network in one of them; words: by parameters."""
    from halfway.pipeline.plan.plan import by_network, tasks

    ordered = by_network(plan)
    numbers = tasks(ordered, [1.0] * max(1, min(count, plan.num_rows)))
    found: dict[int, PlannedRuns] = {}
    for number, row in zip(numbers.tolist(), ordered.to_pylist(), strict=True):
        task = found.setdefault(number, PlannedRuns([], []))
        task.rows.append(row)
        task.words.append([dict(known) for known in words[row["parameters"]]])
    return list(found.values())


def tidy_schema(parameters: Iterable[str], wanted: Sequence[str] | None = None) -> pa.Schema:
    """Columns for runs with these parameters (JSON): those `wanted`, or all, by name."""
    kinds: dict[str, set[type]] = {}
    for one in parameters:
        for name, value in msgspec.json.decode(one).items():
            kinds.setdefault(name, set()).add(type(value))
    names = sorted(kinds) if wanted is None else wanted
    return columns_schema({name: column_type(kinds.get(name, {str})) for name in names})


def columns_schema(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """The tidy columns with these for the parameters. Raises Problem where a name is taken."""
    if taken := sorted(_OWN & set(columns)):
        raise Problem(f"a parameter is called {taken[0]}, as a column is",
                      remedy="name the parameters to be read: option parameters")  # fmt: skip
    return pa.schema([*_FIRST, *columns.items(), *_LAST])


def spark_columns(columns: Mapping[str, pa.DataType]) -> StructType:
    """The same as Spark's."""
    return from_arrow_schema(columns_schema(columns))


def arrow_schema(schema: StructType) -> pa.Schema:
    """Spark's columns as Arrow's; Spark compares them to the letter."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def tidy(rows: Sequence[Words], schema: pa.Schema, words: Any) -> pa.RecordBatch:
    """Result rows (`simulate.SCHEMA`, observations as a dict) -> one row a value.

    words: row -> its parameters.
    """
    made = [_pieces(row) for row in rows]
    counts = np.array([len(value) for _, _, value, _ in made])
    run = np.repeat(np.arange(len(rows)), counts)
    known = [words(row) for row in rows]
    columns: dict[str, Any] = {
        "metric": pa.array([m for metric, _, _, _ in made for m in metric], pa.string()),
        "unit": pa.array([u for _, unit, _, _ in made for u in unit], pa.int32()),
        "value": pa.array([v for _, _, value, _ in made for v in value], pa.float64()),
        "error": pa.array([error for _, _, _, error in made], pa.string()).take(run),
    }
    for field in schema:
        if field.name not in columns:
            source = rows if field.name in _OWN else known
            cells = [_cell(row.get(field.name), field.type) for row in source]
            columns[field.name] = pa.array(cells, field.type).take(run)
    return pa.record_batch([columns[field.name] for field in schema], schema)


def _pieces(row: Words) -> tuple[list[Any], list[Any], list[Any], str | None]:
    """[values] metric, unit and value of a run; one row of nulls for a run that failed."""
    if row["status"] != "ok":
        return [None], [None], [None], row["error"]
    metrics: list[Any] = []
    units: list[Any] = []
    values: list[Any] = []
    for metric, observed in row["observations"].items():
        metrics += [metric] * len(observed)
        units += range(len(observed))
        values += list(observed)
    return metrics, units, values, None


def _cell(value: Any, kind: pa.DataType) -> Any:
    return str(value) if kind == pa.string() and value is not None else value


def column_type(kinds: set[type]) -> pa.DataType:
    """What a column is whose values are of these types."""
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def listed(text: str) -> list[str]:
    """Names parted by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]
