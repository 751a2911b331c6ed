"""The link table of a network file: its links, the limits of their quality, and the positions of
nodes.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.link_list import LinkList
from halfway.world.importers.projection import GEOGRAPHIC
from halfway.world.importers.text_table import TextTable, one_column

# Usual names of position columns (x, y), in lower case.
POSITION_COLUMNS = (("x", "y"), ("x_m", "y_m"), *GEOGRAPHIC)
# Usual names of the column with the node id, in lower case; others: the first column.
NODE_COLUMNS = ("node", "id", "node_id")
# Usual names of the column with the time of a fix of movement, in lower case.
TIME_COLUMNS = ("t_s", "time_s", "t", "time")


class LinkQuality(NamedTuple):
    """The quality columns of a link table, and the limits (exclusive) of a link's quality."""

    columns: tuple[str, ...]  # (): none; (a -> b,): ordered pairs; (a -> b, b -> a): links
    threshold: float | None  # a link has more than this; None without `under`: 0
    under: float | None  # a link has less than this: for qualities such as ETX
    both_ways: bool  # both directions must be within the limits, not only one

    def holds(self, value: float) -> bool:
        """Return whether a quality in the link table is within the limits; NaN is not."""
        least = self.threshold
        if least is None:
            least = 0.0 if self.under is None else -math.inf
        return least < value < (math.inf if self.under is None else self.under)

    def __str__(self) -> str:
        low = self.threshold if self.under is not None else self.threshold or 0.0
        limits = [f"> {low:g}"] if low is not None else []
        limits += [f"< {self.under:g}"] if self.under is not None else []
        return f"{', '.join(self.columns)} {' and '.join(limits)}"


class LinkColumns(NamedTuple):
    """The columns of a network file that have its links, and the limits of a link's quality.

    source, target: columns with the ends of a link (default: the first two). Columns without a
        header are named 1, 2, 3…
    quality: one column if a line is an ordered pair, or two ("ab,ba") if a line is a link. Nodes
        are linked iff both directions are > threshold and < under (default: > 0); either, if not
        `both_ways`. Empty or missing qualities are never within the limits. Without a quality each
        line is a link. A table with one column that lists each link once is symmetric.
    only: column -> value: lines with another value are skipped.
    """

    source: str | None = None
    target: str | None = None
    quality: str | Sequence[str] = ()
    threshold: float | None = None
    under: float | None = None
    both_ways: bool = True
    only: Mapping[str, str] | None = None

    def measured(self) -> LinkQuality:
        """Return the declared quality columns of a link table as a list, with their limits."""
        columns = column_names(self.quality)
        return LinkQuality(columns, self.threshold, self.under, self.both_ways)


def links(table: TextTable, columns: LinkColumns) -> LinkList:
    """Return the nodes and links of a link table; every id in a read line is a node, linked or
    not.
    """
    if len(table.columns) < 2:
        raise one_column(table)
    source = 0 if columns.source is None else table.column(columns.source)
    target = 1 if columns.target is None else table.column(columns.target)
    if source == target:
        what = f"source = target = '{table.columns[source]}': expected two different columns"
        raise Problem(what, where=str(table.path))
    quality, only = columns.measured(), columns.only or {}
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
        values.append([table.quality(row, line, column) for column in valued])
    if not pairs:
        chosen = " and ".join(f"{name} = {value}" for name, value in only.items())
        what = f"no line has {chosen}" if only else "the file has no links"
        raise Problem(f"{what}: expected at least one", where=str(table.path))
    left_out = {"lines without a quality": sum(math.isnan(sum(qualities)) for qualities in values)}
    one_way = len(quality.columns) == 1 and quality.both_ways and is_symmetric(pairs)
    known = quality._replace(both_ways=False) if one_way else quality
    linked = _within(pairs, values, known)
    if not linked:
        raise _none_within(table, values, known)
    unknown = np.full((len(index), 2), np.nan)
    remarks = _on_links(pairs, linked, known, symmetric=one_way) if quality.columns else ()
    return LinkList(list(index), np.array(linked, np.int64), unknown, left_out, remarks)


def is_symmetric(pairs: Sequence[tuple[object, object]]) -> bool:
    """Return whether a link table has no link in both directions, so that a line is a link."""
    listed = {(a, b) for a, b in pairs if a != b}
    return not any((b, a) in listed for a, b in listed)


def _on_links(
    pairs: list[tuple[int, int]],
    linked: list[tuple[int, int]],
    quality: LinkQuality,
    *,
    symmetric: bool,
) -> tuple[str, ...]:
    """Return the remarks on the links of a table: the number within the limits, and how the table
    was read.
    """
    every, kept = ({(min(pair), max(pair)) for pair in ends} for ends in (pairs, linked))
    remarks = []
    if symmetric:
        name = quality.columns[0]
        remarks.append(f"each link is in the table once, so {name} holds in both directions")
    if len(kept) < len(every):
        remarks.append(f"kept {len(kept):,} of {len(every):,} links: {quality}")
    return tuple(remarks)


def _within(
    pairs: list[tuple[int, int]], values: list[list[float]], quality: LinkQuality
) -> list[tuple[int, int]]:
    enough = all if quality.both_ways else any
    if len(quality.columns) != 1:
        return [
            pair
            for pair, values_of_pair in zip(pairs, values, strict=True)
            if not values_of_pair or enough(map(quality.holds, values_of_pair))
        ]
    valued = zip(pairs, values, strict=True)
    good = {pair for pair, (value,) in valued if quality.holds(value)}
    one_way = not quality.both_ways
    return sorted({(min(a, b), max(a, b)) for a, b in good if one_way or (b, a) in good})


def _none_within(table: TextTable, values: list[list[float]], quality: LinkQuality) -> Problem:
    known = [
        value for values_of_pair in values for value in values_of_pair if not math.isnan(value)
    ]
    span = f"the values are {min(known):g} to {max(known):g}" if known else "all are empty"
    ways = " in both directions" if quality.both_ways else ""
    remedy = "choose other limits" if known else "choose another column"
    if quality.both_ways and any(map(quality.holds, known)):
        remedy = "choose other limits, or accept one direction: --either-way, both_ways = false"
    what = f"no link has {quality}{ways}; {span}"
    return Problem(what, where=str(table.path), remedy=remedy)


def positions_in(
    table: TextTable, wanted: Sequence[str]
) -> tuple[dict[str, tuple[float, float]], bool]:
    """Return the positions in a link table by node id, NaN where empty, and whether they are lon,
    lat.

    wanted: the columns of id, x and y; (): the columns with the usual names.
    """
    name, x, y = _position_columns(table, wanted)
    titles = table.columns[x].lower(), table.columns[y].lower()
    if titles[::-1] in GEOGRAPHIC:
        x, y, titles = y, x, titles[::-1]
    positions: dict[str, tuple[float, float]] = {}
    for line, row in table.rows:
        label = table.name(row, line, name)
        if label in positions:
            raise table.problem(f"node {label} has two positions", line, name)
        positions[label] = (table.finite_number(row, line, x), table.finite_number(row, line, y))
    return positions, titles in GEOGRAPHIC


def column_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of a link table's columns in a list, which commas may separate."""
    given = columns.split(",") if isinstance(columns, str) else columns
    return tuple(name.strip() for name in given if name.strip())


def _position_columns(table: TextTable, wanted: Sequence[str]) -> tuple[int, int, int]:
    if wanted:
        if len(wanted) != 3:
            raise Problem(f"position columns = {', '.join(wanted)}: expected three (id, x, y)")
        name, x, y = (table.column(column) for column in wanted)
        return name, x, y
    if table.columns[:3] == ["1", "2", "3"]:  # columns without names
        return 0, 1, 2
    lower = [column.lower() for column in table.columns]
    node = next((lower.index(name) for name in NODE_COLUMNS if name in lower), 0)
    for x_name, y_name in POSITION_COLUMNS:
        if x_name in lower and y_name in lower:
            return node, lower.index(x_name), lower.index(y_name)
    remedy = f"columns: {', '.join(table.columns)}"
    raise Problem("the file has no columns x, y or lon, lat", where=str(table.path), remedy=remedy)
