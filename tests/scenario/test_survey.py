"""Tests of the survey of a scenario: a chain, a bridge, left out nodes, events, faults."""

from pathlib import Path

import pytest

from halfway.problem import Problem
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import converted
from halfway.scenario.survey import Survey, survey

# Two triangles joined by the link c-d, and a pair of nodes apart from them.
LINKS = "a,b\na,b\nb,c\nc,a\nc,d\nd,e\ne,f\nf,d\nx,y\n"


def surveyed(folder: Path, text: str, links: str = LINKS) -> Survey:
    (folder / "links.csv").write_text(links)
    file = folder / "scenario.toml"
    file.write_text(text)
    return survey(read_scenario(file))


FILE = '[network]\nkind = "file"\npath = "links.csv"\n'


def test_cut_nodes_bridges_and_left_out_nodes_have_the_names_of_the_file(tmp_path: Path) -> None:
    found = surveyed(tmp_path, FILE).topology
    assert (found.nodes, found.links, found.components, found.isolated) == (6, 7, 1, 0)
    assert sorted(found.cut_nodes) == ["c", "d"]
    assert [tuple(sorted(pair)) for pair in found.bridges] == [("c", "d")]
    assert found.left_out_nodes == ["x", "y"]
    assert found.mean_degree == pytest.approx(14 / 6)


def test_a_filter_that_takes_nodes_leaves_their_names(tmp_path: Path) -> None:
    links = "a,b,q\na,b,0.9\nb,a,0.9\nb,c,0.2\nc,b,0.2\n"
    found = surveyed(tmp_path, FILE + 'quality = "q"\nover = 0.5\n', links)
    assert found.topology.left_out_nodes == ["c"]


def test_components_and_separated_pairs_are_warnings(tmp_path: Path) -> None:
    text = FILE + "largest = false\n[workload]\nsubscribers_each = 7\n"
    found = surveyed(tmp_path, text)
    assert (found.topology.components, found.topology.largest_component) == (2, 6)
    assert found.roles.separated_pairs in (2, 6)
    assert any("2 components" in line for line in found.warnings)
    assert any("have no path" in line for line in found.warnings)


@pytest.mark.parametrize(
    ("workload", "fit"),
    [("events = 100", 19), ("events = 5", 5), ("events = 5\nstart_s = 500", 0)],
)
def test_events_that_do_not_fit_are_counted(tmp_path: Path, workload: str, fit: int) -> None:
    found = surveyed(tmp_path, f"seconds = 20\n{FILE}[workload]\n{workload}\n")
    assert found.roles.events_that_fit == fit


TRACKS = "node,t_s,x_m,y_m\na,0,0,0\na,40,0,0\nb,0,9,0\nb,40,900,0\nc,20,0,5\nc,40,0,5\n"


def test_recorded_movement_is_surveyed_over_the_run(tmp_path: Path) -> None:
    (tmp_path / "tracks.csv").write_text(TRACKS)
    text = 'seconds = 40\n[network]\nkind = "recorded"\npath = "tracks.csv"\nradius = 10\n'
    found = surveyed(tmp_path, text)
    seen = [(one.at_s, one.nodes, one.links, one.largest_component)
            for one in found.topology.over_time]  # fmt: skip
    # At 0 s, a and b are in reach; c exists from 20 s on, near a.
    assert seen[0] == (0.0, 2, 1, 2)
    assert seen[1][1:] == (2, 0, 1)
    assert seen[2][1:] == seen[3][1:] == (3, 1, 2)
    assert not found.warnings
    apart = surveyed(tmp_path, text.replace("radius = 10", "radius = 1"))
    assert apart.warnings == [
        "the moving nodes are never connected: at most 50% of the nodes that exist are in one "
        "component"
    ]


def test_moving_nodes_are_surveyed_at_time_0(tmp_path: Path) -> None:
    text = (
        '[network]\nkind = "random-waypoint"\nn = 20\nwidth = 100.0\nheight = 100.0\n'
        "radius = 200.0\nspeed = [1.0, 2.0]\n"
    )
    found = surveyed(tmp_path, text).topology
    assert found.moving
    assert found.links == 190
    assert [one.links for one in found.over_time] == [190] * 5


def test_what_a_run_refuses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="a sum of at most n = 6 nodes"):
        surveyed(tmp_path, FILE + "[workload]\nsubscribers_each = 50\n")
    with pytest.raises(Problem, match="there is no node 'zz'"):
        surveyed(tmp_path, FILE + '[[faults]]\nfault = "crash"\nnode = "zz"\nat = 1\n')


def test_the_survey_keeps_links_under_a_limit_and_names_the_nodes_without_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "etx.csv").write_text("a,b,etx\n1,2,1.2\n2,3,1.5\n3,4,9\n")
    network = {"kind": "file", "path": str(tmp_path / "etx.csv"), "quality": "etx", "under": 3.0}
    found = survey(converted({"network": network}))
    assert (found.topology.nodes, found.topology.links) == (3, 2)
    assert found.topology.left_out_nodes == ["4"]


def test_the_survey_names_left_out_nodes_of_a_file_that_lacks_positions(tmp_path: Path) -> None:
    """The survey reads the whole file in the way in which the run reads it."""
    nodes = "".join(f'<node id="{name}"/>' for name in "bcde")
    edges = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ("ab", "bc", "de"))
    (tmp_path / "mesh.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="x" for="node" attr.name="x" attr.type="double"/>'
        '<key id="y" for="node" attr.name="y" attr.type="double"/>'
        '<graph edgedefault="undirected">'
        f'<node id="a"><data key="x">1</data><data key="y">2</data></node>{nodes}{edges}'
        "</graph></graphml>"
    )
    path = str(tmp_path / "mesh.graphml")
    network = {"kind": "file", "path": path, "partial_positions": True}
    assert survey(converted({"network": network})).topology.left_out_nodes == ["d", "e"]
