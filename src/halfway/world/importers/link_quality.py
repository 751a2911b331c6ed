"""How good measured links are: a delivery ratio for each direction, read from a table of links."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.importers.network import table_of


def measured_success(
    network: Network, path: str | Path, columns: tuple[str, ...]
) -> npt.NDArray[np.float32]:
    """[m] probability of a reception over each directed link, by place in `network.who`.

    columns: one, where a line is an ordered pair (the ratio from the first to the second), or two,
    where a line is a link (there, back). The ends are the table's first two columns. Raises Problem
    for a ratio that is none, and for a link of the network that the table does not tell of.
    """
    table = table_of(Path(path))
    if len(columns) not in (1, 2):
        raise Problem(f"{len(columns)} columns of ratios: one or two (there and back) can be used")
    valued = [table.column(name) for name in columns]
    row_of = {network.label(row): row for row in range(network.n)}
    success = np.full(len(network.who), np.nan, np.float32)
    for line, row in table.rows:
        ends = [row_of.get(table.name(row, line, end)) for end in (0, 1)]
        for (a, b), column in zip((ends, ends[::-1]), valued, strict=False):
            ratio = table.number(row, line, column)
            if not (np.isnan(ratio) or 0.0 <= ratio <= 1.0):
                raise table.problem(f"{ratio:g} is no delivery ratio (0 to 1)", line, column)
            if a is not None and b is not None:
                place = _place(network, a, b)
                if place >= 0:
                    success[place] = ratio
    missing = np.flatnonzero(np.isnan(success))
    if len(missing):
        a = int(np.searchsorted(network.start, missing[0], side="right")) - 1
        pair = f"{network.label(a)} to {network.label(int(network.who[missing[0]]))}"
        raise Problem(f"no ratio from {pair}, though they are linked", where=str(path))
    return success


def _place(network: Network, a: int, b: int) -> int:
    near = network.neighbours(a)
    place = int(np.searchsorted(near, b))
    return int(network.start[a]) + place if place < len(near) and near[place] == b else -1
