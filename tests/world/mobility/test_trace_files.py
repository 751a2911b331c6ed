"""Tests of mobility trace files: ns-2 scripts, CSV tracks, malformed lines, two real files."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.mobility.motion import check_legs, positions
from halfway.world.mobility.moving_grid import MovingGrid, present
from halfway.world.mobility.trace_files import JUMP, read_motion
from halfway.world.mobility.tracks import Traces

SCRIPT = """\
# nn: 3
# $node_(12345) set X_ 0.0
$node_(0) set X_ 1.0
$node_(0) set Y_ 2.0
$node_(0) set Z_ 0.0
$god_ set-dist 0 1 1
$ns_ at 4.0 "$god_ set-dist 0 1 2"
$ns_ at 2.0 "$node_(0) setdest 1.0 12.0 1.0"
$ns_ at 6.0 "$node_(0) setdest 11.0 6.0 5.0" ;# cuts the first move short at (1, 6)

$ns_ at 0.0 "$node_(7) switch OFF" ;# set_X,Y,Z
$node_(7) set X_ 0.0
$node_(7) set Y_ 0.0
$ns_ at 0.000000 "$node_(7) setdest 50.0 60.0 1000000000.0" ;# init_node
$ns_ at 3.0 "$node_(7) switch ON"
$ns_ at 9.0 "$node_(7) switch OFF"
$ns_ at 9.0 "$node_(7) switch OFF"
$node_(3) set X_ 5
$node_(3) set Y_ 5
$ns_ at 8 "$node_(3) switch ON"
$ns_ at 1 "$node_(3) setdest 9 5 2"
$ns_ at 2 "$node_(3) setdest 9 5 0"
"""


def read(folder: Path, content: str, name: str = "some.mob") -> Traces:
    """Read a file with this content."""
    path = folder / name
    path.write_bytes(content.encode())
    traces = read_motion(path)
    check_legs(traces.legs)
    return traces


def test_setdest_moves_stops_jumps_and_switches(tmp_path: Path) -> None:
    legs, presence, names = read(tmp_path, SCRIPT)
    assert names == ["0", "3", "7"]
    expected = {
        0: [[1, 2], [5, 5], [50, 60]],
        1.5: [[1, 2], [6, 5], [50, 60]],
        4: [[1, 4], [7, 5], [50, 60]],
        7: [[6, 6], [7, 5], [50, 60]],
        99: [[11, 6], [7, 5], [50, 60]],
    }
    for t, places in expected.items():
        assert positions(legs, t).tolist() == places
    assert present(presence, 0.0).tolist() == [True, False, False]
    assert present(presence, 3.0).tolist() == [True, False, True]
    assert present(presence, 9.0).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("$node_(0) set X_ one", "X_ = 'one': expected a number"),
        ("$node_(0) set X_ nan", "X_ = 'nan': expected a number"),
        ("$node_(0) set W_ 1", "'set W_ 1'"),
        ('$ns_ at soon "$node_(0) setdest 1 2 3"', "time = 'soon': expected a number"),
        ('$ns_ at -1 "$node_(0) setdest 1 2 3"', "time = -1 s: expected at least 0"),
        ('$ns_ at 1 "$node_(0) setdest 1 2 -3"', "speed = -3 m/s: expected at least 0"),
        ('$ns_ at 1 "$node_(0) setdest 1 2"', "'setdest 1 2'"),
        ('$ns_ at 1 "$node_(0) setdest 1 2 1e999"', "speed = '1e999'"),
        ('$ns_ at 1 "$node_(0) setdest 1 2 3', "expected a position or a movement"),
        ('$ns_ at 1 "$node_(0) switch MAYBE"', "'switch MAYBE'"),
        ('$ns_ at 1 "$node_(0) set X_ 4"', "set at a time"),
        ("$node_(x) set X_ 4", "expected a position or a movement"),
        ("Hello", "'Hello': expected a position"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, f"$node_(0) set X_ 1\n{line}\n")
    assert said in str(caught.value)
    assert caught.value.where == f"{tmp_path / 'some.mob'}:2"


def test_a_node_without_a_position_is_named(tmp_path: Path) -> None:
    for start in ("", "$node_(4) set X_ 1\n"):
        with pytest.raises(Problem, match="node 4 has no position") as caught:
            read(tmp_path, f'{start}$ns_ at 1 "$node_(4) setdest 1 2 3"\n')
        assert caught.value.where.endswith(":1")
    jumping = read(tmp_path, f'$ns_ at 1 "$node_(4) setdest 1 2 {JUMP}"\n')
    assert positions(jumping.legs, 0.0).tolist() == [[1, 2]]
    with pytest.raises(Problem, match="never arrives"):
        read(tmp_path, '$node_(4) set X_ 1\n$node_(4) set Y_ 1\n'
             '$ns_ at 1 "$node_(4) setdest 9e99 2 1e-300"\n')  # fmt: skip
    with pytest.raises(Problem, match="no node"):
        read(tmp_path, "# nothing\n")


TRACKS = "node,t_s,x_m,y_m\nb,10,0,0\na,5,7,7\nb,30,40,0\nb,20,0,10\na,8,7,10\nc,1,3,3\n"


@pytest.mark.parametrize("name", ["tracks.csv", "tracks.csv.gz"])
def test_tracks_join_their_fixes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TRACKS.encode()) if name.endswith("gz") else TRACKS.encode())
    legs, presence, names = read_motion(path)
    check_legs(legs)
    assert names == ["b", "a", "c"]
    assert positions(legs, 6.0).tolist() == [[0, 0], [7, 8], [3, 3]]
    assert positions(legs, 25.0).tolist() == [[20, 5], [7, 10], [3, 3]]
    there = {4.0: [0, 0], 5.0: [0, 1], 8.0: [0, 0], 10.0: [1, 0], 29.9: [1, 0], 30.0: [0, 0]}
    for t, expected in there.items():
        assert present(presence, t).tolist() == [*map(bool, expected), False]


@pytest.mark.parametrize(
    ("content", "where", "said"),
    [
        (
            "node,t_s,x_m\na,1,2\n",
            "",
            "lacks columns: y_m or y (the columns of the file are node, t_s, x_m)",
        ),
        (
            "who,lon,lat\na,1,2\n",
            "",
            "lacks columns: node or id or node_id, t_s or time_s or t or "
            "time (the columns of the file are who, lon, lat)",
        ),
        ("node,t_s,x_m,y_m\n", "", "no fixes"),
        ("node,t_s,x_m,y_m\na,1,2,3\na,2,x,3\n", ":3:3", "column x_m = 'x': expected a number"),
        ("node,t_s,x_m,y_m\na,1,2,3\na,2,,3\n", ":3:3", "column x_m: expected a finite number"),
        ("node,t_s,x_m,y_m\na,1,2,3\n,2,2,3\n", ":3:1", "the field is empty"),
        ("node,t_s,x_m,y_m\na,1,2,3\nb,1,2,3\na,1,9,3\n", ":4", "node a has two positions at 1 s"),
        ("node,t_s,x_m,y_m\na,1,2\n", ":2", "the line has 3 fields"),
        ("node,t_s,x_m,y_m\na,1,2,9e200\n", ":2:4", "column y_m: expected a finite number"),
    ],
)
def test_a_malformed_track_is_named(tmp_path: Path, content: str, where: str, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(tmp_path, content, "some.csv")
    assert said in str(caught.value)
    assert caught.value.where == f"{tmp_path / 'some.csv'}{where}"


@pytest.mark.parametrize("header", ["node,t_s,x_m,y_m", "id,time,x,y", "Node_ID,T,X,Y_m"])
def test_a_track_has_the_usual_columns(tmp_path: Path, header: str) -> None:
    legs, _, names = read(tmp_path, f"{header}\na,1,2,3\na,2,4,5\n", "some.csv")
    assert names == ["a"]
    assert (legs.t0[0], legs.t1[0], legs.x1[0], legs.y1[0]) == (1, 2, 4, 5)


@pytest.mark.parametrize("header", ["node,t,lon,lat", "id,time,Longitude,Latitude"])
def test_degrees_are_projected_to_metres(tmp_path: Path, header: str) -> None:
    legs, _, names = read(tmp_path, f"{header}\na,1,8,47\na,5,8,47.01\nb,1,8.01,47\n", "some.csv")
    assert names == ["a", "b"]
    assert legs.y1[0] - legs.y0[0] == pytest.approx(0.01 * 111_195, rel=1e-4)
    assert legs.x0[1] - legs.x0[0] == pytest.approx(0.01 * 111_195 * 0.682, rel=1e-3)
    metres = read(tmp_path, "node,t,lon,lat,x,y\na,1,8,47,3,4\na,2,8,47,5,6\n", "some.csv").legs
    assert (metres.x0[0], metres.y1[0]) == (3, 6)
    with pytest.raises(Problem, match="expected degrees"):
        read(tmp_path, "node,t,lon,lat\na,1,4000,5000\n", "some.csv")


def test_an_unknown_suffix_is_named(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"unknown suffix '.png'"):
        read(tmp_path, "x", "some.png")


def test_zurich(data: Path) -> None:
    legs, presence, names = read_motion(data / "mobility" / "zurich_unterstrass_99.mob")
    check_legs(legs)
    assert names == [str(number) for number in range(99)]
    moving = legs.t1 > legs.t0
    far = np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0)
    speed = far[moving] / (legs.t1 - legs.t0)[moving]
    jumps = len(legs.t0) - np.count_nonzero(moving) - 99  # one leg per node is its initial position
    # 589 setdests are not jumps; 8 of them have the current position as target.
    assert (np.count_nonzero(moving), jumps) == (589 - 8, 203)
    assert (round(speed.min(), 1), round(speed.max(), 1)) == (9.9, 32.1)
    assert len(presence.t0) == 99  # each is OFF, ON once, and OFF again
    grid = MovingGrid(legs, 250.0, 0.0, presence)
    assert grid.network().links == 0
    assert len(grid.advance(300.0).t)


def test_aracaju(data: Path) -> None:
    legs, presence, names = read_motion(data / "mobility" / "aracaju_tracks.csv.gz")
    check_legs(legs)
    assert len(names) == 96
    assert len(legs.t0) == 11_154 - 96
    assert (presence.t1 - presence.t0).max() == 2720
    assert np.median(presence.t1 - presence.t0) == pytest.approx(804, abs=1)
    assert present(presence, 0.0).all()
