"""Tests of `halfway init`: what it guesses, that the result runs, and what it refuses."""

import json
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

from halfway.cli import main
from halfway.comparison.request import read_request
from halfway.problem import Problem
from halfway.scenario.build import prepared, simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import FromFile, Recorded
from halfway.scenario.starter import starter
from halfway.sim.radio.declarations import WiredRadio

RING = [f"n{k},n{(k + 1) % 6}" for k in range(6)]
RATIOS = "a,b,there,back\n" + "".join(f"{pair},0.9,0.8\n" for pair in RING)
TRACKS = "node,t_s,x_m,y_m\n" + "".join(f"v{k},{t},{k + t},0\n" for k in range(5) for t in (3, 90))
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/><edge source="b" target="c"/>
</graph></graphml>"""


def began(folder: Path, name: str, text: str, *more: str) -> tuple[Path, list[str]]:
    """A file's first scenario in another folder, and the notes and guesses."""
    (folder / name).write_text(text)
    target = folder / "own" / "scenario.toml"
    target.parent.mkdir(exist_ok=True)
    found = starter(folder / name, folder / more[0] if more else None, target)
    target.write_text(found.text)
    return target, [*found.notes, *found.guesses]


def test_ratios_of_both_directions_become_threshold_and_losses(tmp_path: Path) -> None:
    file, guesses = began(tmp_path, "links.csv", RATIOS)
    scenario = read_scenario(file)
    assert isinstance(scenario.network, FromFile)
    assert (scenario.network.quality, scenario.network.over) == ("there,back", 0.75)
    assert "the columns there and back (there, back) are the link quality (0 to 1)" in guesses
    assert getattr(scenario.radio, "ratio_columns", ()) == ("there", "back")
    outcome = simulation_of(scenario, system="flooding").run()
    assert (outcome.nodes, outcome.published) == (6, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "type;from;to;tq\nwifi;a;b;255\nwifi;b;c;200\nwifi;a;c;40\n",
            ("from", "to", "tq", 191.25),
        ),
        ("x,reporter,heard\n1,a,b\n2,b,c\n", ("heard", "reporter", "", None)),
        ("src\tdst\tpdr\na\tb\t67\nb\tc\t80\n", (None, None, "pdr", 50.0)),
        ("x,y\na,b\nb,c\n", (None, None, "", None)),
        ("a;b;ratio\na;b;0,9\nb;c;67%\n", (None, None, "ratio", 0.5)),
    ],
)
def test_columns_and_scales_are_guessed(
    text: str, expected: tuple[object, ...], tmp_path: Path
) -> None:
    file, _ = began(tmp_path, "links.csv", text)
    network = read_scenario(file).network
    assert isinstance(network, FromFile)
    assert (network.source, network.target, network.quality, network.over) == expected
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.n == 3


@pytest.mark.parametrize(
    ("text", "over", "under", "nodes"),
    [
        ("a,b,etx\n1,2,1.5\n2,3,1.9\n1,3,9\n", None, 2.0, 3),  # twice a perfect link of 1 or more
        ("a,b,etx\n1,2,1\n2,3,0\n2,4,9\n4,5,1.2\n", 0.0, 10.0, 4),  # 0: no link
        ("a,b,cost\n1,2,100\n2,3,400\n", None, 1000.0, 3),
    ],
)
def test_a_quality_of_which_less_is_better_gets_an_upper_limit(
    text: str, over: float | None, under: float, nodes: int, tmp_path: Path
) -> None:
    file, guesses = began(tmp_path, "links.csv", text)
    network = read_scenario(file).network
    assert isinstance(network, FromFile)
    assert (network.over, network.under) == (over, under)
    assert any(f"under = {under:g} keeps {nodes} of {nodes}" in guess for guess in guesses)
    assert any("is not a reception ratio; set `success`" in guess for guess in guesses)
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.n == nodes


def test_ratios_of_other_scales_are_losses_too_and_a_reason_is_given_where_not(
    tmp_path: Path,
) -> None:
    file, _ = began(tmp_path, "links.csv", "a,b,tq\n1,2,255\n2,3,200\n")
    radio = read_scenario(file).radio
    assert (getattr(radio, "ratio_columns", ()), getattr(radio, "ratio_scale", 0)) == (("tq",), 255)
    file, guesses = began(tmp_path, "links.csv", "a,b,quality\n1,2,255\n2,3,200\n")
    assert getattr(read_scenario(file).radio, "ratios", "") is None
    assert "the radio loses no records, because quality is not a reception ratio" in guesses[-1]
    file, guesses = began(tmp_path, "links.csv", "k,a,b,there,back\n0,1,2,0.9,0.9\n0,2,3,0.9,1\n")
    assert "the radio loses no records, because the table has no ratio of the link" in guesses[-1]


BRITE = """Topology: ( 3 Nodes, 3 Edges )
Model (3 - ASWaxman):  3 1000 100 1 2 0.15 0.2 1 1 10.0 1024.0

Nodes: ( 3 )
0	0.0	0.0	2	2	0	AS_NODE
1	300.0	0.0	2	2	1	AS_NODE
2	0.0	400.0	2	2	2	AS_NODE

Edges: ( 3 )
0	0	1	300.0	1.0	10.0	0	1	E_AS	U
1	0	2	400.0	1.3	20.0	0	2	E_AS	U
2	1	2	500.0	1.7	90.0	1	2	E_AS	U
"""


@pytest.mark.one_clock  # the latency is exact
def test_an_underlay_gets_wires_with_its_bandwidth_and_the_delay_of_light(tmp_path: Path) -> None:
    file, _ = began(tmp_path, "net.brite", BRITE)
    radio = read_scenario(file).radio
    assert isinstance(radio, WiredRadio)
    assert radio.bandwidth == 20e6
    run = simulation_of(read_scenario(file), system="flooding")
    outcome = run.run()
    assert outcome.published == 30
    # Flooding waits 10 ms. A hop takes 1 ms, the way of light, and 28 bytes at 20 Mb/s.
    wait_s = 0.01 + 0.001 + 28 * 8 / 20e6
    lengths_s = [km / 299792.458 for km in (300.0, 400.0, 500.0)]
    assert any(outcome.latency_s.median == pytest.approx(wait_s + way_s) for way_s in lengths_s)


DIRECTED = (
    GRAPHML.replace("undirected", "directed")
    .replace(
        '<edge source="b" target="c"/>', '<edge source="b" target="c"><data key="w">3</data></edge>'
    )
    .replace("<graph ", '<key id="w" for="edge" attr.name="latency_ms"/><graph ')
)


def test_directions_and_data_of_graphml_links_are_named(tmp_path: Path) -> None:
    _, guesses = began(tmp_path, "mesh.graphml", DIRECTED)
    assert guesses == [
        "the link attribute latency_ms is not used",
        "2 links have directions in the file; in the scenario, each link leads in both directions",
    ]
    _, guesses = began(tmp_path, "mesh.graphml", GRAPHML)
    assert guesses == []
    one = GRAPHML.replace('target="b"', 'target="b" directed="true"')
    _, guesses = began(tmp_path, "mesh.graphml", one)
    (line,) = guesses
    assert line.startswith("1 link has a direction in the file;")


def test_directions_of_node_link_data_are_named(tmp_path: Path) -> None:
    note = (
        "2 links have directions in the file; in the scenario, each link leads in both directions"
    )
    for make, has_note in ((nx.DiGraph, True), (nx.Graph, False)):
        graph = make([("a", "b"), ("b", "c")])
        content = json.dumps(nx.node_link_data(graph, edges="links"))
        _, guesses = began(tmp_path, "mesh.json", content)
        assert any(line.startswith(note) for line in guesses) == has_note


def test_nodes_outside_the_largest_component_are_counted(tmp_path: Path) -> None:
    file, guesses = began(tmp_path, "links.csv", "a,b\n1,2\n2,3\n8,9\n")
    outside = "2 nodes outside the largest component"
    assert f"largest = true leaves out {outside}; false keeps all nodes" in guesses
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.n == 3
    _, guesses = began(tmp_path, "links.csv", "a,b\n1,2\n2,3\n")
    assert not any("largest" in guess for guess in guesses)


@pytest.mark.parametrize(
    ("column", "delay_s", "said"),
    [
        ("latency_ms", 0.02, "delay_s = 0.02 is the median of the column latency_ms; a radio has"),
        ("Delay (s)", 20.0, "delay_s = 20 is the median of the column Delay (s); a radio has"),
        ("rtt_ms", 0.01, "delay_s = 0.01 is half the median of the column rtt_ms; a radio has"),
        ("latency", 0.004, "the column latency is not used, because its unit is not known; name"),
        ("length", 0.004, "the column length is not used"),
    ],
)
def test_latencies_of_links_give_the_delay_of_a_hop(
    column: str, delay_s: float, said: str, tmp_path: Path
) -> None:
    text = f"a,b,{column},pdr\n1,2,10,0.9\n2,3,20,0.8\n3,4,90,0.9\n"
    file, guesses = began(tmp_path, "links.csv", text)
    assert next(guess for guess in guesses if column in guess).startswith(said)
    assert getattr(read_scenario(file).radio, "delay_s", None) == delay_s
    assert simulation_of(read_scenario(file), system="flooding").run().delivered > 0


def test_columns_that_are_not_used_are_named_in_one_line(tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(8)]
    text = f"a,b,{','.join(names)}\n1,2,{','.join('x' * 8)}\n"
    _, guesses = began(tmp_path, "links.csv", text)
    assert "the columns c0, c1, c2, c3, c4 and 3 more are not used" in guesses


def test_a_threshold_keeps_the_network_together(tmp_path: Path) -> None:
    chain = "a,b,q\n" + "".join(f"{k},{k + 1},{0.95 if k % 2 else 0.3}\n" for k in range(9))
    file, guesses = began(tmp_path, "links.csv", chain)
    assert "over = 0.25 keeps 10 of 10 connected nodes connected" in guesses
    assert "both_ways" not in file.read_text()
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.n == 10


def test_positions_that_lack_nodes_are_a_comment(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("id,x,y\n" + "".join(f"n{k},{k},0\n" for k in range(6)))
    (tmp_path / "some.csv").write_text("id,x,y\nn0,1,1\n")
    file, _ = began(tmp_path, "links.csv", RATIOS, "all.csv")
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.position is not None
    file, guesses = began(tmp_path, "links.csv", RATIOS, "some.csv")
    missing = "no position for 5 of 6 nodes (n1, n2, n3, n4, n5)"
    assert f"the scenario uses no positions: {missing}" in guesses
    assert '# positions = "../some.csv"' in file.read_text()
    assert "partial_positions" not in file.read_text()


def test_a_network_file_in_which_nodes_have_no_position_is_read_without_positions(
    tmp_path: Path,
) -> None:
    nodes = [{"id": name, "properties": {"x": k, "y": 0}} for k, name in enumerate("abcdef")]
    nodes[2].pop("properties")
    links = [{"source": a, "target": b, "cost": 1.0} for a, b in pairwise("abcdef")]
    graph = {"type": "NetworkGraph", "nodes": nodes, "links": links}
    file, guesses = began(tmp_path, "mesh.json", json.dumps(graph))
    assert "the scenario uses no positions: no position for 1 of 6 nodes (c)" in guesses
    assert "\npartial_positions = true  #" in file.read_text()
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert (ready.n, ready.position) == (6, None)
    file.write_text(file.read_text().replace("partial_positions = true", ""))
    with pytest.raises(Problem, match=r"no position for 1 of 6 nodes \(c\) .*partial_positions"):
        prepared(read_scenario(file))


def test_movement_gets_a_radius_and_a_beginning(tmp_path: Path) -> None:
    file, guesses = began(tmp_path, "tracks.csv", TRACKS)
    network = read_scenario(file).network
    assert isinstance(network, Recorded)
    assert (network.radius, network.begin_s) == (3.0, 3.0)
    assert any("write the range of your radio" in guess for guess in guesses)
    with pytest.raises(Problem, match="a file of movement has positions"):
        starter(tmp_path / "tracks.csv", tmp_path / "tracks.csv", tmp_path / "s.toml")


def test_a_run_of_movement_covers_the_time_with_many_nodes(tmp_path: Path) -> None:
    # One node from 0 s, ten from 200 s to 600 s, one to 1000 s.
    text = "node,t_s,x_m,y_m\n" + "first,0,0,0\nfirst,1000,9,0\n"
    text += "".join(f"v{k},{t},{k},0\n" for k in range(9) for t in (200, 600))
    file, guesses = began(tmp_path, "tracks.csv", text)
    scenario = read_scenario(file)
    assert isinstance(scenario.network, Recorded)
    assert (scenario.network.begin_s, scenario.seconds) == (200.0, 300.0)
    assert "the run begins at 200 s, and lasts 300 s; the file has 0 s to 1000 s" in guesses
    short = text.replace(",600,", ",400,")
    file, _ = began(tmp_path, "tracks.csv", short)
    assert read_scenario(file).seconds == 200.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("links.csv", RATIOS), ("mesh.graphml", GRAPHML), ("pair.txt", "a b\n"),
        ("tracks.csv", TRACKS), ('odd "\\ name\n.csv', RATIOS),
        ("still.mob", "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$node_(1) set X_ 1\n"
                      "$node_(1) set Y_ 1\n"),
    ],
)  # fmt: skip
def test_a_comparison_accepts_the_result(name: str, text: str, tmp_path: Path) -> None:
    file, _ = began(tmp_path, name, text)
    assert read_request(file, ["flooding"]).systems


def test_a_file_is_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("links.csv").write_text(RATIOS)
    assert main(["init", "links.csv"]) == 0
    assert "wrote scenario.toml (6 nodes, 6 links)" in capsys.readouterr().out
    Path("scenario.toml").write_text("mine")
    assert main(["init", "links.csv"]) == 2
    assert "Halfway does not replace it (choose another file with -o)" in capsys.readouterr().err
    assert Path("scenario.toml").read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["", "a\n1\n", "a,b\n", "a,b\n1,1\n", "1,2\n3,4\n", "n,lat,lon\na,50,7\n"]
)
def test_files_without_a_network_are_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "links.csv").write_text(text)
    assert main(["init", str(tmp_path / "links.csv"), "-o", str(tmp_path / "s.toml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "s.toml").exists()


@pytest.mark.parametrize(
    ("text", "named"), [("n1,n2\nn2,n3\nn3,n1\n", True), ("a,b\na,b\nb,c\n", False)]
)
def test_a_header_with_the_name_of_a_node_is_named(text: str, named: bool, tmp_path: Path) -> None:
    """Unless it is a usual name of a column."""
    _, guesses = began(tmp_path, "links.csv", text)
    assert any("(n1, n2) is a header and no link" in guess for guess in guesses) == named
    (tmp_path / "links.txt").write_text("1 2\n2 3\n")  # no header
    found = starter(tmp_path / "links.txt", None, tmp_path / "own" / "scenario.toml")
    assert not any("header" in guess for guess in found.guesses)


def test_a_table_with_times_is_no_table_of_links(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("vehicle,timestamp,east,north\nv,1,2,3\nv,2,2,4\n")
    with pytest.raises(Problem, match=r"the column timestamp is a time: .*t_s, x_m, y_m"):
        starter(tmp_path / "trips.csv", None, tmp_path / "s.toml")


@pytest.mark.parametrize("first", [1_700_000_000, -500])
def test_movement_may_have_any_times(first: int, tmp_path: Path) -> None:
    """Such as seconds since 1970, or times below 0."""
    text = "node,t_s,x_m,y_m\n"
    text += "".join(f"v{k},{first + t},{k + t},0\n" for k in range(5) for t in (3, 90))
    file, guesses = began(tmp_path, "tracks.csv", text)
    network = read_scenario(file).network
    assert isinstance(network, Recorded)
    assert network.begin_s == first + 3
    assert f"the run begins at {first + 3} s" in guesses[0]
    assert simulation_of(read_scenario(file), system="flooding").run().delivered > 0


def test_movement_in_degrees_is_projected(tmp_path: Path) -> None:
    text = "node,time,lon,lat\n"
    text += "".join(f"v{k},{t},{8 + k / 1000},{47 + t / 1e5}\n" for k in range(9) for t in (0, 90))
    file, guesses = began(tmp_path, "tracks.csv", text)
    network = read_scenario(file).network
    assert isinstance(network, Recorded)
    # A thousandth of a degree is 75.8 m there, and each of 9 vehicles has 8 others on a line.
    assert 4 * 75 < network.radius < 8 * 76
    assert any("write the range of your radio" in guess for guess in guesses)


def test_real_files_get_a_scenario_that_can_run(data: Path, tmp_path: Path) -> None:
    for name, nodes in [
        ("freifunk/aachen_links.csv", 1173), ("intel_lab/connectivity.txt", 53),
        ("iotlab/strasbourg_links.csv.gz", 61), ("rocketfuel/AS1221_latencies.intra", 104),
        ("mobility/zurich_unterstrass_99.mob", 99),
    ]:  # fmt: skip
        assert starter(data / name, None, tmp_path / "s.toml").size.startswith(f"{nodes:,} nodes")


def test_the_example_of_the_package_can_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "field.toml"
    assert main(["init", "--example", "-o", str(file)]) == 0
    assert prepared(read_scenario(file)).network.n == 60
    for words in ([], ["links.csv", "--example"]):
        assert main(["init", *words, "-o", str(tmp_path / "x.toml")]) == 2
        assert "name one file, or write --example alone" in capsys.readouterr().err
