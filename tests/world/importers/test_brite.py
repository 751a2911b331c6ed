"""Tests of .brite files of both editions: round trips, and errors with their lines."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.importers.brite import read_brite, write_brite
from halfway.world.importers.projection import projected
from halfway.world.importers.underlay_file import read_underlay
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S, Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from tests.networks import line

JAVA = """Topology: ( 3 Nodes, 3 Edges )
Model (3 - ASWaxman):  3 100 10 2  1  0.15000000596046448 0.2 1 3 1.0 99.0 \n
Nodes: ( 3 )
0\t3\t4\t1\t1\t0\tAS_NODE\t
7\t0\t0\t2\t2\t7\tAS_NODE\t
9\t0\t8\t1\t1\t9\tAS_NODE\t\n
Edges: ( 3 )
0\t0\t7\t5.0\t2.5\t40.0\t0\t7\tE_AS\tU
1\t7\t9\t8.0\t-1.0\t-1.0\t7\t9\tE_AS\tD
2\t9\t9\t0.0\t0.0\t1.0\t9\t9\tE_AS\tU
"""
C = """Topology: ( 2 Nodes, 1 Edges )
Model ( 1 ): 2 1000 100 1 1 2 0.15 0.2 2 10 1024\0\n
Nodes: (2)
0 3.00 4.00 1 1 -1 RT_NODE \n1 0.00 0.00 1 1 -1 RT_NODE \n
Edges: (1):
0 1 0 5.00 -1 313.38 -1 -1 E_RT U
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "net.brite"
    path.write_text(text)
    return path


def test_a_file_of_the_java_edition(tmp_path: Path) -> None:
    underlay, model = read_brite(written(tmp_path, JAVA))
    network = underlay.network
    zero, seven, nine = (network.row(name) for name in ("0", "7", "9"))
    assert (network.n, network.links, network.name) == (3, 2, "net")
    assert network.left_out == {"directions of links": 1, "loops": 1}
    assert network.position is not None
    assert network.position[[zero, seven, nine]].tolist() == [[3, 4], [0, 0], [0, 8]]
    near, far = underlay.place(zero, seven), underlay.place(nine, seven)
    assert underlay.delay_s[near] == 2.5e-3  # as the file says
    assert underlay.delay_s[far] == 8.0 / SPEED_OF_LIGHT_KM_S  # the file does not say
    assert underlay.bandwidth_bps[[near, far]].tolist() == [40e6, np.inf]
    assert model == Waxman(
        3, 1, 0.15000000596046448, 0.2, 100, 10, "heavy-tailed", "heavy-tailed", 1.0, 99.0
    )


def test_a_file_of_the_cpp_edition(tmp_path: Path) -> None:
    underlay, model = read_brite(written(tmp_path, C))
    assert underlay.delay_s.tolist() == [5.0 / SPEED_OF_LIGHT_KM_S] * 2
    assert underlay.bandwidth_bps.tolist() == [313.38e6] * 2
    assert model == Waxman(2, 2, 0.15, 0.2, 1000, 100, "random", "uniform", 10.0, 1024.0)


@pytest.mark.parametrize(("form", "digits"), [("java", 1e-15), ("c++", 0.005)])
def test_what_is_written_is_read_again(tmp_path: Path, form: str, digits: float) -> None:
    model = Waxman(n=60, m=3, bandwidth="exponential", placement="heavy-tailed")
    given, path = waxman(model, 1), tmp_path / "net.brite"
    write_brite(path, given, model, form)
    found, read_model = read_brite(path)
    assert read_model == model
    assert np.array_equal(found.network.labels, given.network.labels)  # type: ignore[arg-type]
    assert np.array_equal(found.network.position, given.network.position)  # type: ignore[arg-type]
    assert np.array_equal(found.network.who, given.network.who)
    light_s = digits / SPEED_OF_LIGHT_KM_S
    assert found.delay_s == pytest.approx(given.delay_s, rel=1e-12, abs=light_s)
    assert found.bandwidth_bps == pytest.approx(given.bandwidth_bps, rel=1e-12, abs=digits * 1e6)


def test_a_packed_file_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "net.brite.gz"
    path.write_bytes(gzip.compress(C.encode()))
    assert read_brite(path).underlay.network.name == "net"


def test_a_model_that_is_unknown_is_none(tmp_path: Path) -> None:
    for head in ("Model (4 - ASBarabasi): 3 100 10 1 2 1 1 1.0 9.0", "no model at all"):
        text = JAVA.replace(JAVA.splitlines()[1], head)
        assert read_brite(written(tmp_path, text)).model is None


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Nodes: ( 3 )", "Knots: ( 3 )", r"net.brite: the file has no line 'Nodes:'"),
        (
            "Edges: ( 3 )",
            "Edges: ( 4 )",
            "net.brite:9: 'Edges:' declares 4 lines, but 3 follow",
        ),
        ("7\t0\t0\t", "0\t0\t0\t", "net.brite:6: node 0 occurs twice"),
        ("7\t0\t0\t", "7\tx\t0\t", "net.brite:6:2: x = 'x': expected a number"),
        ("1\t7\t9\t", "1\t7\t8\t", "net.brite:11: an edge leads to the unknown node 8"),
        ("\t2.5\t", "\tnan\t", "net.brite:10:5: delay = 'nan': expected a number"),
        (
            "\t5.0\t2.5\t40.0\t0\t7\tE_AS\tU",
            "",
            "net.brite:10: the line has 3 fields: expected at least 6",
        ),
    ],
)
def test_errors_name_their_line(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert JAVA.count(old) == 1
    with pytest.raises(Problem, match=named):
        read_brite(written(tmp_path, JAVA.replace(old, new)))


def test_write_errors_are_named(tmp_path: Path) -> None:
    ones = np.ones(2)
    with pytest.raises(Problem, match="position: expected a position for every node"):
        write_brite(tmp_path / "net.brite", Underlay(line(2), ones, ones), Waxman())
    with pytest.raises(Problem, match="zoo: position = longitude, latitude: expected x, y in kilo"):
        write_brite(tmp_path / "net.brite", in_degrees(tmp_path), Waxman())
    assert not (tmp_path / "net.brite").exists()
    underlay = waxman(Waxman(n=10), 1)
    with pytest.raises(Problem, match="form = 'rust'"):
        write_brite(tmp_path / "net.brite", underlay, Waxman(n=10), "rust")
    with pytest.raises(Problem, match="could not be written: no such file"):
        write_brite(tmp_path / "no" / "net.brite", underlay, Waxman(n=10))


def in_degrees(folder: Path) -> Underlay:
    """The underlay of a GraphML file with longitudes and latitudes."""
    keys = {"lon": "Longitude", "lat": "Latitude"}
    head = "".join(f'<key id="{id}" for="node" attr.name="{name}"/>' for id, name in keys.items())
    nodes = "".join(
        f'<node id="{k}"><data key="lon">{k}</data><data key="lat">50</data></node>'
        for k in range(2)
    )
    graph = f'<graph edgedefault="undirected">{nodes}<edge source="0" target="1"/></graph>'
    file = folder / "zoo.graphml"
    file.write_text(f"<graphml>{head}{graph}</graphml>")
    return read_underlay(file)


def test_projected_degrees_are_written_in_kilometres(tmp_path: Path) -> None:
    found = in_degrees(tmp_path)
    assert found.network.position is not None
    metres, _ = projected(found.network.position, "zoo")
    plane = replace(found.network, position=metres / 1000)
    write_brite(tmp_path / "net.brite", replace(found, network=plane, geographic=False), Waxman())
    position = read_brite(tmp_path / "net.brite").underlay.network.position
    assert position is not None
    # A degree of longitude at 50 degrees north: 2 pi R cos(50) / 360.
    assert abs(position[1, 0] - position[0, 0]) == pytest.approx(71.474, abs=0.01)
