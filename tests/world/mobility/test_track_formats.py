"""Tests of The ONE, BonnMotion, SUMO and GPX: small traces, presence, and malformed files."""

import gzip
import math
from pathlib import Path

import pytest

from halfway.problem import Problem
from halfway.world.mobility.motion import check_legs, positions
from halfway.world.mobility.moving_grid import present
from halfway.world.mobility.trace_files import is_motion, read_motion
from halfway.world.mobility.tracks import Traces

ONE = "0 20 0 100 0 100\n0 p1 10 20\n0 p2 5 5\n10 p1 20 20\n20 p1 20 40\n"
BONN = "# made by BonnMotion\n0.0 1.0 2.0 10.0 11.0 2.0\n0 5 5 4 5 5 8 9 5\n"
FCD = """<?xml version="1.0"?>
<fcd-export xmlns="urn:some">
 <timestep time="0.00"><vehicle id="v0" x="1" y="2"/><person id="w" x="9" y="9"/></timestep>
 <timestep time="4.00"><vehicle id="v0" x="5" y="2"/></timestep>
</fcd-export>"""
GPX = """<gpx><metadata><time>2020-01-01T00:00:00Z</time></metadata>
<trk><name> red\n bus</name><trkseg>
 <trkpt lat="48.0" lon="11.0"><ele>500</ele><time>2026-05-01T12:00:00Z</time></trkpt>
 <trkpt lat="48.0" lon="11.001"><time>2026-05-01T12:00:10Z</time></trkpt></trkseg>
 <trkseg><trkpt lat="48.001" lon="11.0"><time>2026-05-01T14:01:00+02:00</time></trkpt>
 <trkpt lat="48.002" lon="11.0"><time>2026-05-01T12:01:10.500Z</time></trkpt></trkseg></trk>
<trk><trkseg><trkpt lat="48.0" lon="11.0"><time>2026-05-01T12:00:05</time></trkpt>
 <trkpt lat="48.0" lon="11.0"/></trkseg></trk></gpx>"""


def read(folder: Path, content: str, name: str) -> Traces:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    assert is_motion(path)
    traces = read_motion(path)
    check_legs(traces.legs)
    return traces


def at(traces: Traces, t: float) -> dict[str, tuple[float, float]]:
    """The positions of the nodes that exist at t seconds."""
    there = present(traces.presence, t)
    places = positions(traces.legs, t).tolist()
    return {name: tuple(places[i]) for i, name in enumerate(traces.names) if there[i]}  # type: ignore[misc]


@pytest.mark.parametrize("name", ["walk.one", "walk.txt", "walk.one.gz"])
def test_the_one(name: str, tmp_path: Path) -> None:
    traces = read(tmp_path, ONE, name)
    assert traces.names == ["p1", "p2"]
    assert at(traces, 5.0) == {"p1": (15.0, 20.0)}
    assert at(traces, 15.0) == {"p1": (20.0, 30.0)}


@pytest.mark.parametrize("name", ["area.movements", "area.movements.gz"])
def test_bonnmotion(name: str, tmp_path: Path) -> None:
    traces = read(tmp_path, BONN, name)
    assert at(traces, 5.0) == {"0": (6.0, 2.0), "1": (6.0, 5.0)}
    assert at(traces, 99.0) == {"0": (11.0, 2.0), "1": (9.0, 5.0)}


def test_a_truncated_trace_is_movement_and_the_place_is_named(tmp_path: Path) -> None:
    path = tmp_path / "town.xml"
    path.write_text(FCD[:-20])
    assert is_motion(path)
    with pytest.raises(Problem, match=r"town.xml:\d+:\d+: the file is truncated inside <"):
        read_motion(path)


@pytest.mark.parametrize("name", ["town.xml", "town.fcd", "town.fcd.xml.gz"])
def test_sumo(name: str, tmp_path: Path) -> None:
    traces = read(tmp_path, FCD, name)
    assert traces.names == ["v0", "w"]
    assert at(traces, 2.0) == {"v0": (3.0, 2.0)}
    assert at(traces, 4.5) == {}


def test_gpx_in_metres_and_seconds(tmp_path: Path) -> None:
    traces = read(tmp_path, GPX, "bus.gpx")
    assert traces.names == ["red bus", "track-2"]
    ((x0, y0),) = at(traces, 0.0).values()
    ((x1, y1),) = at(traces, 9.999999).values()
    assert math.hypot(x1 - x0, y1 - y0) == pytest.approx(74.4, abs=0.1)  # 0.001° at 48° north
    assert at(traces, 30.0) == {}
    assert set(at(traces, 65.0)) == {"red bus"}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.one", "0 1 0 1\n0 a 1 1\n", "expected a line of 6 or 8 limits"),
        ("a.one", ONE + "9 p3 1\n", r"a.one:6: the line has 3 fields"),
        ("a.one", ONE + "9 p3 1 north\n", r"a.one:6: y = 'north': expected a number"),
        ("a.one", ONE + "20 p1 1 1\n", r"a.one:6: node p1 has two positions at 20 s"),
        ("a.movements", "0 1 2 3\n", r"a.movements:1: the line has 4 numbers"),
        ("a.movements", "0 1 2\n0 1 nan\n", r"a.movements:2: waypoint = 'nan'"),
        ("a.movements", "0 1 2 0 2 2\n", r"a.movements:1: node 0 has two positions at 0 s"),
        ("a.gpx", "<kml/>", "root element <kml>: expected <gpx>"),
        ("a.gpx", "<gpx/>", "no fix with a time"),
        ("a.gpx", GPX.replace("14:01", "24:61"), r"a.gpx:6:\d+: time = '2026-05-01T24:61"),
        ("a.gpx", GPX.replace(' lon="11.001"', ""), r"a.gpx:5:\d+: <trkpt> without lon"),
        ("a.gpx", GPX.replace('lat="48.0" lon="11.001"', 'lat="98" lon="1"'), "expected -180 to"),
        ("a.gpx", GPX.replace("00:10Z", "00:00Z"), r"a.gpx:5: node red bus has two positions"),
        ("a.fcd", FCD.replace('x="5"', 'x="1e300"'), r"a.fcd:4:\d+: x = '1e300'"),
        ("a.fcd", FCD[:-30], "truncated|invalid XML"),
        ("a.gpx", '<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>', "the file has a document type"),
        ("a.kml", "<kml/>", "unknown suffix"),
    ],
)  # fmt: skip
def test_a_malformed_trace_is_a_problem(
    name: str, content: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(Problem, match=expected):
        read_motion(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [("net.xml", "<graphml/>"), ("links.txt", "a b\n"), ("m.txt", "1 2 3 4 5 6\n1 2 3 4 5 6\n")],
)
def test_networks_are_not_movement(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert not is_motion(tmp_path / name)
