"""Measured link quality: delivery ratios of both directions of each link, from a table file."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.importers.network import table_of


def measured_success(
    network: Network, path: str | Path, columns: tuple[str, ...]
) -> npt.NDArray[np.float32]:
    """Read measured reception probabilities of directed links [m], by index in `network.who`.

    columns: one if a line is an ordered pair (the ratio from the first to the second), or two if a
    line is a link (there, back). The ends are the table's first two columns. Raises Problem for a
    ratio outside [0, 1], and for a link of the network that the table does not contain.
    """
    table = table_of(Path(path))
    if len(columns) not in (1, 2):
        raise Problem(f"{len(columns)} columns of ratios: expected one, or two (there and back)")
    valued = [table.column(name) for name in columns]
    row_of = {network.label(row): row for row in range(network.n)}
    success = np.full(len(network.who), np.nan, np.float32)
    for line, row in table.rows:
        ends = [row_of.get(table.name(row, line, end)) for end in (0, 1)]
        for (a, b), column in zip((ends, ends[::-1]), valued, strict=False):
            ratio = table.number(row, line, column)
            if not (np.isnan(ratio) or 0.0 <= ratio <= 1.0):
                raise table.problem(f"ratio = {ratio:g}: expected 0 to 1", line, column)
            if a is not None and b is not None:
                success[network.start[a] : network.start[a + 1]][network.neighbours(a) == b] = ratio
    missing = np.flatnonzero(np.isnan(success))
    if len(missing):
        a = int(np.searchsorted(network.start, missing[0], side="right")) - 1
        pair = f"{network.label(a)} to {network.label(int(network.who[missing[0]]))}"
        raise Problem(f"the table has no ratio of the link from {pair}", where=str(path))
    return success
