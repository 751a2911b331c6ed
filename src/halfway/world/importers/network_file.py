"""Reader of network files: GraphML, JSON of mesh routers, GeoJSON, BRITE, and link tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs import import_remarks
from halfway.world.graphs.link_list import LinkList, network_of
from halfway.world.graphs.network import Network
from halfway.world.importers.brite import read_brite
from halfway.world.importers.geojson import geojson
from halfway.world.importers.graphml import graphml_links
from halfway.world.importers.json_topology import JSON, Items, JsonTopology, json_topology
from halfway.world.importers.link_table import (
    LinkColumns,
    LinkQuality,
    column_names,
    links,
    positions_in,
)
from halfway.world.importers.projection import PROJECTED, projected
from halfway.world.importers.text_table import TextTable, blank_table, csv_table

GRAPHML = (".graphml", ".xml")
BRITE = ".brite"
_CSV = (".csv",)
_BLANKS = (".txt", ".tsv", ".tab", ".dat", ".edges", ".edgelist", ".links", ".intra")
_ALL = LinkColumns()


def read_network(
    path: str | Path,
    columns: LinkColumns = _ALL,
    *,
    positions: str | Path | None = None,
    position_columns: str | Sequence[str] = (),
    partial_positions: bool = False,
    largest: bool = False,
) -> Network:
    """Read a network file; the suffix (before an optional .gz) gives the format.

    columns: which columns have the links, and which lines are links.
    positions: a table with an id and x, y (or lon, lat) per node, in any unit; it may list nodes
        without links. position_columns: its id, x and y, if they have other names. Longitude and
        latitude are projected to metres. partial_positions: accept a file or a table in which
        only some nodes have a position, and then use no position.
    largest: only the largest component.

    `Network.labels` are the file's ids, `Network.position` is None unless all nodes have one,
    `Network.left_out` counts dropped items, and `Network.remarks` names them. Raises Problem with
    file, line and column.
    """
    where, placed = Path(path), None if positions is None else Path(positions)
    _check(where, columns.measured())
    _check_format(where, columns, placed=placed is not None)
    if suffix(where) == BRITE:
        drawn = read_brite(where, largest=largest).underlay.network
        return replace(drawn, remarks=_remarks(drawn, where.name))
    listed = _listed(where, columns)
    if placed is not None:
        listed = _with_positions(listed, placed, column_names(position_columns))
    network = network_of(listed, stem(where), largest=largest)
    if network.position is None and not partial_positions:
        _check_placed(listed, network, where, placed)
    return replace(network, remarks=_remarks(network, where.name))


def _remarks(found: Network, file: str) -> tuple[str, ...]:
    """Return the remarks on a network with the name of its file, without the projection of ignored
    positions.
    """
    ignored = found.position is None
    return tuple(f"{file}: {one}" for one in found.remarks if not (ignored and PROJECTED in one))


def _check_placed(listed: LinkList, network: Network, path: Path, placed: Path | None) -> None:
    """Raise Problem if a file has positions, but not of all nodes of the network."""
    inside = set(map(network.label, range(network.n)))
    unplaced = np.flatnonzero(np.isnan(listed.position).any(axis=1)).tolist()
    names = [listed.labels[i] for i in unplaced if listed.labels[i] in inside]
    if placed is None and len(names) == network.n:
        return
    what = f"no position for {len(names)} of {network.n} nodes{import_remarks.listed(names)}"
    remedy = "add their positions, or leave the file out"
    if placed is None:
        remedy = "add the positions, or set partial_positions = true, which ignores all positions"
    raise Problem(what, where=str(placed or path), remedy=remedy)


def _listed(path: Path, columns: LinkColumns) -> LinkList:
    """Return the links of a network in GraphML, a table or JSON, with the positions in the same
    file.
    """
    if suffix(path) in GRAPHML:
        listed, _, geographic, _ = graphml_links(path)
        return _in_metres(listed, path) if geographic else listed
    if suffix(path) not in JSON:
        return links(table_of(path), columns)
    topology = topology_of(path)
    listed = links(topology.links, columns)
    if topology.directed:
        directions = {import_remarks.DIRECTIONS: topology.directed}
        listed = listed._replace(left_out={**listed.left_out, **directions})
    return _placed(listed, positions_in(topology.nodes, ()), path)


def _in_metres(listed: LinkList, path: Path) -> LinkList:
    metres, remark = projected(listed.position, str(path))
    remarks = (*listed.remarks, remark) if remark else listed.remarks
    return listed._replace(position=metres, remarks=remarks)


def _check_format(path: Path, columns: LinkColumns, *, placed: bool) -> None:
    kind = suffix(path)
    by_column = any((columns.source, columns.target, columns.measured().columns, columns.only))
    if kind == BRITE and (by_column or placed):
        remedy = "leave out source, target, quality, only and positions"
        raise Problem("a .brite file has no columns", where=str(path), remedy=remedy)
    if kind in GRAPHML and by_column:
        remedy = "leave out source, target, quality and only"
        raise Problem("GraphML has no columns", where=str(path), remedy=remedy)


def _with_positions(listed: LinkList, path: Path, columns: tuple[str, ...]) -> LinkList:
    table = topology_of(path).nodes if suffix(path) in JSON else table_of(path)
    placed = positions_in(table, columns)
    where = placed[0]
    if not where.keys() & set(listed.labels):
        placed_ids, linked_ids = ", ".join(list(where)[:3]), ", ".join(listed.labels[:3])
        what = (
            f"no node of the links has a position: the positions are for {placed_ids}…, "
            f"and the links join {linked_ids}…"
        )
        raise Problem(what, where=str(path), remedy="use the same ids in both files")
    return _placed(listed, placed, path)


def _placed(
    listed: LinkList, placed: tuple[Mapping[str, tuple[float, float]], bool], path: Path
) -> LinkList:
    """Return the links of a network file with positions in metres; nodes without links are
    added.
    """
    where, geographic = placed
    labels = list(dict.fromkeys([*listed.labels, *where]))
    unknown = (math.nan, math.nan)
    position = np.array([where.get(label, unknown) for label in labels], np.float64)
    placed_list = listed._replace(labels=labels, position=position)
    return _in_metres(placed_list, path) if geographic else placed_list


def table_of(path: Path) -> TextTable:
    """Read a network file as a table; the suffix (before an optional .gz) gives the format."""
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
        what = f"unknown suffix '{kind}'" if kind else "the name of the file has no suffix"
        if path.is_dir():
            what = "this is a directory, not a file"
        remedy = f"name a file that ends in {', '.join(known)}, or in one of these with .gz"
        raise Problem(what, where=str(path), remedy=remedy)
    return kind


def stem(path: Path) -> str:
    """Return the name of a network file without its suffixes."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def _check(path: Path, quality: LinkQuality) -> None:
    if len(quality.columns) > 2:
        what = f"{len(quality.columns)} quality columns: expected one, or two (there and back)"
        raise Problem(what, where=str(path))
    limits = {"threshold": quality.threshold, "under": quality.under}
    for name, limit in limits.items():
        if limit is not None and not math.isfinite(limit):
            raise Problem(f"{name} = {limit}: expected a finite number", where=str(path))
        if limit is not None and not quality.columns:
            what = f"{name} = {limit:g}: expected a quality column as well"
            raise Problem(what, where=str(path), remedy="name the quality column")


def topology_of(path: Path) -> JsonTopology:
    """Read a network file in JSON, GeoJSON too, as a topology. Raises Problem with file, line or
    item, and cause.
    """
    items = Items(path)
    plain = items.plain
    if isinstance(plain, dict) and plain.get("type") in ("FeatureCollection", "Feature"):
        return geojson(items, plain)
    return json_topology(items)
