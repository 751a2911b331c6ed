"""Reader of recorded workloads: events and subscriptions from CSV, Parquet and log files.

`docs/decisions/0033` says why this reader belongs to the room `world`.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.files import check_regular
from halfway.problem import Problem, reason_of
from halfway.world.importers.text_table import TextTable, blank_table, csv_table
from halfway.world.workload.named_roles import NamedRole

EVENT_COLUMNS = ("time", "node", "topic", "size")
_LARGEST_PAYLOAD = 1_000_000
_SUFFIXES = ".csv, .parquet, .log or .txt, or one of these texts with .gz"


class RecordedEvents(NamedTuple):
    """The events of a recorded workload, in the order of the file."""

    time: npt.NDArray[np.float64]  # [events] in the unit of the file
    node: list[str]
    topic: list[str]
    size: npt.NDArray[np.int64] | None  # [events] bytes; None where the file has no sizes


def read_events(path: str | Path, columns: Mapping[str, str]) -> RecordedEvents:
    """Read the events of a recorded workload: a line has a time, a node, a topic and a size.

    columns: other names of the columns time, node, topic, size. Only a column named `size`, or one
    that `columns` names for it, gives sizes; without a column `topic` all events have the topic 0.
    A time is a number, or a date in ISO 8601, which counts in seconds. A log has no header: its
    columns are 1, 2, 3, 4. Raises Problem with file, line and column.
    """
    table, names = _table(Path(path)), dict(zip(EVENT_COLUMNS, EVENT_COLUMNS, strict=True))
    if _is_log(Path(path)):
        names = dict(zip(EVENT_COLUMNS, ("1", "2", "3", "4"), strict=True))
    if unknown := columns.keys() - set(EVENT_COLUMNS):
        what = f"workload.columns.{min(unknown)}: expected one of {', '.join(EVENT_COLUMNS)}"
        raise Problem(what, remedy='for example columns = { time = "time_ms" }')
    names |= columns
    for field in ("time", "node"):
        if names[field] not in table.columns:
            what = f"the file has no column '{names[field]}'"
            remedy = f"set workload.columns.{field} to one of {', '.join(table.columns)}"
            raise Problem(what, where=str(path), remedy=remedy)
    time, node = (table.column(names[column]) for column in ("time", "node"))
    topic, size = (
        table.column(names[column]) if column in columns or names[column] in table.columns else None
        for column in ("topic", "size")
    )
    rows = table.rows
    return RecordedEvents(
        np.array([_time(table, row, line, time) for line, row in rows], np.float64),
        [table.name(row, line, node) for line, row in rows],
        ["0" if topic is None else table.word(row, line, topic, "a topic") for line, row in rows],
        None
        if size is None
        else np.array([_size(table, row, line, size) for line, row in rows], np.int64),
    )


def read_roles(path: str | Path) -> list[NamedRole]:
    """Read the subscribers or publishers of a recorded workload: columns node, topic, from_s,
    until_s.

    A file without a column topic names nodes of all topics; times may be empty or missing.
    """
    table = _table(Path(path))
    node = table.column("node")
    topic, from_s, until_s = (
        table.column(column) if column in table.columns else None
        for column in ("topic", "from_s", "until_s")
    )
    roles = []
    for line, row in table.rows:
        first = math.nan if from_s is None else table.finite_number(row, line, from_s)
        last = math.nan if until_s is None else table.finite_number(row, line, until_s)
        roles.append(
            NamedRole(
                table.name(row, line, node),
                None if topic is None else table.word(row, line, topic, "a topic"),
                0.0 if math.isnan(first) else first,
                math.inf if math.isnan(last) else last,
            )
        )
    return roles


def _table(path: Path) -> TextTable:
    kind = _kind(path)
    if kind == ".csv":
        return csv_table(path)
    if kind == ".parquet":
        return _parquet_table(path)
    if _is_log(path):
        return blank_table(path)
    raise Problem(f"unknown suffix '{kind}'", where=str(path), remedy=f"use {_SUFFIXES}")


def _kind(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


def _is_log(path: Path) -> bool:
    return _kind(path) in (".log", ".txt")


def _parquet_table(path: Path) -> TextTable:
    """Return the rows of a recorded workload in Parquet as text, numbered from 1."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        check_regular(path)
        table_read = parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        what = "the file is damaged, or has another format"
        if isinstance(error, OSError) and error.strerror:
            what = reason_of(error)
        raise Problem(f"{what}: expected a Parquet file", where=str(path)) from None
    columns = [
        ["" if cell is None else str(cell) for cell in column.to_pylist()] for column in table_read
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return TextTable(path, list(table_read.column_names), list(enumerate(rows, start=1)))


def _time(table: TextTable, row: list[str], line: int, column: int) -> float:
    """Return the time of an event in a recorded workload: a number, or seconds from an ISO 8601
    date.
    """
    field = row[column].strip()
    try:
        value = float(field)
    except ValueError:
        try:
            value = datetime.fromisoformat(field).timestamp()
        except ValueError:
            value = math.nan
    if not math.isfinite(value):
        what = f"column {table.columns[column]} = '{field[:40]}': expected a number or a date"
        raise table.problem(what, line, column)
    return value


def _size(table: TextTable, row: list[str], line: int, column: int) -> int:
    value = table.finite_number(row, line, column)
    if math.isnan(value):
        return 0
    if not 0.0 <= value <= _LARGEST_PAYLOAD or value != int(value):
        what = (
            f"column {table.columns[column]} = {value:g}: expected 0 to {_LARGEST_PAYLOAD:,} bytes"
        )
        raise table.problem(what, line, column)
    return int(value)
