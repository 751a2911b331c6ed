"""Table files of links or positions: CSV with a header, or blank-separated columns without one."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.compressed import LinkList
from halfway.world.importers.file_content import text

_COMMENTS = ("#", "%")
# Usual names of position columns (x, y), in lower case.
_POSITION_COLUMNS = (
    ("x", "y"), ("x_m", "y_m"), ("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"),
)  # fmt: skip


class LinkQuality(NamedTuple):
    """The quality columns of a link table, and the threshold (exclusive) of a link."""

    columns: tuple[str, ...]  # (): none; (a -> b,): ordered pairs; (a -> b, b -> a): links
    threshold: float
    both_ways: bool  # both directions must exceed the threshold, not only one


class TextTable:
    """The rows of a link table file with line numbers; errors name file:line:column."""

    def __init__(self, path: Path, columns: list[str], rows: list[tuple[int, list[str]]]) -> None:
        self.path, self.columns, self.rows = path, columns, rows

    def column(self, name: str) -> int:
        """Return the index of a link table's column; raises Problem with the existing ones."""
        if name not in self.columns:
            remedy = f"columns: {', '.join(self.columns)}"
            raise Problem(f"the file has no column '{name}'", where=str(self.path), remedy=remedy)
        return self.columns.index(name)

    def problem(self, what: str, line: int, column: int | None = None) -> Problem:
        """Return a Problem of a link table's line or field (columns count from 0)."""
        place = f"{self.path}:{line}" if column is None else f"{self.path}:{line}:{column + 1}"
        return Problem(what, where=place)

    def name(self, row: list[str], line: int, column: int) -> str:
        """Return the node id in a field of a link table."""
        if not row[column].strip():
            raise self.problem(f"no id in column {self.columns[column]}", line, column)
        return row[column].strip()

    def number(self, row: list[str], line: int, column: int) -> float:
        """Return a finite number of a link table, or NaN if the field is empty or missing."""
        field = row[column].strip() if column < len(row) else ""
        if not field:
            return math.nan
        try:
            value = float(field)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            name = self.columns[column]
            raise self.problem(f"column {name} = '{field[:40]}': expected a number", line, column)
        return value


def csv_table(path: Path) -> TextTable:
    """Read a CSV table of links with a header; commas, semicolons or tabs separate fields."""
    body = text(path)
    header = body.lstrip("\r\n").split("\n", 1)[0]
    separator = next((sign for sign in ",;\t" if sign in header), ",")
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise Problem(f"{error}", where=f"{path}:{reader.line_num}") from None
    columns = [name.strip() for name in rows[0][1]]
    if all(_is_number(name) for name in columns):
        what = "the first line has only numbers: expected names of columns"
        remedy = "add a header, or name the file .txt if blanks separate its columns"
        raise Problem(what, where=f"{path}:{rows[0][0]}", remedy=remedy)
    table = TextTable(path, columns, rows[1:])
    for line, row in table.rows:
        if len(row) != len(columns):
            what = f"the line has {len(row)} fields: expected {len(columns)}, as in the header"
            raise table.problem(what, line)
    return table


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def blank_table(path: Path) -> TextTable:
    """Read a link table without a header, of blanks or tabs; columns are named 1, 2, 3…

    Lines that begin with # or % are comments. Values at the end of a line may be missing.
    """
    rows = [
        (line, words.split())
        for line, words in enumerate(io.StringIO(text(path)), start=1)
        if words.strip() and not words.lstrip().startswith(_COMMENTS)
    ]
    if not rows:
        raise Problem("the file contains only comments", where=str(path))
    columns = [str(number + 1) for number in range(len(rows[0][1]))]
    table = TextTable(path, columns, rows)
    for line, row in rows:
        if not 2 <= len(row) <= max(len(columns), 2):
            what = f"the line has {len(row)} columns: expected 2 to {max(len(columns), 2)}"
            raise table.problem(what, line)
    return table


def links(
    table: TextTable, ends: tuple[str | None, str | None], quality: LinkQuality,
    only: Mapping[str, str],
) -> LinkList:  # fmt: skip
    """Return the nodes and links of a table; every id in a read line is a node, linked or not."""
    if len(table.columns) < 2:
        what = f"one column ({table.columns[0][:40]}): expected two ends of a link"
        raise Problem(what, where=str(table.path))
    source = 0 if ends[0] is None else table.column(ends[0])
    target = 1 if ends[1] is None else table.column(ends[1])
    if source == target:
        what = f"source = target = '{table.columns[source]}': expected two different columns"
        raise Problem(what, where=str(table.path))
    valued = [table.column(name) for name in quality.columns]
    wanted = [(table.column(name), value) for name, value in only.items()]
    index: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    values: list[list[float]] = []
    for line, row in table.rows:
        if any(row[column].strip() != value for column, value in wanted):
            continue
        a = index.setdefault(table.name(row, line, source), len(index))
        b = index.setdefault(table.name(row, line, target), len(index))
        pairs.append((a, b))
        values.append([table.number(row, line, column) for column in valued])
    if not pairs:
        chosen = " and ".join(f"{name} = {value}" for name, value in only.items())
        raise Problem(
            f"no line has {chosen}" if only else "the file has no links", where=str(table.path)
        )
    left_out = {"lines without a quality": sum(math.isnan(sum(found)) for found in values)}
    linked = _over(pairs, values, quality)
    if not linked:
        raise _none_over(table, values, quality)
    unknown = np.full((len(index), 2), np.nan)
    return LinkList(list(index), np.array(linked, np.int64), unknown, left_out)


def _over(
    pairs: list[tuple[int, int]], values: list[list[float]], quality: LinkQuality
) -> list[tuple[int, int]]:
    # Comparisons with NaN are false: an unknown quality never exceeds the threshold.
    enough = all if quality.both_ways else any
    if len(quality.columns) != 1:
        return [
            pair for pair, found in zip(pairs, values, strict=True)
            if not found or enough(value > quality.threshold for value in found)
        ]  # fmt: skip
    valued = zip(pairs, values, strict=True)
    exceeding = {pair for pair, (value,) in valued if value > quality.threshold}
    one_way = not quality.both_ways
    return sorted({(min(a, b), max(a, b)) for a, b in exceeding if one_way or (b, a) in exceeding})


def _none_over(table: TextTable, values: list[list[float]], quality: LinkQuality) -> Problem:
    known = [value for found in values for value in found if not math.isnan(value)]
    best = f"the greatest is {max(known):g}" if known else "all are empty"
    ways = " both ways" if quality.both_ways else ""
    what = f"no link has {', '.join(quality.columns)} > {quality.threshold:g}{ways}; {best}"
    return Problem(what, where=str(table.path), remedy="lower the threshold")


def positions(table: TextTable, wanted: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return a table's positions by node id, NaN where empty; wanted: columns id, x, y, or ()."""
    name, x, y = _position_columns(table, wanted)
    found: dict[str, tuple[float, float]] = {}
    for line, row in table.rows:
        label = table.name(row, line, name)
        if label in found:
            raise table.problem(f"node {label} has two positions", line, name)
        found[label] = (table.number(row, line, x), table.number(row, line, y))
    return found


def _position_columns(table: TextTable, wanted: Sequence[str]) -> tuple[int, int, int]:
    if wanted:
        if len(wanted) != 3:
            raise Problem(f"position columns = {', '.join(wanted)}: expected three (id, x, y)")
        name, x, y = (table.column(column) for column in wanted)
        return name, x, y
    if table.columns[:3] == ["1", "2", "3"]:  # columns without names
        return 0, 1, 2
    lower = [column.lower() for column in table.columns]
    for x_name, y_name in _POSITION_COLUMNS:
        if x_name in lower and y_name in lower:
            return 0, lower.index(x_name), lower.index(y_name)
    remedy = f"columns: {', '.join(table.columns)}"
    raise Problem("the file has no columns x, y or lon, lat", where=str(table.path), remedy=remedy)
