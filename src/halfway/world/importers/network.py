"""Real networks from the user's files: GraphML, CSV with a header, columns parted by blanks."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.compressed import LinkList, network_of
from halfway.world.graphs.network import Network
from halfway.world.importers.graphml import graphml
from halfway.world.importers.link_table import (
    Quality,
    Table,
    blank_table,
    csv_table,
    links,
    positions,
)

GRAPHML = (".graphml", ".xml")
_CSV = (".csv",)
_BLANKS = (".txt", ".tsv", ".tab", ".dat", ".edges", ".edgelist", ".links", ".intra")
_MOST_QUALITIES = 2


def read_network(
    path: str | Path,
    *,
    source: str | None = None,
    target: str | None = None,
    quality: str | Sequence[str] = (),
    threshold: float | None = None,
    both_ways: bool = True,
    only: Mapping[str, str] | None = None,
    positions_from: str | Path | None = None,
    position_columns: str | Sequence[str] = (),
    largest: bool = False,
) -> Network:
    """Read a network; its format follows from the suffix (.gz may follow).

    source, target: columns with the ends of a link (the first two). Columns without a header are
        called 1, 2, 3…
    quality: one column, if a line is an ordered pair, or two ("ab,ba"), if a line is a link. It is
        a link iff both directions are > threshold (0 if not given); either, if not `both_ways`.
        What is empty or was never heard is not over it. Without a quality each line is a link.
    only: column -> value: lines with another value are passed over.
    positions_from: a table with an id and x, y (or lon, lat) a node, in any unit; it may list more
        nodes than have links. position_columns: id, x and y there, if not found by their names.
    largest: only the largest component.

    `labels` are the file's ids, `position` is None unless all nodes have one, `left_out` counts
    what was dropped. Raises Problem with file, line and column (of a table: the field's number).
    """
    where = Path(path)
    chosen = Quality(_names(quality), threshold or 0.0, both_ways)
    _check(where, chosen, threshold)
    kind = suffix(where)
    if kind in GRAPHML:
        if source or target or chosen.columns or only:
            raise Problem("GraphML has no columns to choose from", where=str(where))
        listed = graphml(where)
    else:
        listed = links(table_of(where), (source, target), chosen, only or {})
    if positions_from is not None:
        listed = _placed(listed, Path(positions_from), _names(position_columns))
    return network_of(listed, stem(where), largest=largest)


def _placed(listed: LinkList, path: Path, columns: tuple[str, ...]) -> LinkList:
    where = positions(table_of(path), columns)
    labels = list(dict.fromkeys([*listed.labels, *where]))
    if len(labels) == len(listed.labels) + len(where):
        what = f"none of its ids ({', '.join(list(where)[:3])}…) is one of the links' ids "
        raise Problem(what + f"({', '.join(listed.labels[:3])}…)", where=str(path))
    unknown = (math.nan, math.nan)
    position = np.array([where.get(label, unknown) for label in labels], np.float64)
    return listed._replace(labels=labels, position=position)


def table_of(path: Path) -> Table:
    """A table of links or positions; its form follows from the suffix (.gz may follow)."""
    return csv_table(path) if suffix(path) in _CSV else blank_table(path)


def suffix(path: Path, more: tuple[str, ...] = ()) -> str:
    """The suffix that names the format, in lower case; Problem if it is none of ours or of more."""
    kind = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    known = (*more, *GRAPHML, *_CSV, *_BLANKS)
    if kind not in known:
        what = "this is a directory, not a file" if path.is_dir() else f"unknown suffix '{kind}'"
        remedy = f"networks end in {', '.join(known)}, or one of these .gz"
        raise Problem(what, where=str(path), remedy=remedy)
    return kind


def stem(path: Path) -> str:
    """The file's name without its suffixes."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    given = columns.split(",") if isinstance(columns, str) else columns
    return tuple(name.strip() for name in given if name.strip())


def _check(path: Path, quality: Quality, threshold: float | None) -> None:
    if len(quality.columns) > _MOST_QUALITIES:
        what = f"{len(quality.columns)} quality columns: one or two (there and back) can be used"
        raise Problem(what, where=str(path))
    if threshold is None:
        return
    if not math.isfinite(threshold):
        raise Problem(f"the threshold {threshold} is not a number", where=str(path))
    if not quality.columns:
        raise Problem(
            f"a threshold of {threshold:g}, but no quality column",
            where=str(path),
            remedy="name the column that it is for",
        )
