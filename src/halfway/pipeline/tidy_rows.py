"""The tidy rows of the Spark data sources, and their columns: one row is one observation of a
run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from halfway.pipeline.plan.run import ENDS, STARTS
from halfway.problem import Problem

_FIRST = [("key", pa.string()), ("measurement", pa.string())]
# Columns of a result folder, null if no study needs the run, such as a run of an older version.
_STUDY = [("study", pa.string()), ("title", pa.string()), ("point", pa.string())]
_LAST = [
    ("replicate", pa.int32()),
    ("metric", pa.string()),  # null in the row of a failed run
    ("unit", pa.int32()),
    ("value", pa.float64()),
    ("t0_s", pa.float64()),  # of a metric over time; null for all others
    ("t1_s", pa.float64()),
    ("error", pa.string()),  # null except in the row of a failed run
]
_RESERVED = {name for name, _ in (*_FIRST, *_LAST)}
_TAKEN = _RESERVED | {name for name, _ in _STUDY}
Fields = Mapping[str, Any]  # the parameters of a run, or the columns of a row


def tidy_schema(parameters: Iterable[str], selected: Sequence[str] | None = None) -> pa.Schema:
    """Return the columns of tidy rows for these parameters (JSON): the selected ones, or all."""
    kinds: dict[str, set[type]] = {}
    for parameter in parameters:
        for name, value in msgspec.json.decode(parameter).items():
            kinds.setdefault(name, set()).add(type(value))
    names = sorted(kinds) if selected is None else selected
    columns = {name: column_type(kinds.get(name, {str})) for name in names}
    return columns_schema(columns, _STUDY)


def columns_schema(
    columns: Mapping[str, pa.DataType], first: Sequence[tuple[str, pa.DataType]] = ()
) -> pa.Schema:
    """Return all columns of tidy rows; `columns` are those of the parameters.

    Raises Problem for a reserved name.
    """
    if taken := sorted((_TAKEN if first else _RESERVED) & set(columns)):
        raise Problem(
            f"parameter {taken[0]}: another column has this name",
            remedy="select other parameters by the option `parameters`",
        )
    return pa.schema([*_FIRST, *first, *columns.items(), *_LAST])


def spark_columns(columns: Mapping[str, pa.DataType]) -> StructType:
    """Return all columns of tidy rows as a Spark schema; `columns` are those of the parameters."""
    return from_arrow_schema(columns_schema(columns))


def tidy(rows: Sequence[Fields], parameters: Sequence[Fields], schema: pa.Schema) -> pa.RecordBatch:
    """Return tidy rows for result rows (`simulate.SCHEMA`): a row for each value.

    parameters: the parameters of each.
    """
    made = [_pieces(row) for row in rows]
    counts = np.array([len(observation.value) for observation in made])
    run = np.repeat(np.arange(len(rows)), counts)
    columns: dict[str, Any] = {
        name: pa.array([cell for observation in made for cell in getattr(observation, name)], kind)
        for name, kind in _LAST
        if name in _Pieces._fields
    }
    columns["error"] = pa.array([_error(row) for row in rows], pa.string()).take(run)
    for field in schema:
        if field.name not in columns:
            source = rows if field.name in _RESERVED else parameters
            cells = [row.get(field.name) for row in source]
            if field.type == pa.string():
                cells = [cell if cell is None else str(cell) for cell in cells]
            columns[field.name] = pa.array(cells, field.type).take(run)
    return pa.record_batch([columns[field.name] for field in schema], schema)


class _Pieces(NamedTuple):
    """The values of a run in the data source, one each row; one of nulls if the run failed."""

    metric: list[str | None]
    unit: list[int | None]
    value: list[float | None]
    t0_s: list[float | None]
    t1_s: list[float | None]


def _pieces(row: Fields) -> _Pieces:
    """Return the values of a run of the data source, and when each begins and ends."""
    if row["status"] != "ok":
        return _Pieces([None], [None], [None], [None], [None])
    made, observations = _Pieces([], [], [], [], []), row["observations"]
    for metric, observed in observations.items():
        if metric.endswith((STARTS, ENDS)):
            continue
        none = [None] * len(observed)
        made.metric.extend([metric] * len(observed))
        made.unit.extend(range(len(observed)))
        made.value.extend(observed)
        made.t0_s.extend(observations.get(metric + STARTS, none))
        made.t1_s.extend(observations.get(metric + ENDS, none))
    return made


def _error(row: Fields) -> str | None:
    return None if row["status"] == "ok" else str(row["error"])


def column_type(kinds: set[type]) -> pa.DataType:
    """Return the type of a parameter's column in tidy rows with values of these types."""
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()
