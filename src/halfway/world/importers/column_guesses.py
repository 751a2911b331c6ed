"""Guesses about a link table: the columns of the ends, of the quality and of the latency of a link,
and the scale of the quality.

Each guess has a remark, so that the user can correct it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from halfway.problem import Problem
from halfway.world.importers.link_table import POSITION_COLUMNS, TIME_COLUMNS
from halfway.world.importers.text_table import TextTable, one_column

_SOURCES = (
    "from", "source", "src", "a", "node_a", "node1", "u", "sender", "tx", "heard", "local",
    "router", "transmitter",
)  # fmt: skip
_TARGETS = (
    "to", "target", "dst", "destination", "b", "node_b", "node2", "v", "receiver", "rx", "reporter",
    "remote", "neighbour", "neighbor",
)  # fmt: skip
# Columns of both directions (there, back), then columns of one direction, in lower case.
_PAIRS = (
    ("there", "back"),
    ("tq_ab", "tq_ba"),
    ("lq", "nlq"),
    ("pdr_ab", "pdr_ba"),
    ("prr_ab", "prr_ba"),
    ("quality_ab", "quality_ba"),
    ("q_ab", "q_ba"),
    ("source_tq", "target_tq"),
    ("linkquality", "neighborlinkquality"),
    ("tq", "rtq"),
    ("forward", "backward"),
)
_SINGLE = (
    "quality", "q", "pdr", "prr", "pdr_mean", "tq", "lq", "ratio", "probability", "success",
    "delivery", "delivery_ratio", "link_quality", "etx", "cost", "metric",
)  # fmt: skip
_TIMES = (*TIME_COLUMNS, "timestamp", "datetime", "date")
_LESS_IS_BETTER = ("etx", "cost", "metric")
_LATENCY = re.compile(
    r"(?:(?:link|mean|avg|median)_)?(?P<what>latency|delay|owd|rtt)(?:_(?:mean|avg|median))?"
    r"(?:[ _]?\(?(?P<unit>s|ms|us)\)?)?"
)
_UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_SHOWN = 5  # unused columns that a remark names
_SCALES = ((1.0, "0 to 1"), (100.0, "0 to 100"), (255.0, "0 to 255"))


class TableGuess(NamedTuple):
    """The guessed columns of a link table."""

    source: str
    target: str
    quality: tuple[str, ...]  # (): none; one column; or two (there, back)
    scale: float  # the greatest possible quality: 1, 100, 255, or the greatest value
    least: float  # the least value above 0 of the quality; inf for none
    has_zero: bool  # whether a value is 0 or less
    less_is_better: bool
    delay_s: float  # the median latency of a link in one direction; NaN: not given
    remarks: tuple[str, ...]
    unused: tuple[str, ...]  # remarks on the columns that a scenario does not use


def guessed(table: TextTable) -> TableGuess:
    """Return the guessed columns of a link table. Raises Problem for less than two columns."""
    lower = [name.lower() for name in table.columns]
    if len(lower) < 2:
        raise one_column(table)
    source, target = _ends(lower)
    _refuse_positions(table, lower, (source, target))
    _refuse_times(table, lower, (source, target))
    quality = _quality(table, lower, (source, target))
    names = tuple(table.columns[column] for column in quality)
    less = any(name.lower() in _LESS_IS_BETTER for name in names)
    values = [value for column in quality for value in _values(table, column)]
    scale, spoken = _scale(values)
    ends_at = source, target
    ends = table.columns[source], table.columns[target]
    remarks = [f"the columns {ends[0]} and {ends[1]} are the ends of a link"]
    remarks += filter(None, [_on_header(table, ends_at)])
    remarks += _on_quality(table, ends_at, names, "less is better" if less else spoken)
    others = [column for column in range(len(lower)) if column not in (*ends_at, *quality)]
    delay_s, on_latency, latency = _latency(table, lower, others)
    unused = unused_data([table.columns[column] for column in others if column != latency])
    if math.isnan(delay_s):
        unused = [*on_latency, *unused]
    else:
        remarks += on_latency
    least = min((value for value in values if value > 0.0), default=math.inf)
    has_zero = any(value <= 0.0 for value in values)
    return TableGuess(
        *ends, names, scale, least=least, has_zero=has_zero, less_is_better=less, delay_s=delay_s,
        remarks=tuple(remarks), unused=tuple(unused),
    )  # fmt: skip


def _on_quality(
    table: TextTable, ends: tuple[int, int], names: Sequence[str], spoken: str
) -> Iterator[str]:
    """Yield the remarks on the columns of a link table with the quality, and on its directions."""
    if not names:
        yield "no column is a link quality"
        return
    yield f"{_columns(names)} the link quality ({spoken})"
    source, target = ends
    pairs = {(row[source].strip(), row[target].strip()) for _, row in table.rows}
    if len(names) == 1 and not any((b, a) in pairs for a, b in pairs if a != b):
        yield "each link is listed in one direction, so its quality counts for both directions"


def unused_data(names: Sequence[str], what: str = "column") -> list[str]:
    """Return the remark on the columns of a link table, or on other data of links, that a scenario
    does not use; no remark without names.
    """
    if not names:
        return []
    if len(names) == 1:
        return [f"the {what} {names[0]} is not used"]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    *first, last = [*names[:_SHOWN], *more]
    return [f"the {what}s {', '.join(first)} and {last} are not used"]


def _latency(
    table: TextTable, lower: Sequence[str], others: Sequence[int]
) -> tuple[float, list[str], int]:
    """Return the median latency of the links of a table in seconds, the remark on it, and its
    column. Without a column of latencies in a known unit, return NaN and -1.
    """
    for column in others:
        latency = _LATENCY.fullmatch(lower[column])
        values = _values(table, column) if latency else []
        if latency is None or not values or min(values) < 0.0:
            continue
        name = table.columns[column]
        if latency["unit"] is None:
            remark = (
                f"the column {name} is not used, because its unit is not known; name it {name}_ms "
                f"or {name}_s, or write its median in seconds to delay_s"
            )
            return math.nan, [remark], column
        half, share = ("half ", 0.5) if latency["what"] == "rtt" else ("", 1.0)
        delay_s = float(f"{median(values) * share * _UNITS_S[latency['unit']]:.6g}")
        what = f"delay_s = {delay_s:g} is {half}the median of the column {name}"
        return delay_s, [f"{what}; a radio has one delay for all links"], column
    return math.nan, [], -1


def _columns(names: Sequence[str]) -> str:
    one = f"the column {names[0]} is" if len(names) == 1 else ""
    return one or f"the columns {' and '.join(names)} (there, back) are"


def _ends(lower: Sequence[str]) -> tuple[int, int]:
    """Return the link table's columns of both ends: by their names, or the first two."""
    source = next((lower.index(name) for name in _SOURCES if name in lower), None)
    target = next((lower.index(name) for name in _TARGETS if name in lower), None)
    return (0, 1) if source is None or target is None else (source, target)


def _refuse_positions(table: TextTable, lower: Sequence[str], ends: tuple[int, int]) -> None:
    """Raise Problem if an end of a link is a coordinate: the table has positions, no links.

    A table of two columns has no room for a node beside its position, so its columns are ends.
    """
    for x, y in POSITION_COLUMNS if len(lower) > 2 else ():
        if x in lower and y in lower and {lower.index(x), lower.index(y)} & {*ends}:
            raise Problem(
                f"the columns {x} and {y} are positions: expected the ends of a link",
                where=str(table.path),
                remedy=f"give the links first: halfway init LINKS {table.path.name}",
            )


def _refuse_times(table: TextTable, lower: Sequence[str], ends: tuple[int, int]) -> None:
    """Raise Problem if an end of a link is a time: the table has movement or events, no links."""
    times = [table.columns[end] for end in ends if lower[end] in _TIMES]
    if times and len(lower) > 2:
        raise Problem(
            f"the column {times[0]} is a time: expected the ends of a link",
            where=str(table.path),
            remedy="for movement, name the columns node, t_s, x_m, y_m (or lon, lat for x_m, y_m)",
        )


def _on_header(table: TextTable, ends: tuple[int, int]) -> str:
    """Return the remark that the header of a link table may be a link, or ""."""
    if not table.separator:
        return ""  # the table has no header
    known = {row[end].strip() for _, row in table.rows for end in ends}
    names = [table.columns[end] for end in ends]
    if not any(name in known and name.lower() not in (*_SOURCES, *_TARGETS) for name in names):
        return ""
    return (
        f"the first line ({', '.join(table.columns)[:40]}) is a header and no link, although nodes "
        "have the same names; if it is a link, add a header above it"
    )


def _quality(table: TextTable, lower: Sequence[str], ends: tuple[int, int]) -> tuple[int, ...]:
    """Return the link table's columns of the quality, by name; without names, shares of 1."""
    for pair in _PAIRS:
        if all(name in lower for name in pair):
            both = tuple(lower.index(name) for name in pair)
            if all(_values(table, column) for column in both):
                return both
    for name in _SINGLE:
        if name in lower and lower.index(name) not in ends:
            column = lower.index(name)
            return (column,) if _values(table, column) else ()
    if table.columns[:3] == ["1", "2", "3"]:
        values = _values(table, 2)
        if values and max(values) <= 1.0 and any(value != int(value) for value in values):
            return (2,)
    return ()


def _values(table: TextTable, column: int) -> list[float]:
    """Return the finite numbers in a link table's column, or no numbers if a field is not
    numeric.
    """
    try:
        qualities = [table.quality(row, line, column) for line, row in table.rows]
    except Problem:
        return []
    return [value for value in qualities if not math.isnan(value)]


def _scale(values: Sequence[float]) -> tuple[float, str]:
    """Return the greatest possible quality of a link table, and its range in words."""
    most = max(values, default=1.0)
    for scale, spoken in _SCALES:
        if most <= scale:
            return scale, spoken
    return most, f"up to {most:g}"
