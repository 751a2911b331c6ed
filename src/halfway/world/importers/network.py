"""Reader of network files: GraphML, JSON of mesh routers, GeoJSON, BRITE, and link tables."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.compressed import LinkList, network_of
from halfway.world.graphs.network import Network
from halfway.world.importers.brite import read_brite
from halfway.world.importers.geojson import topology_of
from halfway.world.importers.graphml import graphml
from halfway.world.importers.json_topology import JSON
from halfway.world.importers.link_table import (
    LinkQuality,
    TextTable,
    blank_table,
    csv_table,
    links,
    positions,
)

GRAPHML = (".graphml", ".xml")
BRITE = ".brite"
_CSV = (".csv",)
_BLANKS = (".txt", ".tsv", ".tab", ".dat", ".edges", ".edgelist", ".links", ".intra")


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
    """Read a network file; the suffix (before an optional .gz) gives the format.

    source, target: columns with the ends of a link (default: the first two). Columns without a
        header are named 1, 2, 3…
    quality: one column if a line is an ordered pair, or two ("ab,ba") if a line is a link. Nodes
        are linked iff both directions are > threshold (default: 0); either, if not `both_ways`.
        Empty or missing qualities do not exceed it. Without a quality each line is a link.
    only: column -> value: lines with another value are skipped.
    positions_from: a table with an id and x, y (or lon, lat) per node, in any unit; it may list
        nodes without links. position_columns: its id, x and y, if they have other names.
    largest: only the largest component.

    `labels` are the file's ids, `position` is None unless all nodes have one, `left_out` counts
    dropped items. Raises Problem with file, line and column (in a table: the field's number).
    """
    where = Path(path)
    chosen = LinkQuality(_names(quality), threshold or 0.0, both_ways)
    _check(where, chosen, threshold)
    kind = suffix(where)
    if kind in GRAPHML:
        if source or target or chosen.columns or only:
            raise _no_columns(where)
        listed = graphml(where)
    elif kind == BRITE:
        if source or target or chosen.columns or only or positions_from is not None:
            raise _no_columns(where)
        return read_brite(where, largest=largest).underlay.network
    elif kind in JSON:
        topology = topology_of(where)
        listed = links(topology.links, (source, target), chosen, only or {})
        listed = _placed(listed, positions(topology.nodes, ()))
    else:
        listed = links(table_of(where), (source, target), chosen, only or {})
    if positions_from is not None:
        listed = _with_positions(listed, Path(positions_from), _names(position_columns))
    return network_of(listed, stem(where), largest=largest)


def _no_columns(path: Path) -> Problem:
    if suffix(path) == BRITE:
        remedy = "leave out source, target, quality, only and positions"
        return Problem("a .brite file has no columns", where=str(path), remedy=remedy)
    remedy = "leave out source, target, quality and only"
    return Problem("GraphML has no columns", where=str(path), remedy=remedy)


def _with_positions(listed: LinkList, path: Path, columns: tuple[str, ...]) -> LinkList:
    table = topology_of(path).nodes if suffix(path) in JSON else table_of(path)
    where = positions(table, columns)
    if not where.keys() & set(listed.labels):
        what = f"ids {', '.join(list(where)[:3])}…: expected ids of the links "
        raise Problem(what + f"({', '.join(listed.labels[:3])}…)", where=str(path))
    return _placed(listed, where)


def _placed(listed: LinkList, where: Mapping[str, tuple[float, float]]) -> LinkList:
    """The list of links with positions; nodes without links are added."""
    labels = list(dict.fromkeys([*listed.labels, *where]))
    unknown = (math.nan, math.nan)
    position = np.array([where.get(label, unknown) for label in labels], np.float64)
    return listed._replace(labels=labels, position=position)


def table_of(path: Path) -> TextTable:
    """Read a network file's table; the suffix (before an optional .gz) gives the format."""
    if suffix(path) in JSON:
        return topology_of(path).links
    return csv_table(path) if suffix(path) in _CSV else blank_table(path)


def is_table(path: Path) -> bool:
    """Return whether the suffix of a network file names a table of links."""
    return suffix(path) in (*_CSV, *_BLANKS, *JSON)


def suffix(path: Path) -> str:
    """Return a network file's suffix in lower case; Problem unless supported."""
    kind = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    known = (*GRAPHML, *JSON, BRITE, *_CSV, *_BLANKS)
    if kind not in known:
        what = f"unknown suffix '{kind}'"
        if path.is_dir():
            what = "this is a directory: expected a file"
        remedy = f"expected {', '.join(known)}, or one of these with .gz"
        raise Problem(what, where=str(path), remedy=remedy)
    return kind


def stem(path: Path) -> str:
    """Return the name of a network file without its suffixes."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    given = columns.split(",") if isinstance(columns, str) else columns
    return tuple(name.strip() for name in given if name.strip())


def _check(path: Path, quality: LinkQuality, threshold: float | None) -> None:
    if len(quality.columns) > 2:
        what = f"{len(quality.columns)} quality columns: expected one, or two (there and back)"
        raise Problem(what, where=str(path))
    if threshold is None:
        return
    if not math.isfinite(threshold):
        raise Problem(f"threshold = {threshold}: expected a finite number", where=str(path))
    if not quality.columns:
        what = f"threshold = {threshold:g}: expected a quality column"
        raise Problem(what, where=str(path), remedy="choose the quality column")
