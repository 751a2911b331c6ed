"""The programs in examples/: each runs on a small made input, and reports bad input in one line."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from halfway.cli.program import run
from halfway.cli.terminal.screen import USER_ERROR
from halfway.scenario.build import prepared
from halfway.scenario.reading import read_scenario
from halfway.world.importers.network_file import read_network
from halfway.world.mobility.trace_files import read_motion
from tests.api.test_pages import made_here
from tests.house.sources import REPOSITORY

FOLDER = REPOSITORY / "examples"
PROGRAMS = sorted(path.name for path in FOLDER.glob("*.py"))
Start = Callable[..., tuple[int, str, str]]


@pytest.fixture
def start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Start:
    """A function that runs a program in a new folder: exit status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def started(name: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        spec = importlib.util.spec_from_file_location(f"example_{Path(name).stem}", FOLDER / name)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        status = run(module.main) if hasattr(module, "main") else 0
        output = capsys.readouterr()
        return status, output.out, output.err

    return started


def links(path: Path, rows: list[tuple[int, int]], delay: bool = False) -> str:
    """A table of links."""
    head = "a,b,ms\n" if delay else "a,b\n"
    path.write_text(head + "".join(f"n{a},n{b}{',2.5' if delay else ''}\n" for a, b in rows))
    return str(path)


def ring(n: int) -> list[tuple[int, int]]:
    """A ring with a chord from each node, so that two disjoint paths join any two nodes."""
    return [(i, (i + step) % n) for i in range(n) for step in (1, 5)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_names_the_program(name: str, start: Start) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert name in text.partition('"""')[2].partition('"""')[0]
    if name == "my_protocol.py":
        return  # a protocol is not a program; started alone it prints its description
    with pytest.raises(SystemExit) as stopped:
        start(name, "--help")
    assert stopped.value.code == 0


def test_moving_world(tmp_path: Path, start: Start) -> None:
    tracks = tmp_path / "tracks.csv"
    rows = [f"v{i},{t},{100 * i + t},{50 * (i % 2)}" for i in range(6) for t in (0, 100)]
    tracks.write_text("node,t_s,x_m,y_m\n" + "\n".join(rows) + "\n")
    given = ("moving_world.py", str(tracks), "--only", "flooding")
    status, out, _ = start(*given, "--seconds", "90", "--demands", "2")
    assert status == 0
    assert "6 nodes; mean of 2 demands" in out
    assert "flooding" in out
    assert "nan" not in out
    status, _, err = start(*given, "--seconds", "60")
    assert status == USER_ERROR
    assert err == (
        "halfway: --seconds = 60: expected more than 80 (the first event is at 20 s, and the last "
        "60 s have no event)\n"
    )


def test_real_network(tmp_path: Path, start: Start) -> None:
    file = links(tmp_path / "star.csv", [(0, i) for i in range(1, 5)] + [(4, 5), (5, 6)])
    small = ("--pairs", "20", "--permutations", "2", "--plot", "walk.svg")
    status, out, _ = start("real_network.py", file, *small)
    assert status == 0
    assert "star: 7 nodes, 6 links" in out
    assert "stretch against shortest, mean" in out
    assert (tmp_path / "walk.svg").exists()


def test_real_underlay(tmp_path: Path, start: Start) -> None:
    file = links(tmp_path / "ring.csv", ring(30), delay=True)
    small = ("--brokers", "6", "--overlays", "2", "--faults", "2", "--delay-ms", "ms")
    status, out, _ = start("real_underlay.py", file, *small)
    assert status == 0
    assert "ring: 30 nodes, 60 links, 6 brokers, 2 overlays" in out
    names = [line.split("│")[1].strip() for line in out.splitlines() if "deviation" in line]
    assert len(names) == len(set(names)) == 6
    assert "e+" not in out


def test_tree_recovery(tmp_path: Path, start: Start) -> None:
    file = links(tmp_path / "ring.csv", ring(20))
    status, out, _ = start("tree_recovery.py", file, "--networks", "1", "--brokers", "5")
    assert status == 0
    assert "a link dies" in out
    assert "nan" not in out


def test_notebook(tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfway.api.comparison.run_comparison.compare", made_here)
    status, out, _ = start("notebook.py")
    assert status == 0
    assert "SimulatedRun('flooding', nodes=60" in out
    assert "'glossip' is not a system" in out
    assert {one.name for one in (tmp_path / "notebook-results").iterdir()} == {
        "runs", "energy.svg", "a-small-field"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["moving_world.py"], "the following arguments are required: movement (--help lists"),
        (["moving_world.py", "absent.mob"], "absent.mob: no such file"),
        (["moving_world.py", "a.mob", "--demands", "0"], "--demands: '0': expected a whole number"),
        (["moving_world.py", "a.mob", "--range", "-3"], "--range: '-3': expected a number above 0"),
        (["moving_world.py", "a.mob", "--only", "x"], "--only = x: no system begins like this (sy"),
        (["real_network.py", "absent.csv"], "absent.csv: no such file"),
        (["real_network.py", "pair.csv"], "pair.csv: the largest component has 2 nodes: expected"),
        (["real_network.py", "pair.csv", "--pairs", "x"], "--pairs: 'x': expected a whole number"),
        (["real_underlay.py", "absent.brite"], "absent.brite: no such file"),
        (["real_underlay.py", "pair.csv"], "pair.csv"),
        (["real_underlay.py", "pair.csv", "--brokers", "1"], "--brokers: '1': expected a whole"),
        (["tree_recovery.py", "absent.graphml"], "absent.graphml: no such file"),
        (["tree_recovery.py", "pair.csv"], "brokers"),
        (["tree_recovery.py", "--tau", "0"], "--tau: '0': expected a number above 0"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, start: Start
) -> None:
    links(tmp_path / "pair.csv", [(0, 1)])
    status, out, err = start(*arguments)
    assert (status, out) == (USER_ERROR, "")
    assert message in err
    assert err.startswith("halfway: ")
    assert err.count("\n") == 1


def test_network_files(tmp_path: Path, start: Start) -> None:
    (tmp_path / "disk.toml").write_text('[network]\nkind = "unit-disk"\nn = 9\nradius = 0.9\n')
    status, out, _ = start("network_files.py", "disk.toml")
    assert (status, out.count("wrote disk-")) == (0, 2)
    places = tmp_path / "disk-positions.csv"
    network = read_network(tmp_path / "disk-links.csv", positions=places)
    drawn = prepared(read_scenario(tmp_path / "disk.toml")).network
    assert drawn is not None
    assert (network.n, network.links) == (9, drawn.links)
    row = network.row(f"n{drawn.label(0)}")
    assert network.position is not None
    assert drawn.position is not None
    assert network.position[row] == pytest.approx(drawn.position[0], abs=1e-5)
    status, _, err = start("network_files.py", "disk.toml")
    assert (status, "is not replaced" in err) == (USER_ERROR, True)
    (tmp_path / "team.toml").write_text(
        'seconds = 4\n[network]\nkind = "random-waypoint"\nn = 5\nwidth = 9\nheight = 9\n'
        "radius = 5\nspeed = [1, 2]\n"
    )
    status, out, _ = start("network_files.py", "team.toml", "--step", "2")
    assert out == "wrote team-tracks.csv (15 rows)\n"
    traces = read_motion(tmp_path / "team-tracks.csv")
    assert (traces.legs.n, float(traces.legs.t1.max())) == (5, 4.0)
