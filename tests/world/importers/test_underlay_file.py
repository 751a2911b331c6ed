"""Tests of underlay files (GraphML, tables): sources of delays and bandwidths, errors."""

from pathlib import Path

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.importers.underlay_file import (
    EARTH_RADIUS_KM,
    great_circle_km,
    read_underlay,
    with_drawn_bandwidths,
)
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S, Underlay

KEYS = """<graphml><key id="x" for="node" attr.name="Longitude"/>
<key id="y" for="node" attr.name="Latitude"/><key id="s" for="edge" attr.name="LinkSpeedRaw"/>
<graph edgedefault="undirected">
"""
PLACED = """<node id="a"><data key="x">0</data><data key="y">0</data></node>
<node id="b"><data key="x">90</data><data key="y">0</data></node>
"""
# c has no position: the mean of its neighbours is half way between a and b.
ZOO = (
    KEYS
    + PLACED
    + """<node id="c"/>
<edge source="a" target="b"><data key="s">1e9</data></edge>
<edge source="b" target="a"><data key="s">2e9</data></edge>
<edge source="a" target="c"/><edge source="c" target="b"/></graph></graphml>
"""
)
LATENCIES = (
    "San+Jose,+CA1 Anaheim,+CA2 4\nAnaheim,+CA2 San+Jose,+CA1 4\nTacoma,+WA3 Anaheim,+CA2 7\n"
)
QUARTER_S = EARTH_RADIUS_KM * np.pi / 2 / SPEED_OF_LIGHT_KM_S


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def at(underlay: Underlay, a: str, b: str) -> int:
    return underlay.place(underlay.network.row(a), underlay.network.row(b))


def test_a_link_of_the_zoo_is_as_long_as_the_great_circle(tmp_path: Path) -> None:
    underlay = read_underlay(written(tmp_path, "zoo.graphml", ZOO))
    assert underlay.delay_s[at(underlay, "a", "b")] == pytest.approx(QUARTER_S, rel=1e-6)
    assert underlay.delay_s[at(underlay, "a", "c")] == pytest.approx(QUARTER_S / 2, rel=1e-6)
    assert underlay.bandwidth_bps[at(underlay, "a", "b")] == 2e9
    assert underlay.bandwidth_bps[at(underlay, "b", "c")] == np.inf
    assert underlay.network.position is None
    assert underlay.network.left_out == {"repeated links": 1, "nodes without a position": 1}


def test_x_and_y_are_kilometres_in_a_plane(tmp_path: Path) -> None:
    text = ZOO.replace("Longitude", "x").replace("Latitude", "y")
    underlay = read_underlay(written(tmp_path, "plane.graphml", text))
    assert underlay.delay_s[at(underlay, "a", "b")] == 90 / SPEED_OF_LIGHT_KM_S


def test_great_circles_to_the_metre() -> None:
    berlin, paris, pole = [13.405, 52.52], [2.3522, 48.8566], [0.0, 90.0]
    length = great_circle_km(np.array([berlin, pole]), np.array([paris, pole]))
    assert length[0] == pytest.approx(877.5, abs=0.5)  # from an atlas
    assert length[1] == 0
    assert (length * 1000 == np.round(length * 1000)).all()


def test_a_table_with_delays(tmp_path: Path) -> None:
    underlay = read_underlay(written(tmp_path, "AS1.intra", LATENCIES), delay_ms="3")
    assert underlay.network.links == 2
    near, far = (at(underlay, "Anaheim,+CA2", end) for end in ("San+Jose,+CA1", "Tacoma,+WA3"))
    assert underlay.delay_s[[near, far]].tolist() == [4e-3, 7e-3]


def test_a_graph_of_as_numbers_has_the_hop_delay_of_the_user(tmp_path: Path) -> None:
    text = "# From To Relationship\n1\t2\t-1\n2\t1\t1\n2\t3\t0\n3\t3\t0\n"
    underlay = read_underlay(written(tmp_path, "as.txt", text), hop_s=0.02)
    assert underlay.delay_s.tolist() == [0.02] * 4
    assert underlay.network.left_out == {"loops": 1, "repeated links": 1}


def test_named_columns_of_a_csv(tmp_path: Path) -> None:
    text = "a,b,ms,mbps\n1,2,3,100\n2,3,5,\n"
    path = written(tmp_path, "net.csv", text)
    with pytest.raises(Problem, match=r"net.csv:3:4: column mbps = '': expected a number"):
        read_underlay(path, delay_ms="ms", bandwidth_mbps="mbps")
    path.write_text(text.replace("5,\n", "5,10\n"))
    underlay = read_underlay(path, delay_ms="ms", bandwidth_mbps="mbps")
    assert underlay.bandwidth_bps[at(underlay, "3", "2")] == 10e6


def test_unknown_bandwidths_are_drawn_and_known_ones_stay(tmp_path: Path) -> None:
    underlay = read_underlay(written(tmp_path, "zoo.graphml", ZOO))
    drawn = with_drawn_bandwidths(underlay, 1)
    known = np.isfinite(underlay.bandwidth_bps)
    assert (drawn.bandwidth_bps[known] == 2e9).all()
    assert ((drawn.bandwidth_bps[~known] >= 10e6) & (drawn.bandwidth_bps[~known] < 1024e6)).all()
    assert (drawn.bandwidth_bps != with_drawn_bandwidths(underlay, 2).bandwidth_bps).any()


@pytest.mark.parametrize(
    ("name", "text", "options", "named"),
    [
        ("a.graphml", ZOO, {"delay_ms": "3"}, ".graphml has no columns"),
        (
            "a.graphml",
            ZOO.replace("2e9", "fast"),
            {},
            "a.graphml:8:47: LinkSpeedRaw = 'fast' of an edge",
        ),
        ("a.graphml", KEYS + PLACED.replace("data", "dart") + "</graph></graphml>", {}, "no links"),
        (
            "a.intra",
            LATENCIES.replace("4", "-4"),
            {"delay_ms": "3"},
            "a.intra:1:3: column 3 = '-4': expected a number >= 0",
        ),
        ("a.intra", LATENCIES, {"delay_ms": "4"}, "no column '4'"),
        ("a.intra", LATENCIES, {"hop_s": -1.0}, "hop_s = -1.0"),
        ("a.pdf", LATENCIES, {}, "unknown suffix '.pdf'.*.brite"),
    ],
)
def test_errors_are_named(
    tmp_path: Path, name: str, text: str, options: dict[str, str], named: str
) -> None:
    with pytest.raises(Problem, match=named):
        read_underlay(written(tmp_path, name, text), **options)  # type: ignore[arg-type]


def test_a_zoo_file_without_positions_has_no_delays(tmp_path: Path) -> None:
    text = ZOO.replace("Longitude", "east").replace("Latitude", "north")
    with pytest.raises(Problem, match="no node has a position"):
        read_underlay(written(tmp_path, "zoo.graphml", text))
