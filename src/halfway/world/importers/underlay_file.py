"""Reader of underlay files: BRITE, GraphML with positions, or link tables with delays; lengths and
bandwidths of their links.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.link_list import LinkList
from halfway.world.importers.brite import read_brite
from halfway.world.importers.graphml import graphml_links
from halfway.world.importers.link_table import LinkColumns, links
from halfway.world.importers.network_file import BRITE, GRAPHML, stem, suffix, table_of
from halfway.world.importers.text_table import TextTable
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S, Doubles, Underlay, underlay_of
from halfway.world.underlays.waxman import uniform_bandwidths

EARTH_RADIUS_KM = 6371.0088  # mean radius, IUGG
_MILLI, _MEGA = 1e-3, 1e6
_METRES_IN_KM = 1000.0
HOP_S = 1e-3


def read_underlay(
    path: str | Path,
    *,
    delay_ms: str | None = None,
    bandwidth_mbps: str | None = None,
    hop_s: float = HOP_S,
    largest: bool = False,
) -> Underlay:
    """Read an underlay file; the suffix (before an optional .gz) gives the format.

    .brite: as `read_brite`. GraphML: the delay of a link is the distance of its ends, on the great
    circle (or in the plane, in km), over the speed of light; its bandwidth is LinkSpeedRaw. Tables:
    delay_ms and bandwidth_mbps name columns (1, 2, 3… without a header). Without delay_ms each
    link has the delay hop_s, as in an AS graph, which has neither positions nor delays. A missing
    bandwidth is infinite. largest: only the largest component. Raises Problem with file and line.
    """
    where = Path(path)
    kind = suffix(where)
    columns = [name for name in (delay_ms, bandwidth_mbps) if name is not None]
    if columns and kind in (BRITE, *GRAPHML):
        remedy = "leave out delay_ms and bandwidth_mbps"
        raise Problem(f"{kind} has no columns", where=str(where), remedy=remedy)
    if not 0 <= hop_s < np.inf:
        raise Problem(f"hop_s = {hop_s}: expected a finite time >= 0", where=str(where))
    if kind == BRITE:
        return read_brite(where, largest=largest).underlay
    if kind in GRAPHML:
        return _from_graphml(where, largest)
    table = table_of(where)
    listed = links(table, LinkColumns())
    delay_s, bandwidth_bps = (np.full(len(listed.ends), value) for value in (hop_s, np.nan))
    if delay_ms is not None:
        delay_s = _column(table, delay_ms) * _MILLI
    if bandwidth_mbps is not None:
        bandwidth_bps = _column(table, bandwidth_mbps) * _MEGA
    return underlay_of(listed, delay_s, bandwidth_bps, stem(where), largest=largest)


def with_drawn_bandwidths(
    underlay: Underlay, seed: int, least_mbps: float = 10.0, most_mbps: float = 1024.0
) -> Underlay:
    """Return the underlay of a file with its unknown bandwidths drawn uniformly from least to most.

    A draw depends on the link's number among all links, so known bandwidths do not shift it.
    """
    drawn = uniform_bandwidths(underlay.network.links, seed, least_mbps, most_mbps)
    known = underlay.bandwidth_bps
    return replace(underlay, bandwidth_bps=np.where(np.isinf(known), drawn[underlay.link], known))


def great_circle_km(a: Doubles, b: Doubles) -> Doubles:
    """Return the great circle lengths [links] in km of the links in an underlay file, from ends
    [links, 2] in degrees (lon, lat).

    Lengths are rounded to whole metres, because sines of two machines may differ in their last bit.
    """
    (east_a, north_a), (east_b, north_b) = np.radians(a).T, np.radians(b).T
    chord = np.sin((north_b - north_a) / 2) ** 2
    chord += np.cos(north_a) * np.cos(north_b) * np.sin((east_b - east_a) / 2) ** 2
    length_km = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    return np.asarray(np.round(length_km * _METRES_IN_KM) / _METRES_IN_KM)


def plane_km(a: Doubles, b: Doubles) -> Doubles:
    """Return the lengths [links] in a plane, in km, of the links in an underlay file, from ends
    [links, 2].
    """
    x, y = (a - b).T
    return np.asarray(np.sqrt(x * x + y * y))


def _from_graphml(path: Path, largest: bool) -> Underlay:
    listed, speed_bps, geographic, _ = graphml_links(path)
    position = _with_all_positions(listed, path)
    a, b = position[listed.ends[:, 0]], position[listed.ends[:, 1]]
    length_km = great_circle_km(a, b) if geographic else plane_km(a, b)
    speed = np.where(speed_bps > 0, speed_bps, np.nan)
    delay_s = length_km / SPEED_OF_LIGHT_KM_S
    underlay = underlay_of(listed, delay_s, speed, stem(path), largest=largest)
    return replace(underlay, geographic=geographic)


def _with_all_positions(listed: LinkList, path: Path) -> Doubles:
    # We put a node without a position at the mean of its known neighbours, ring by ring around the
    # known nodes, because the delays of its links require a position.
    position = listed.position.copy()
    near: list[list[int]] = [[] for _ in listed.labels]
    for a, b in listed.ends.tolist():
        near[a].append(b)
        near[b].append(a)
    known = [not math.isnan(x + y) for x, y in position.tolist()]
    if not any(known):
        remedy = "add the node keys Longitude and Latitude, or x and y in kilometres"
        raise Problem(
            "no node has a position, so delays are unknown", where=str(path), remedy=remedy
        )
    while ring := [i for i in range(len(near)) if not known[i] and any(known[j] for j in near[i])]:
        for i in ring:
            position[i] = position[[j for j in near[i] if known[j]]].mean(axis=0)
        for i in ring:
            known[i] = True
    # Links of a component without any known position have length 0.
    position[np.isnan(position)] = 0.0
    return position


def _column(table: TextTable, name: str) -> Doubles:
    column = table.column(name)
    values = np.empty(len(table.rows))
    for k, (line, row) in enumerate(table.rows):
        values[k] = table.finite_number(row, line, column)
        if not values[k] >= 0:
            text = row[column].strip() if column < len(row) else ""
            what = f"column {name} = '{text}': expected a number >= 0"
            raise table.problem(what, line, column)
    return values
