"""Reader of mobility traces in XML: SUMO's floating-car data, and GPX."""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.network import LARGEST
from halfway.world.importers.projection import projected
from halfway.world.importers.xml_file import XmlReader
from halfway.world.mobility.motion import number_words
from halfway.world.mobility.tracks import DuplicateFixError, Fix, Traces, traces_of_fixes

XML = (".gpx", ".xml", ".fcd")
_ROOTS = ("fcd-export", "gpx")
_MOVING = ("vehicle", "person", "container")


def is_xml_tracks(path: Path) -> bool:
    """Return whether an XML file has tracks of nodes, by its root element, even if the file is
    damaged.
    """
    reader = _Tracks(path)
    try:
        reader.read()
    except _Root:
        return False
    except Problem:
        return reader.rooted  # without a root, the reader of networks reports the error
    return True


def read_xml_tracks(path: Path) -> Traces:
    """Read a mobility trace in XML: SUMO's <fcd-export>, or <gpx>.

    SUMO: a vehicle, person or container exists from its first to its last timestep; x and y are in
    metres (write the file without fcd-output.geo). GPX: each track is a node, which exists within
    its segments. Time 0 is the first fix of the file; longitude and latitude are projected to
    metres around the mean of all fixes. Raises Problem with file, line and column.
    """
    reader = _Tracks(path)
    try:
        reader.read()
    except _Root as found:
        what = f"root element <{found.kind}>: expected <gpx> or <fcd-export>"
        raise Problem(what, where=str(path)) from None
    fixes = {name: track for name, track in reader.fixes.items() if track}
    if not fixes:
        raise Problem("no fix with a time in the file: expected one or more", where=str(path))
    try:
        if not reader.geographic:
            return traces_of_fixes(fixes)
        begin_s = min(fix.t for track in fixes.values() for fix in track)
        return traces_of_fixes(in_metres(fixes, path, begin_s))
    except DuplicateFixError as error:
        raise Problem(str(error), where=f"{path}:{error.line}") from None


class _Root(Exception):
    """A root element that is not the root element of a mobility trace."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


class _Tracks(XmlReader):
    """A parser of floating-car data and GPX."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.fixes: dict[str, list[Fix]] = {}
        self.geographic = False
        self.rooted = False  # whether the root element of a trace was read
        self._time_s = math.nan
        self._name, self._track, self._segment = "", list[Fix](), 0
        self._place: tuple[float, float, int] | None = None

    def started(self, kind: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element of a mobility trace."""
        if not self.inside:
            if kind not in _ROOTS:
                raise _Root(kind)
            self.geographic, self.rooted = kind == "gpx", True
        elif kind == "timestep":
            self._time_s = self._finite("time", self.attribute(kind, "time", attributes))
        elif kind in _MOVING and self.inside[-1] == "timestep":
            name = self.attribute(kind, "id", attributes)
            x, y = (
                self._finite(axis, self.attribute(kind, axis, attributes)) for axis in ("x", "y")
            )
            self.fixes.setdefault(name, []).append(Fix(self._time_s, x, y, self.line))
        elif kind == "trk":
            self._name, self._track = "", []
        elif kind == "trkseg":
            self._segment += 1
        elif kind == "trkpt":
            lon, lat = (
                self._finite(name, self.attribute(kind, name, attributes))
                for name in ("lon", "lat")
            )
            if abs(lon) > 180.0 or abs(lat) > 90.0:
                what = f"lon = {lon:g}, lat = {lat:g}: expected -180 to 180 and -90 to 90 degrees"
                raise Problem(what, where=self.here())
            self._place = lon, lat, self.line

    def ended(self, kind: str, text: str) -> None:
        """Handle the end of an element of a mobility trace."""
        if kind == "name" and self.inside[-1:] == ["trk"]:
            self._name = " ".join(text.split())
        elif kind == "time" and self.inside[-1:] == ["trkpt"] and self._place is not None:
            lon, lat, line = self._place
            self._track.append(Fix(self._seconds(text), lon, lat, line, self._segment))
        elif kind == "trkpt":
            self._place = None
        elif kind == "trk":
            name = self._name or f"track-{len(self.fixes) + 1}"
            if name in self.fixes:
                name = f"{name} ({len(self.fixes) + 1})"
            self.fixes[name] = self._track

    def _finite(self, name: str, text: str) -> float:
        value = self.finite_number(name, text)
        if not abs(value) < LARGEST:
            raise Problem(
                f"{name} = '{text[:40]}': expected {number_words(value)}", where=self.here()
            )
        return value

    def _seconds(self, text: str) -> float:
        try:
            when = datetime.fromisoformat(text.strip())
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            what = f"time = '{text.strip()[:40]}': expected a time such as 2026-05-01T12:00:00Z"
            raise Problem(what, where=self.here()) from None


def in_metres(
    fixes: dict[str, list[Fix]], path: Path, begin_s: float = 0.0
) -> dict[str, list[Fix]]:
    """Return the fixes of a mobility trace in degrees as fixes in metres, and in seconds from
    begin_s.
    """
    every = [fix for track in fixes.values() for fix in track]
    metres, _ = projected(np.array([(fix.x, fix.y) for fix in every]), str(path))
    places = iter(metres.tolist())
    moved: dict[str, list[Fix]] = {}
    for name, track in fixes.items():
        placed = ((fix, next(places)) for fix in track)
        moved[name] = [fix._replace(t=fix.t - begin_s, x=x, y=y) for fix, (x, y) in placed]
    return moved
