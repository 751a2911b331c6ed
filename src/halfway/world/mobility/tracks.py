"""Tracks of moving nodes: fixes or legs of each node, as `Legs` and `Presence`."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from halfway.world.mobility.motion import Legs, Presence

Leg = tuple[float, float, float, float, float, float]  # t0, t1, x0, y0, x1, y1


class Traces(NamedTuple):
    """The recorded movement of a trace file: row i is the node with the id names[i] in the file."""

    legs: Legs  # seconds and the file's lengths (metres)
    presence: Presence
    names: list[str]  # [n]


class Fix(NamedTuple):
    """A fix of a track: a node's position at a time, and the line of the fix in the file."""

    t: float
    x: float
    y: float
    line: int
    segment: int = 0  # the node does not exist between two segments


class NodeTrack(NamedTuple):
    """The legs of one node of a mobility trace, and the intervals in which this node exists."""

    legs: list[Leg]
    intervals: list[tuple[float, float]]


class DuplicateFixError(ValueError):
    """Two fixes of one node of a track at one time; `line` is the later line."""

    def __init__(self, name: str, fix: Fix, line: int) -> None:
        self.line = line
        super().__init__(f"node {name} has two positions at {fix.t:g} s: expected one")


def traces_of(rows: Sequence[NodeTrack], names: list[str]) -> Traces:
    """Return the mobility traces of nodes from their legs and intervals."""

    def ragged(lists: Sequence[Sequence[object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.cumsum([0, *map(len, lists)]).astype(np.int64)

    legs = np.array([leg for row in rows for leg in row.legs], np.float64).reshape(-1, 6)
    there = np.array([pair for row in rows for pair in row.intervals], np.float64).reshape(-1, 2)
    presence = Presence(ragged([row.intervals for row in rows]), *there.T.copy())
    return Traces(Legs(ragged([row.legs for row in rows]), *legs.T.copy()), presence, names)


def traces_of_fixes(fixes: Mapping[str, Sequence[Fix]], *, lasting: bool = False) -> Traces:
    """Return the mobility traces of nodes from their fixes, interpolated linearly within a segment.

    A node exists from the first to the last fix of each segment. lasting: whether it always
    exists. Raises DuplicateFixError.
    """
    rows = []
    for name, unsorted in fixes.items():
        track = sorted(unsorted)
        for before, fix in pairwise(track):
            if fix.t == before.t:
                raise DuplicateFixError(name, fix, max(before.line, fix.line))
        parts: list[list[Fix]] = []
        for fix in track:
            if not parts or parts[-1][-1].segment != fix.segment:
                parts.append([])
            parts[-1].append(fix)
        legs: list[Leg] = []
        for part in parts:
            ends = pairwise(part if len(part) > 1 else [*part, *part])
            legs += [(a.t, b.t, a.x, a.y, b.x, b.y) for a, b in ends]
        spans = [(-np.inf, np.inf)] if lasting else [(part[0].t, part[-1].t) for part in parts]
        rows.append(NodeTrack(legs, spans))
    return traces_of(rows, list(fixes))
