"""Reader of mobility traces whose lines are numbers: The ONE's external movement, and
BonnMotion.
"""

import math
from pathlib import Path

from halfway.problem import Problem
from halfway.world.graphs.network import LARGEST
from halfway.world.importers.file_content import text
from halfway.world.importers.text_table import is_number
from halfway.world.mobility.motion import number_words
from halfway.world.mobility.tracks import DuplicateFixError, Fix, Traces, traces_of_fixes

_HEADS = (6, 8)  # numbers in the first line of The ONE: limits of t, x, y, and perhaps z
_FIXES = (4, 5)  # fields of its other lines: t, id, x, y, and perhaps z
_WAYPOINT = 3  # numbers of a waypoint of BonnMotion: t, x, y


def is_one(path: Path) -> bool:
    """Return whether the lines of a file are numbers of The ONE's mobility trace: by its first two
    lines.
    """
    lines = [line.split() for line in text(path).splitlines() if line.strip()][:2]
    if len(lines) < 2 or lines[0][0].startswith("#"):
        return False
    head = len(lines[0]) in _HEADS and all(map(is_number, lines[0]))
    return head and len(lines[1]) in _FIXES


def is_bonnmotion(path: Path) -> bool:
    """Return whether the lines of a file are numbers of BonnMotion's mobility trace: by its first
    line.
    """
    for line in text(path).splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            return all(map(is_number, words))
    return False


def read_lines(path: Path) -> Traces:
    """Read the lines of numbers of The ONE's mobility trace: a line of limits, then lines of t, id,
    x, y.

    A node exists from its first to its last fix. Raises Problem with file and line.
    """
    if not is_one(path):
        what = "expected a line of 6 or 8 limits, then lines of t, id, x, y (The ONE)"
        raise Problem(what, where=str(path))
    fixes: dict[str, list[Fix]] = {}
    headed = False
    for line, row in enumerate(text(path).splitlines(), start=1):
        words = row.split()
        if not words or not headed:
            headed = headed or bool(words)
            continue
        if len(words) not in _FIXES:
            what = f"the line has {len(words)} fields: expected t, id, x, y"
            raise Problem(what, where=f"{path}:{line}")
        numbers = zip(("time", "x", "y"), (words[0], *words[2:4]), strict=True)
        t, x, y = (_number(path, line, name, word) for name, word in numbers)
        fixes.setdefault(words[1], []).append(Fix(t, x, y, line))
    return _traces(path, fixes)


def read_bonnmotion(path: Path) -> Traces:
    """Read the lines of numbers of BonnMotion's mobility trace: one line per node, of waypoints t,
    x, y.

    A node rests before its first and after its last waypoint, and always exists. Names are the
    numbers of the nodes from 0. Raises Problem with file and line.
    """
    fixes: dict[str, list[Fix]] = {}
    for line, row in enumerate(text(path).splitlines(), start=1):
        words = row.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) % _WAYPOINT:
            what = f"the line has {len(words)} numbers: expected waypoints of t, x, y"
            raise Problem(what, where=f"{path}:{line}", remedy="convert a trace in 3D to 2D")
        numbers = [_number(path, line, "waypoint", word) for word in words]
        waypoints = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        track = [Fix(t, x, y, line) for t, x, y in waypoints]
        fixes[str(len(fixes))] = [fix for k, fix in enumerate(track) if not _repeats(track, k)]
    return _traces(path, fixes, lasting=True)


def _repeats(track: list[Fix], k: int) -> bool:
    """Return whether a waypoint of a track is the same as the waypoint before it."""
    return k > 0 and track[k] == track[k - 1]


def _traces(path: Path, fixes: dict[str, list[Fix]], *, lasting: bool = False) -> Traces:
    if not fixes:
        raise Problem("no node in the file: expected lines of fixes", where=str(path))
    try:
        return traces_of_fixes(fixes, lasting=lasting)
    except DuplicateFixError as error:
        raise Problem(str(error), where=f"{path}:{error.line}") from None


def _number(path: Path, line: int, name: str, word: str) -> float:
    value = float(word) if is_number(word) else math.nan
    if not abs(value) < LARGEST:
        raise Problem(
            f"{name} = '{word[:40]}': expected {number_words(value)}", where=f"{path}:{line}"
        )
    return value
