"""Reader of mobility trace files: ns-2 `setdest` files with churn, CSV files of fixes, and files of
other formats.

All give `Legs` and `Presence`, like a mobility model; an invalid line raises Problem.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from halfway.problem import Problem
from halfway.world.graphs.network import LARGEST
from halfway.world.importers.file_content import text
from halfway.world.importers.link_table import NODE_COLUMNS, TIME_COLUMNS
from halfway.world.importers.projection import GEOGRAPHIC
from halfway.world.importers.text_table import TextTable, csv_table
from halfway.world.mobility.motion import number_words
from halfway.world.mobility.track_lines import is_bonnmotion, is_one, read_bonnmotion, read_lines
from halfway.world.mobility.track_xml import XML, in_metres, is_xml_tracks, read_xml_tracks
from halfway.world.mobility.tracks import (
    DuplicateFixError,
    Fix,
    Leg,
    NodeTrack,
    Traces,
    traces_of,
    traces_of_fixes,
)

JUMP = 1e8  # metres a second: a setdest as fast as this, or faster, is a jump

_CSV = (".csv",)
# Usual names of a trace's columns, in lower case.
_TRACK_COLUMNS = (NODE_COLUMNS, TIME_COLUMNS, ("x_m", "x"), ("y_m", "y"))
_LINES = (".one", ".txt")  # The ONE
_SETDEST = (".mob", ".tcl", ".ns2", ".ns_movements", ".movements", ".setdest")
_NODE = re.compile(r"\$node_\(\s*(\d{1,9})\s*\)\s+(.*)")
_AT = re.compile(r'\$ns_\s+at\s+(\S+)\s+"(.*)"')
# Other lines of the generators: shortest hop counts for ns-2's oracle, names of tools.
_SKIPPED = re.compile(r"\$god_\s|set\s+(god_|opt\(|val\(|topo)\b|\$topo\s")


def read_motion(path: str | Path) -> Traces:
    """Read a mobility trace file; the suffix (before an optional .gz) gives the format.

    .csv: `read_tracks`; .gpx, .xml, .fcd: GPX or SUMO; .one, .txt: The ONE; any other known suffix:
    ns-2, or BonnMotion if the first line has only numbers. Raises Problem for an unknown suffix.
    """
    where = Path(path)
    plain = where.with_suffix("") if where.suffix.lower() == ".gz" else where
    kind = plain.suffix.lower()
    if kind in _CSV:
        return read_tracks(where)
    if kind in XML:
        return read_xml_tracks(where)
    if kind in _LINES:
        return read_lines(where)
    if kind in _SETDEST:
        return read_bonnmotion(where) if is_bonnmotion(where) else read_setdest(where)
    remedy = f"expected {', '.join((*_CSV, *XML, *_LINES, *_SETDEST))}, or one of these with .gz"
    what = f"unknown suffix '{kind}'" if kind else "the name of the file has no suffix"
    raise Problem(what, where=str(path), remedy=remedy)


def is_motion(path: Path) -> bool:
    """Return whether a file is a mobility trace file. The columns decide for a CSV file, the suffix
    and the first lines for other files.
    """
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    kind = plain.suffix.lower()
    if kind in _CSV:
        return all(_usual_columns(csv_table(path)))
    if kind in (".xml", *_LINES):  # also suffixes of networks
        return is_xml_tracks(path) if kind == ".xml" else is_one(path)
    return kind in (*_SETDEST, *XML)


def read_tracks(path: Path) -> Traces:
    """Read a CSV mobility trace file with a header: one fix per line, in any order, interpolated
    linearly.

    A node exists from its first to its last fix. Rows are in order of first appearance. Longitude
    and latitude are projected to metres around the mean of all fixes.
    Raises Problem with file, line and column.
    """
    table = csv_table(path)
    name, *wanted = _track_columns(table)
    fixes: dict[str, list[Fix]] = {}
    for line, row in table.rows:
        t, x, y = (table.finite_number(row, line, column) for column in wanted)
        for column, value in zip(wanted, (t, x, y), strict=True):
            if not abs(value) < LARGEST:
                what = f"column {table.columns[column]}: expected a finite number"
                raise table.problem(what, line, column)
        fixes.setdefault(table.name(row, line, name), []).append(Fix(t, x, y, line))
    if not fixes:
        raise Problem(
            "no fixes below the header: expected a line for each position", where=str(path)
        )
    if _geographic(table):
        fixes = in_metres(fixes, path)
    try:
        return traces_of_fixes(fixes)
    except DuplicateFixError as error:
        raise table.problem(str(error), error.line) from None


def _geographic(table: TextTable) -> tuple[str, str] | None:
    """Return the names of the columns longitude and latitude of a trace without x and y, in lower
    case, or None.
    """
    lower = [column.lower() for column in table.columns]
    if any(name in lower for names in _TRACK_COLUMNS[2:] for name in names):
        return None
    return next((pair for pair in GEOGRAPHIC if all(name in lower for name in pair)), None)


def _usual_columns(table: TextTable) -> list[list[str]]:
    """Return the existing names of a trace's columns: of node, time, x and y, or of node, time,
    longitude and latitude.
    """
    lower = [column.lower() for column in table.columns]
    known = [[name for name in names if name in lower] for names in _TRACK_COLUMNS]
    degrees = _geographic(table)
    return known if degrees is None else [*known[:2], *([name] for name in degrees)]


def _track_columns(table: TextTable) -> list[int]:
    """Return the columns of a mobility trace: node, time, x and y. Raises Problem with all missing
    columns.
    """
    lower = [column.lower() for column in table.columns]
    chosen = _usual_columns(table)
    if all(chosen):
        return [lower.index(names[0]) for names in chosen]
    lacking = [
        " or ".join(names) for names, part in zip(_TRACK_COLUMNS, chosen, strict=True) if not part
    ]
    what = f"the file lacks columns: {', '.join(lacking)}"
    remedy = f"the columns of the file are {', '.join(table.columns)}"
    raise Problem(what, where=str(table.path), remedy=remedy)


def read_setdest(path: str | Path) -> Traces:
    """Read an ns-2 movement trace: `set X_`, `setdest x y speed` and timed `switch ON|OFF`.

    A setdest ends the setdest before it; at 10^8 m/s or more it is a jump, at 0 m/s a stop. A node
    without switches always exists; one whose first switch is ON did not exist before. Comments (#),
    z, and lines for ns-2's oracle ($god_) are skipped. Rows are in order of the node numbers.
    Raises Problem with file and line.
    """
    where = Path(path)
    nodes: dict[int, _Scripted] = {}
    for line, words in enumerate(text(where).splitlines(), start=1):
        try:
            _read_line(words.split(";#", 1)[0].strip().rstrip(";").strip(), line, nodes)
        except ValueError as error:
            raise Problem(str(error), where=f"{where}:{line}") from None
    if not nodes:
        raise Problem("no node in the file: expected lines `$node_(0) set X_ …`", where=str(where))
    rows = []
    for number, node in sorted(nodes.items()):
        try:
            rows.append(NodeTrack(_legs_of(node), _intervals(node)))
        except ValueError as error:
            what, remedy = f"node {number} {error}", "correct the lines of this node"
            raise Problem(what, where=f"{where}:{node.line}", remedy=remedy) from None
    return traces_of(rows, [str(number) for number in sorted(nodes)])


@dataclass
class _Scripted:
    line: int  # first line with the node
    x: float | None = None
    y: float | None = None
    moves: list[tuple[float, float, float, float]] = field(default_factory=list)  # t, x, y, speed
    switches: list[tuple[float, bool]] = field(default_factory=list)


def _read_line(words: str, line: int, nodes: dict[int, _Scripted]) -> None:
    if not words or words.startswith("#") or _SKIPPED.match(words):
        return
    timed = _AT.fullmatch(words)
    command = timed[2].strip() if timed else words
    if timed and command.startswith("$god_"):
        return
    named = _NODE.fullmatch(command)
    if not named:
        raise ValueError(f"'{words[:60]}': expected a position or a movement of a node")
    t = _number(timed[1], "time") if timed else 0.0
    if t < 0.0:
        raise ValueError(f"time = {t:g} s: expected at least 0")
    node = nodes.setdefault(int(named[1]), _Scripted(line))
    match named[2].split():
        case ["set", "X_" | "Y_" | "Z_" as axis, value]:
            place = _number(value, axis)
            if timed and axis != "Z_":
                raise ValueError(f"{axis} set at a time: expected a setdest with {JUMP:g} m/s")
            if axis == "X_":
                node.x = place
            elif axis == "Y_":
                node.y = place
        case ["setdest", x, y, speed]:
            v = _number(speed, "speed")
            if v < 0.0:
                raise ValueError(f"speed = {v:g} m/s: expected at least 0")
            node.moves.append((t, _number(x, "x"), _number(y, "y"), v))
        case ["switch", "ON" | "OFF" as state]:
            node.switches.append((t, state == "ON"))
        case _:
            what = "expected set X_|Y_|Z_ v, setdest x y speed or switch ON|OFF"
            raise ValueError(f"'{named[2][:60]}': {what}")


def _number(word: str, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not abs(value) < LARGEST:
        raise ValueError(f"{what} = '{word[:40]}': expected {number_words(value)}")
    return value


def _legs_of(node: _Scripted) -> list[Leg]:
    """Return the legs of a trace's setdest commands; commands at one time are applied in order."""
    moves = sorted(node.moves, key=lambda move: move[0])
    if node.x is None or node.y is None:
        if not moves or moves[0][3] < JUMP:
            raise ValueError("has no position: expected 'set X_' and 'set Y_' before it moves")
        _, node.x, node.y, _ = moves[0]
    legs: list[Leg] = [(0.0, 0.0, node.x, node.y, node.x, node.y)]
    for t, x, y, speed in moves:
        if legs[-1][1] > t:
            legs[-1] = _cut_short(legs[-1], t)
        at_x, at_y = legs[-1][4:]
        if speed >= JUMP:
            legs.append((t, t, x, y, x, y))
        elif speed > 0.0 and (x, y) != (at_x, at_y):
            arrives = t + math.hypot(x - at_x, y - at_y) / speed
            if not arrives < LARGEST:
                what = f"never arrives at ({x:g}, {y:g}) with {speed:g} m/s"
                raise ValueError(f"{what}: expected a higher speed")
            legs.append((t, arrives, at_x, at_y, x, y))
    return legs


def _cut_short(leg: Leg, t: float) -> Leg:
    t0, t1, x0, y0, x1, y1 = leg
    part = (t - t0) / (t1 - t0)
    return t0, t, x0, y0, x0 + part * (x1 - x0), y0 + part * (y1 - y0)


def _intervals(node: _Scripted) -> list[tuple[float, float]]:
    switches = sorted(node.switches, key=lambda switch: switch[0])
    since = None if switches and switches[0][1] else -math.inf
    intervals: list[tuple[float, float]] = []
    for t, on in switches:
        if on and since is None:
            since = t
        elif not on and since is not None:
            if t > max(since, 0.0):
                intervals.append((since, t))
            since = None
    return intervals if since is None else [*intervals, (since, math.inf)]
