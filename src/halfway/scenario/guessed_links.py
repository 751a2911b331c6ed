"""The columns and limits that a first scenario guesses for the links of a file."""

import math
from collections.abc import Iterator
from pathlib import Path

from halfway.problem import Problem
from halfway.world.importers.column_guesses import TableGuess
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network

_KEPT = 0.9  # share of the connected nodes that a threshold must keep connected
_THRESHOLDS = (0.9, 0.75, 0.5, 0.25, 0.1)  # of the scale of the quality


def guessed_links(path: Path, guess: TableGuess | None) -> tuple[LinkColumns, list[str]]:
    """Return the columns and limits that a starter guesses for a file's links, and the guesses."""
    if guess is None:
        return LinkColumns(), []
    columns = LinkColumns(guess.source, guess.target)
    guesses = list(guess.remarks)
    if not guess.quality:
        return columns, guesses
    columns = columns._replace(quality=guess.quality)
    name, whole = "under" if guess.less_is_better else "over", _connected(path, columns)
    for limited in _limited(columns, guess):
        kept = _connected(path, limited)
        if kept >= _KEPT * whole:
            value = limited.under if guess.less_is_better else limited.threshold
            guesses.append(
                f"{name} = {value:g} keeps {kept:,} of {whole:,} connected nodes connected"
            )
            return limited, guesses
    if guess.less_is_better:
        guesses.append("every link counts: a limit disconnects more than a tenth of the nodes")
        return columns._replace(threshold=0.0 if guess.has_zero else None), guesses
    guesses.append("over = 0: a higher threshold disconnects more than a tenth of the nodes")
    return columns._replace(threshold=0.0), guesses


def _limited(columns: LinkColumns, guess: TableGuess) -> Iterator[LinkColumns]:
    """Yield a starter's columns with limits of the quality, the strictest limit first.

    The limit of a cost such as ETX is a multiple of a perfect link, whose ETX is 1.
    """
    for share in _THRESHOLDS:
        if not guess.less_is_better:
            yield columns._replace(threshold=share * guess.scale)
        elif guess.least < math.inf:
            # An ETX of 0 stands for a link that does not work.
            yield columns._replace(
                under=float(f"{guess.least / share:.3g}"),
                threshold=0.0 if guess.has_zero else None,
            )


def _connected(path: Path, columns: LinkColumns) -> int:
    """Return the size of the largest component that guessed columns give a first scenario, or 0
    without links.
    """
    try:
        return read_network(path, columns, largest=True, partial_positions=True).n
    except Problem:
        return 0
