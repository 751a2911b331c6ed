"""The reader and writer of BRITE topology files (.brite), in the format of the Java and of the C++
edition.

The editions differ in the order of the model's numbers, in separators (tabs or blanks) and in
digits: C++ writes two decimals, and no delay between AS nodes (-1).
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem, reason_of
from halfway.world.graphs.import_remarks import DIRECTIONS
from halfway.world.graphs.link_list import LinkList
from halfway.world.graphs.network import Network
from halfway.world.importers.file_content import content
from halfway.world.underlays.underlay import (
    SPEED_OF_LIGHT_KM_S,
    Doubles,
    Ends,
    Underlay,
    underlay_of,
)
from halfway.world.underlays.waxman import BANDWIDTHS, PLACEMENTS, Waxman

_WAXMAN = ("1", "3")  # router level and AS level; both have the same numbers
_INCREMENTAL = 1.0
_NODE = ("id", "x", "y")
_EDGE = ("id", "from", "to", "length", "delay", "bandwidth")
_DIRECTION = 9  # index of the field that is U or D
_SEPARATOR = {True: "\t", False: " "}  # Java edition, C++ edition
_MILLI, _MEGA = 1e-3, 1e6


class Brite(NamedTuple):
    """The content of a .brite file."""

    underlay: Underlay  # positions in km; `labels` are the file's ids
    model: Waxman | None  # None for another model or non-incremental growth


class _Lines(NamedTuple):
    """The lines of one block of a .brite file, with line numbers."""

    path: Path
    body: list[tuple[int, list[str]]]


def read_brite(path: str | Path, *, largest: bool = False) -> Brite:
    """Read a .brite file, or .brite.gz.

    The delay of a link is the delay in the file (ms). If this is negative, the delay is the length
    of the link (km) divided by the speed of light. A bandwidth in the file is in Mb/s; without a
    positive one it is infinite. Directions are dropped and counted in `Network.left_out`. largest:
    only the largest component. Raises Problem with file and line.
    """
    where = Path(path)
    body = content(where).replace(b"\0", b"").decode("utf-8", "replace")
    lines = list(enumerate(body.splitlines(), start=1))
    model = next((line for _, line in lines if line.lstrip().startswith("Model")), "")
    nodes, edges = _block(where, lines, "Nodes"), _block(where, lines, "Edges")
    index: dict[str, int] = {}
    position = np.empty((len(nodes.body), 2))
    for i, (number, fields) in enumerate(nodes.body):
        if fields[0] in index:
            what = f"node {fields[0]} occurs twice: expected one line for each node"
            raise Problem(what, where=f"{where}:{number}")
        index[fields[0]] = i
        position[i] = [_number(nodes, number, fields, column, _NODE) for column in (1, 2)]
    ends, delay_s, bandwidth_bps, directed = _links(edges, index)
    listed = LinkList(list(index), ends, position, {DIRECTIONS: directed})
    name = where.name.removesuffix(".gz").removesuffix(".brite")
    return Brite(underlay_of(listed, delay_s, bandwidth_bps, name, largest=largest), _model(model))


def write_brite(path: str | Path, underlay: Underlay, model: Waxman, form: str = "java") -> None:
    """Write a .brite file in the format of BRITE's Java or C++ edition ("java" or "c++").

    Ids are the network's labels where these are 0…n-1 in some order, otherwise the rows. "java"
    keeps all digits, "c++" two decimals and no delays. Raises Problem if positions are unknown or
    in degrees, or if the file cannot be written.
    """
    if form not in ("java", "c++"):
        raise Problem(f"form = '{form}': expected one of java, c++")
    network = underlay.network
    if network.position is None:
        raise Problem(
            "position: expected a position for every node in a .brite file", where=network.name
        )
    if underlay.geographic:
        what = "position = longitude, latitude: expected x, y in kilometres for a .brite file"
        remedy = (
            "project them with `projected` in halfway.world.importers.projection, which gives "
            "metres, or write the keys x and y into the file that was read"
        )
        raise Problem(what, where=network.name, remedy=remedy)
    ids = _ids(network)
    java = form == "java"
    text = [f"Topology: ( {network.n} Nodes, {network.links} Edges )", _head(model, java), ""]
    text += _node_lines(network, network.position, ids, java)
    text += ["", *_edge_lines(underlay, network.position, ids, java)]
    try:
        Path(path).write_text("\n".join(text) + "\n", encoding="utf-8")
    except OSError as error:
        what = f"could not be written: {reason_of(error)}"
        raise Problem(what, where=str(path), remedy="name a file that you can write") from None


def _ids(network: Network) -> npt.NDArray[np.int64]:
    rows = np.arange(network.n)
    if network.labels is None or set(network.labels.astype(str)) != set(map(str, rows)):
        return rows
    return network.labels.astype(np.int64)


def _node_lines(
    network: Network, position: Doubles, ids: npt.NDArray[np.int64], java: bool
) -> list[str]:
    lines = [f"Nodes: ( {network.n} )" if java else f"Nodes: ({network.n})"]
    for i in np.argsort(ids):
        x, y = position[i].tolist()
        whole = java and x.is_integer() and y.is_integer()
        place = (f"{x:.0f}", f"{y:.0f}") if whole else (_digits(x, java), _digits(y, java))
        degree = str(network.degree[i])
        fields = [str(ids[i]), *place, degree, degree, str(ids[i]), "AS_NODE", ""]
        lines.append(_SEPARATOR[java].join(fields))
    return lines


def _edge_lines(
    underlay: Underlay, position: Doubles, ids: npt.NDArray[np.int64], java: bool
) -> list[str]:
    links = underlay.network.links
    lines = [f"Edges: ( {links} )" if java else f"Edges: ({links}):"]
    ends = np.column_stack((ids[underlay.owner], ids[underlay.network.who]))
    later = np.flatnonzero(ends[:, 0] > ends[:, 1])  # each link once, from the later id
    for number, k in enumerate(later[np.lexsort((ends[later, 1], ends[later, 0]))]):
        a, b = ends[k].tolist()
        length_km = math.dist(position[underlay.owner[k]], position[underlay.network.who[k]])
        delay = _digits(float(underlay.delay_s[k]) / _MILLI, java) if java else "-1"
        mbps = float(underlay.bandwidth_bps[k]) / _MEGA
        speed = _digits(mbps if math.isfinite(mbps) else -1.0, java)
        fields = [number, a, b, _digits(length_km, java), delay, speed, a, b, "E_AS", "U"]
        lines.append(_SEPARATOR[java].join(map(str, fields)))
    return lines


def _digits(value: float, java: bool) -> str:
    return repr(value) if java else f"{value:.2f}"


def _block(path: Path, lines: list[tuple[int, str]], name: str) -> _Lines:
    headings = [k for k, (_, line) in enumerate(lines) if line.lstrip().startswith(name + ":")]
    if not headings:
        raise Problem(
            f"the file has no line '{name}:'",
            where=str(path),
            remedy="check that it is a BRITE file",
        )
    first = headings[0]
    body = []
    for number, line in lines[first + 1 :]:
        fields = line.split()
        if not fields or fields[0].startswith(("Nodes", "Edges")):
            break
        wanted = len(_NODE) if name == "Nodes" else len(_EDGE)
        if len(fields) < wanted:
            what = f"the line has {len(fields)} fields: expected at least {wanted} in '{name}:'"
            raise Problem(what, where=f"{path}:{number}")
        body.append((number, fields))
    number, head = lines[first]
    count = re.search(r"\d+", head)
    if count and int(count[0]) != len(body):
        what = f"'{name}:' declares {count[0]} lines, but {len(body)} follow: expected {count[0]}"
        raise Problem(what, where=f"{path}:{number}")
    if not body:
        raise Problem(f"no line follows '{name}:': expected one or more", where=f"{path}:{number}")
    return _Lines(path, body)


def _links(edges: _Lines, index: dict[str, int]) -> tuple[Ends, Doubles, Doubles, int]:
    # Ends, delays in seconds, bandwidths in bits a second, and the number of directed links.
    ends = np.empty((len(edges.body), 2), np.int64)
    delay_s, bandwidth_bps = np.empty((2, len(edges.body)))
    directed = 0
    for k, (number, fields) in enumerate(edges.body):
        for side in (0, 1):
            name = fields[1 + side]
            if name not in index:
                what = f"an edge leads to the unknown node {name}: expected a node of 'Nodes:'"
                raise Problem(what, where=f"{edges.path}:{number}")
            ends[k, side] = index[name]
        length_km, delay_ms, mbps = (_number(edges, number, fields, c, _EDGE) for c in (3, 4, 5))
        light_s = max(length_km, 0.0) / SPEED_OF_LIGHT_KM_S
        delay_s[k] = delay_ms * _MILLI if delay_ms >= 0 else light_s
        bandwidth_bps[k] = mbps * _MEGA if mbps > 0 else math.inf
        directed += fields[_DIRECTION : _DIRECTION + 1] == ["D"]
    return ends, delay_s, bandwidth_bps, directed


def _number(
    block: _Lines, number: int, fields: list[str], column: int, names: tuple[str, ...]
) -> float:
    try:
        value = float(fields[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what = f"{names[column]} = '{fields[column][:40]}': expected a number"
        raise Problem(what, where=f"{block.path}:{number}:{column + 1}")
    return value


def _model(line: str) -> Waxman | None:
    head = re.match(r"\s*Model\s*\(\s*(\d+)([^)]*)\)\s*:(.*)", line)
    if not head or head[1] not in _WAXMAN:
        return None
    try:
        numbers = [float(word) for word in head[3].split()]
    except ValueError:
        return None
    if len(numbers) != 11:
        return None
    n, side, square, placed, *middle, bandwidth, least, most = numbers
    # Only the Java edition gives the model's name after its number.
    m, alpha, beta, growth = middle if "-" in head[2] else (*middle[1:], middle[0])
    if placed not in (1, 2) or bandwidth not in (1, 2, 3, 4) or growth != _INCREMENTAL:
        return None
    return Waxman(
        n=int(n),
        m=int(m),
        alpha=alpha,
        beta=beta,
        side=int(side),
        square=int(square),
        placement=PLACEMENTS[int(placed) - 1],
        bandwidth=BANDWIDTHS[int(bandwidth) - 1],
        least_mbps=least,
        most_mbps=most,
    )


def _head(model: Waxman, java: bool) -> str:
    plane = f"{model.n} {model.side} {model.square} {PLACEMENTS.index(model.placement) + 1}"
    bandwidth = BANDWIDTHS.index(model.bandwidth) + 1
    speeds = f"{bandwidth} {model.least_mbps!r} {model.most_mbps!r}"
    if java:
        odds = f" {model.m}  {model.alpha!r} {model.beta!r} {_INCREMENTAL:.0f}"
        return f"Model (3 - ASWaxman):  {plane} {odds} {speeds} "
    odds = f"{_INCREMENTAL:.0f} {model.m} {model.alpha:g} {model.beta:g}"
    return f"Model ( 3 ): {plane} {odds} {bandwidth} {model.least_mbps:g} {model.most_mbps:g}\0"
