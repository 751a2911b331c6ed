"""Measured link quality: delivery ratios of both directions of each link, from a table file."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.importers.link_table import is_symmetric
from halfway.world.importers.network_file import table_of
from halfway.world.importers.text_table import TextTable


def measured_success(
    network: Network, path: str | Path, columns: tuple[str, ...], scale: float = 1.0
) -> npt.NDArray[np.float32]:
    """Read the measured reception probabilities of directed links [m] from a table, by index in
    `network.who`.

    columns: one if a line is an ordered pair (the ratio from the first to the second), or two if a
    line is a link (there, back). The ends are the table's first two columns. If the table has one
    column, and each link in one direction only, the ratio holds in both directions. If several
    lines have the same link, its greatest ratio counts, because each of these lines makes the link.
    scale: the value of a perfect link, such as 255. Raises Problem for a ratio outside [0, 1], and
    for a link of the network that the table does not contain.
    """
    table = table_of(Path(path))
    if len(columns) not in (1, 2):
        raise Problem(f"{len(columns)} columns of ratios: expected one, or two (there and back)")
    valued = [table.column(name) for name in columns]
    valued *= 2 if is_one_way(table, columns) else 1
    row_of = {network.label(row): row for row in range(network.n)}
    success = np.full(len(network.who), np.nan, np.float32)
    for line, row in table.rows:
        ends = [row_of.get(table.name(row, line, end)) for end in (0, 1)]
        for (a, b), column in zip((ends, ends[::-1]), valued, strict=False):
            ratio = _ratio(table, row, line, column, scale)
            if a is not None and b is not None:
                known = success[network.start[a] : network.start[a + 1]]
                here = network.neighbours(a) == b
                known[here] = np.fmax(known[here], ratio)  # not NaN, where one of them is a number
    missing = np.flatnonzero(np.isnan(success))
    if len(missing):
        a = int(np.searchsorted(network.start, missing[0], side="right")) - 1
        pair = f"{network.label(a)} to {network.label(int(network.who[missing[0]]))}"
        more = f" and of {len(missing) - 1:,} more" if len(missing) > 1 else ""
        what = f"the table has no ratio of the link from {pair}{more}"
        remedy = "add the ratio, or let `network.quality` leave the link out"
        raise Problem(what, where=str(path), remedy=remedy)
    return success


def is_one_way(table: TextTable, columns: tuple[str, ...]) -> bool:
    """Return whether a table of measured ratios has one column, and each link in one direction
    only.
    """
    pairs = [(table.name(row, line, 0), table.name(row, line, 1)) for line, row in table.rows]
    return len(columns) == 1 and is_symmetric(pairs)


def repeated_links(table: TextTable, columns: tuple[str, ...]) -> int:
    """Return how many links (with one column, ordered pairs) several lines of measured ratios
    have.
    """
    pairs = [(table.name(row, line, 0), table.name(row, line, 1)) for line, row in table.rows]
    if len(columns) == 2 or is_one_way(table, columns):
        pairs = [(min(pair), max(pair)) for pair in pairs]
    return sum(count > 1 for count in Counter(pairs).values())


def _ratio(table: TextTable, row: list[str], line: int, column: int, scale: float) -> float:
    """Return the measured ratio in a link table's field, NaN for an empty one; "67%" is a ratio on
    any scale.
    """
    is_share = column < len(row) and row[column].strip().endswith("%")
    ratio = table.quality(row, line, column) / (1.0 if is_share else scale)
    if not (math.isnan(ratio) or 0.0 <= ratio <= 1.0):
        what = f"ratio = {ratio * (1.0 if is_share else scale):g}: expected 0 to {scale:g}"
        remedy = "; give the value of a perfect link in radio.ratio_scale, such as 100 or 255"
        raise table.problem(what + (remedy if ratio > 1.0 else ""), line, column)
    return ratio
