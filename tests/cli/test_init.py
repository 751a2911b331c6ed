"""Tests of `halfway init`: what it guesses, that the result runs, and what it refuses."""

from pathlib import Path

import pytest

from halfway.cli import main
from halfway.comparison.request import read_request
from halfway.problem import Problem
from halfway.scenario.build import prepared, simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import FromFile, Recorded
from halfway.scenario.starter import starter

RING = [f"n{k},n{(k + 1) % 6}" for k in range(6)]
RATIOS = "a,b,there,back\n" + "".join(f"{pair},0.9,0.8\n" for pair in RING)
TRACKS = "node,t_s,x_m,y_m\n" + "".join(f"v{k},{t},{k + t},0\n" for k in range(5) for t in (3, 90))
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/><edge source="b" target="c"/>
</graph></graphml>"""


def began(folder: Path, name: str, text: str, *more: str) -> tuple[Path, list[str]]:
    """A file's first scenario in another folder, and the guesses."""
    (folder / name).write_text(text)
    target = folder / "own" / "scenario.toml"
    target.parent.mkdir(exist_ok=True)
    found = starter(folder / name, folder / more[0] if more else None, target)
    target.write_text(found.text)
    return target, found.guesses


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
        ("a,b,etx\n1,2,1.5\n2,3,9\n", (None, None, "", None)),
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


def test_a_threshold_keeps_the_network_together(tmp_path: Path) -> None:
    chain = "a,b,q\n" + "".join(f"{k},{k + 1},{0.95 if k % 2 else 0.3}\n" for k in range(9))
    file, guesses = began(tmp_path, "links.csv", chain)
    assert "over = 0.25 keeps 10 of 10 connected nodes connected" in guesses
    network = read_scenario(file).network
    assert isinstance(network, FromFile)
    assert not network.both_ways


def test_positions_that_lack_nodes_are_a_comment(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("id,x,y\n" + "".join(f"n{k},{k},0\n" for k in range(6)))
    (tmp_path / "some.csv").write_text("id,x,y\nn0,1,1\n")
    file, _ = began(tmp_path, "links.csv", RATIOS, "all.csv")
    ready = prepared(read_scenario(file)).network
    assert ready is not None
    assert ready.position is not None
    file, guesses = began(tmp_path, "links.csv", RATIOS, "some.csv")
    assert "not every node has a position, so the scenario uses no positions" in guesses
    assert '# positions = "../some.csv"' in file.read_text()


def test_movement_gets_a_radius_and_a_beginning(tmp_path: Path) -> None:
    file, guesses = began(tmp_path, "tracks.csv", TRACKS)
    network = read_scenario(file).network
    assert isinstance(network, Recorded)
    assert (network.radius, network.begin_s) == (3.0, 3.0)
    assert any("write the range of your radio" in guess for guess in guesses)
    with pytest.raises(Problem, match="a file of movement has positions"):
        starter(tmp_path / "tracks.csv", tmp_path / "tracks.csv", tmp_path / "s.toml")


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
    assert "is not replaced (choose another file with -o)" in capsys.readouterr().err
    assert Path("scenario.toml").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "a\n1\n", "a,b\n", "a,b\n1,1\n", "1,2\n3,4\n"])
def test_files_without_a_network_are_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "links.csv").write_text(text)
    assert main(["init", str(tmp_path / "links.csv"), "-o", str(tmp_path / "s.toml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "s.toml").exists()


def test_real_files_get_a_scenario_that_can_run(data: Path, tmp_path: Path) -> None:
    for name, nodes in [
        ("freifunk/aachen_links.csv", 1173), ("intel_lab/connectivity.txt", 53),
        ("iotlab/strasbourg_links.csv.gz", 61), ("rocketfuel/AS1221_latencies.intra", 104),
        ("mobility/zurich_unterstrass_99.mob", 99),
    ]:  # fmt: skip
        assert starter(data / name, None, tmp_path / "s.toml").size.startswith(f"{nodes:,} nodes")
