"""Tables of links and of positions: CSV with a header, or columns parted by blanks without one."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.compressed import LinkList
from halfway.world.importers.opened import text

_COMMENTS = ("#", "%")
_TWO = 2
# Names of the columns (x, y) that positions usually have, in lower case.
_PLACES = (("x", "y"), ("x_m", "y_m"), ("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"))


class Quality(NamedTuple):
    """Which columns tell how good a link is, and from where on (exclusive) it counts."""

    columns: tuple[str, ...]  # () none; (a -> b,) for ordered pairs; (a -> b, b -> a) for links
    threshold: float
    both_ways: bool  # both directions must be over the threshold, not only one


class Table:
    """Rows of text with the line they stand on; it reports errors as file:line:column."""

    def __init__(self, path: Path, columns: list[str], rows: list[tuple[int, list[str]]]) -> None:
        self.path, self.columns, self.rows = path, columns, rows

    def column(self, name: str) -> int:
        """The index of a column; Problem with the ones there are."""
        if name not in self.columns:
            there = ", ".join(self.columns)
            what = f"there is no column '{name}'"
            raise Problem(what, where=str(self.path), remedy=f"it has {there}")
        return self.columns.index(name)

    def problem(self, what: str, line: int, column: int | None = None) -> Problem:
        """What is wrong with a line, or with a field of it (the column counts from 0)."""
        place = f"{self.path}:{line}" if column is None else f"{self.path}:{line}:{column + 1}"
        return Problem(what, where=place)

    def name(self, row: list[str], line: int, column: int) -> str:
        """The id of a node."""
        if not row[column].strip():
            raise self.problem(f"no id in column {self.columns[column]}", line, column)
        return row[column].strip()

    def number(self, row: list[str], line: int, column: int) -> float:
        """A finite number, or NaN where the field is empty or missing."""
        field = row[column].strip() if column < len(row) else ""
        if not field:
            return math.nan
        try:
            value = float(field)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            name = self.columns[column]
            raise self.problem(f"'{field[:40]}' is not a number in column {name}", line, column)
        return value


def csv_table(path: Path) -> Table:
    """A table with a header line, parted by commas (or by semicolons or tabs, if the header is)."""
    body = text(path)
    header = body.lstrip("\r\n").split("\n", 1)[0]
    part = next((sign for sign in ",;\t" if sign in header), ",")
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=part, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            if row:
                rows.append((reader.line_num, row))
    except csv.Error as error:
        raise Problem(f"{error}", where=f"{path}:{reader.line_num}") from None
    columns = [name.strip() for name in rows[0][1]]
    if all(_is_number(name) for name in columns):
        raise Problem(
            "the first line is numbers, not names of columns",
            where=f"{path}:{rows[0][0]}",
            remedy="give the table a header, or end its name in .txt if blanks part its columns",
        )
    table = Table(path, columns, rows[1:])
    for line, row in table.rows:
        if len(row) != len(columns):
            what = f"the line has {len(row)} fields, the header names {len(columns)}"
            raise table.problem(what, line)
    return table


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def blank_table(path: Path) -> Table:
    """A table without a header, parted by blanks or tabs; its columns are called 1, 2, 3…

    Lines that begin with # or % are comments. Values at the end of a line may be missing.
    """
    rows = [
        (line, words.split())
        for line, words in enumerate(io.StringIO(text(path)), start=1)
        if words.strip() and not words.lstrip().startswith(_COMMENTS)
    ]
    if not rows:
        raise Problem("the file holds only comments", where=str(path))
    columns = [str(number + 1) for number in range(len(rows[0][1]))]
    table = Table(path, columns, rows)
    for line, row in rows:
        if not _TWO <= len(row) <= max(len(columns), _TWO):
            what = f"the line has {len(row)} columns, the first line has {len(columns)}"
            raise table.problem(f"{what}; two ids are the least", line)
    return table


def links(
    table: Table, ends: tuple[str | None, str | None], quality: Quality, only: Mapping[str, str]
) -> LinkList:
    """The nodes and links of a table; a node is everyone who is named, linked or not."""
    if len(table.columns) < _TWO:
        what = f"one column ({table.columns[0][:40]}): a link needs two"
        raise Problem(what, where=str(table.path))
    source = 0 if ends[0] is None else table.column(ends[0])
    target = 1 if ends[1] is None else table.column(ends[1])
    if source == target:
        what = f"column '{table.columns[source]}' cannot be both ends of a link"
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
        raise Problem(f"no line with {chosen}" if only else "no links", where=str(table.path))
    left_out = {"lines without a quality": sum(math.isnan(sum(found)) for found in values)}
    good = _over(pairs, values, quality)
    if not good:
        raise _none_over(table, values, quality)
    unknown = np.full((len(index), 2), np.nan)
    return LinkList(list(index), np.array(good, np.int64), unknown, left_out)


def _over(
    pairs: list[tuple[int, int]], values: list[list[float]], quality: Quality
) -> list[tuple[int, int]]:
    # Comparisons with NaN are false: an unknown quality is never over the threshold.
    enough = all if quality.both_ways else any
    if len(quality.columns) != 1:
        return [
            pair
            for pair, found in zip(pairs, values, strict=True)
            if not found or enough(value > quality.threshold for value in found)
        ]
    heard = {
        pair for pair, (value,) in zip(pairs, values, strict=True) if value > quality.threshold
    }
    return sorted(
        {(min(a, b), max(a, b)) for a, b in heard if not quality.both_ways or (b, a) in heard}
    )


def _none_over(table: Table, values: list[list[float]], quality: Quality) -> Problem:
    known = [value for found in values for value in found if not math.isnan(value)]
    best = f"the best is {max(known):g}" if known else "all of them are empty"
    ways = " both ways" if quality.both_ways else ""
    columns = ", ".join(quality.columns)
    return Problem(
        f"no link has {columns} > {quality.threshold:g}{ways}; {best}",
        where=str(table.path),
        remedy="lower the threshold",
    )


def positions(table: Table, wanted: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Where each node is, NaN where the table does not say; wanted = id, x, y, or nothing."""
    name, x, y = _place_columns(table, wanted)
    found: dict[str, tuple[float, float]] = {}
    for line, row in table.rows:
        label = table.name(row, line, name)
        if label in found:
            raise table.problem(f"node {label} has a position already", line, name)
        found[label] = (table.number(row, line, x), table.number(row, line, y))
    return found


def _place_columns(table: Table, wanted: Sequence[str]) -> tuple[int, int, int]:
    if wanted:
        if len(wanted) != 3:
            raise Problem(f"three columns are wanted (id, x, y), not {', '.join(wanted)}")
        name, x, y = (table.column(column) for column in wanted)
        return name, x, y
    if table.columns[:3] == ["1", "2", "3"]:  # columns without names
        return 0, 1, 2
    lower = [column.lower() for column in table.columns]
    for x_name, y_name in _PLACES:
        if x_name in lower and y_name in lower:
            return 0, lower.index(x_name), lower.index(y_name)
    there = ", ".join(table.columns)
    raise Problem(
        "no columns x and y (nor lon and lat)", where=str(table.path), remedy=f"it has {there}"
    )
