"""The command line: what it prints where, every exit status, and what it imports."""

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import halfway
from halfway import cli
from halfway.cli.terminal.screen import (
    FORMER_OPTIONS,
    INTERNAL_ERROR,
    INTERRUPTED,
    RUNS_FAILED,
    USER_ERROR,
)
from halfway.pipeline import reproduction
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.problem import Problem
from tests.report.specimens import paper, summaries

HEAVY = "numba numpy scipy pandas pyarrow pyspark py4j altair matplotlib vl_convert"
SQUARE = "a,b\nw,x\nx,y\ny,z\nz,w\n"


@dataclass
class Report:
    """The part of a sweep's report that the command line reads."""

    errors: int = 0
    first_error: str = ""
    wall_seconds: float = 10.0
    cores: int = 2

    def shares(self) -> dict[str, float]:
        return {"simulating": 0.75, "Spark": 0.25}


@dataclass
class Fake:
    """A fake pipeline that remembers how it was called."""

    report: Report = field(default_factory=Report)
    fails: BaseException | None = None
    called: dict[str, Any] = field(default_factory=dict)

    def reproduce(
        self,
        figures: Any,
        scale: str,
        store: Path,
        master: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        partitions: int | None = None,
        seed: int | None = None,
        event_log: Path | None = None,
    ) -> Any:
        assert event_log is None  # no account was asked for
        self.called = {
            "figures": [figure.name for _, figure in figures], "scale": scale, "store": store,
            "master": master, "partitions": partitions, "seed": seed,
        }  # fmt: skip
        assert progress is not None
        progress(0, 4)
        if self.fails:
            raise self.fails
        progress(4, 4)
        return types.SimpleNamespace(
            verdicts=[v for _, figure in figures for v in figure.judge(Summaries([]))],
            summaries={(p.name, f.name): Summaries(summaries()[f.name]) for p, f in figures},
            report=self.report,
            digest="5f3a9c01d2e47b68",
            processor_s=12.5,
        )


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fake:
    """Fake papers and a fake pipeline; the test runs in a folder of its own."""
    found = Fake()
    papers, pipeline = types.ModuleType("papers"), types.ModuleType("reproduce")
    papers.PAPERS = {"directional-walks": paper()}  # type: ignore[attr-defined]
    pipeline.reproduce = found.reproduce  # type: ignore[attr-defined]
    pipeline.Result = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "halfway.papers", papers)
    monkeypatch.setitem(sys.modules, "halfway.pipeline.reproduction.reproduction_run", pipeline)
    monkeypatch.setattr(reproduction, "reproduction_run", pipeline, raising=False)
    monkeypatch.chdir(tmp_path)
    return found


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "halfway", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


def test_help_loads_nothing_heavy() -> None:
    look = (
        "import sys\nfrom halfway.cli import main\nmain(['reproduce', '--help'])\n"
        f"print(sorted(sys.modules.keys() & set('{HEAVY}'.split())), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_list_loads_no_compiler_and_no_spark() -> None:
    heavy = "numba pandas pyarrow pyspark py4j altair matplotlib vl_convert"
    look = (
        "import sys\nfrom halfway.cli import main\nassert main(['list']) == 0\n"
        f"print(sorted(sys.modules.keys() & set('{heavy}'.split())), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert "figure-6" in done.stdout


def test_alone_it_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    printed = capsys.readouterr().out
    assert "halfway reproduce directional-walks/figure-6" in printed
    assert "walk" in printed


@pytest.mark.parametrize("command", ["list", "reproduce", "walk", "simulate"])
def test_every_command_helps(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "-h"]) == 0
    assert "Usage: halfway" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"halfway {halfway.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["reproduce", "--scale", "huge"],
        ["reproduce", "--partitions", "0"],
        ["walk"],
        ["walk", "unit-disk:n=9,r=1", "--seed", "-1"],
        ["walk", "unit-disk:n=9,r=1", "--system", "drunk"],
        ["--frobnicate"],
    ],
)
def test_misuse_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == USER_ERROR
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("halfway: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(("old", "new"), FORMER_OPTIONS.items())
def test_a_former_option_is_answered_with_the_new_one(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["walk", "unit-disk:n=9,r=1", old, "heard"]) == USER_ERROR
    assert f"(the option has a new name: {new})" in capsys.readouterr().err


def test_reproduce_writes_an_edition_and_says_where(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["reproduce", "--master", "local[2]", "--partitions", "3", "--seed", "7"]) == 0
    assert fake.called == {
        "figures": ["figure-4", "figure-5", "figure-6", "figure-7"], "scale": "quick",
        "store": Path("halfway-results/runs"), "master": "local[2]", "partitions": 3, "seed": 7,
    }  # fmt: skip
    printed = capsys.readouterr()
    tallies = [line for line in printed.out.splitlines() if line.startswith("figure-")]
    assert [line.split()[0] for line in tallies] == ["figure-6", "figure-7"]
    assert all("agree" in line for line in tallies)
    assert "5f3a9c01d2e47b68" in printed.out
    assert "simulating 75%" in printed.out
    assert "halfway-results/all-figures-seed-7/index.html" in printed.out
    assert printed.err.splitlines()[0] == "halfway: starting"
    assert {path.name for path in Path("halfway-results").iterdir()} == {
        "index.html", "all-figures-seed-7"
    }  # fmt: skip
    left = {path.name for path in Path("halfway-results/all-figures-seed-7").iterdir()}
    assert left == {
        "study.json", "index.html", "verdicts.csv", "verdicts.jsonl", "summaries.csv", "figures",
        ".pictures",
    }  # fmt: skip


def test_json_is_one_object_a_line_and_nothing_else(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "directional-walks/figure-6", "--json", "--out", "o"]
    assert cli.main([*arguments, "--scale", "paper"]) == 0  # "differs" is among them
    assert fake.called["scale"] == "paper"
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 48
    assert all(tuple(row) == Verdict.__struct_encode_fields__ for row in rows)
    assert {row["verdict"] for row in rows} == {"agrees", "same trend", "differs"}


def test_runs_in_error_are_status_1(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.report = Report(errors=3, first_error="n=1500 replicate 7:\n no connected network")
    assert cli.main(["reproduce", "directional-walks/figure-7"]) == RUNS_FAILED
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == (
        "halfway: 3 runs ended in errors. halfway-results/runs contains their messages. "
        "The first: n=1500 replicate 7: no connected network"
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("directional-walk", "directional-walks"),
        ("figure-6", "directional-walks/figure-6"),
        ("fig7", "directional-walks/figure-7"),
        ("directional-walks/figure6", "directional-walks/figure-6"),
        ("directional_walks/figure-5", "directional-walks/figure-5"),
    ],
)
def test_an_unknown_name_gets_the_nearest_and_refers_to_the_list(
    fake: Fake, name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["reproduce", name]) == USER_ERROR
    printed = capsys.readouterr().err
    assert printed.startswith(f"halfway: there is no paper or figure '{name}'")
    assert f"did you mean {near}?" in printed
    assert "`halfway list` shows all names" in printed
    assert fake.called == {}


@pytest.mark.usefixtures("fake")
def test_an_unknown_name_without_a_near_one_refers_to_the_list(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["reproduce", "zzzz"]) == USER_ERROR
    printed = capsys.readouterr().err
    assert "did you mean" not in printed
    assert "`halfway list` shows all names" in printed


def test_several_figures_are_one_reproduction_each_once(fake: Fake) -> None:
    figures = ["directional-walks/figure-7", "directional-walks/figure-5"]
    assert cli.main(["reproduce", *figures, figures[0]]) == 0
    assert fake.called["figures"] == ["figure-7", "figure-5"]
    both = ["directional-walks/figure-5", "directional-walks"]
    assert cli.main(["reproduce", *both, "--out", "other"]) == 0
    assert fake.called["figures"] == ["figure-5", "figure-4", "figure-6", "figure-7"]


def test_an_interruption_says_that_the_same_command_resumes(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.fails = KeyboardInterrupt()
    assert cli.main(["reproduce", "--out", "kept"]) == INTERRUPTED
    printed = capsys.readouterr().err
    assert "finished runs are in kept; the same command resumes" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (Problem("is full", where="disk", remedy="empty it"), 2, "disk: is full (empty it)"),
        (OSError(28, "No space left on device", "x/y"), 2, "x/y: no space left on device"),
        (OSError("odd"), 2, "odd"),
        (
            ValueError("first\nsecond"),
            70,
            "ValueError: first: internal error; please report it "
            "(HALFWAY_TRACEBACK=1 prints a traceback)",
        ),
        (RuntimeError(), 70, "RuntimeError: no message"),
    ],
)
def test_an_error_is_one_line(
    fake: Fake,
    error: Exception,
    status: int,
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HALFWAY_TRACEBACK", raising=False)
    fake.fails = error
    assert cli.main(["reproduce"]) == status
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-1].startswith(f"halfway: {line}")
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_an_internal_error_prints_a_traceback_on_request(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFWAY_TRACEBACK", "1")
    fake.fails = ZeroDivisionError("division by zero")
    assert cli.main(["reproduce"]) == INTERNAL_ERROR
    assert "Traceback" in capsys.readouterr().err


def test_an_unwritable_folder_is_status_2(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("mine")
    assert cli.main(["reproduce", "--out", "file"]) == USER_ERROR
    assert "file: this is a file: expected a folder" in capsys.readouterr().err
    assert Path("file").read_text() == "mine"
    assert fake.called == {}  # reported before anything took time


def test_files_of_the_user_are_not_overwritten(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("site").mkdir()
    Path("site/index.html").write_text("mine")
    assert cli.main(["reproduce", "--out", "site"]) == USER_ERROR
    assert "the folder contains index.html, which Halfway did not write" in capsys.readouterr().err
    assert Path("site/index.html").read_text() == "mine"
    assert fake.called == {}


def test_walk_prints_steps_meeting_path_and_stretch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "square.csv"
    file.write_text(SQUARE)
    picture = tmp_path / "walk.svg"
    arguments = ["walk", str(file), "--from", "w", "--to", "y", "--plot", str(picture)]
    assert cli.main(arguments) == 0
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed["network"] == "square: 4 nodes, 4 links"
    assert printed["from"] == "w to y"
    assert printed["shortest"].startswith("2 hops")
    assert printed["picture"] == str(picture)
    assert "w" in printed["path"]
    assert picture.read_bytes().startswith(b"<?xml")


def test_walk_in_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["walk", "unit-disk:n=200,r=0.15,seed=3", "--json", "--seed", "5", "--k", "2"]
    assert cli.main(arguments) == 0
    first = capsys.readouterr().out
    printed = json.loads(first)
    assert printed["steps"] == sum(printed["steps_each"])
    assert printed["path"][0] == printed["source"]
    assert printed["path"][-1] == printed["target"]
    assert printed["meeting"] in printed["path"]
    assert printed["path_hops"] == len(printed["path"]) - 1 >= printed["shortest_hops"]
    assert printed["stretch"] == pytest.approx(printed["path_hops"] / printed["shortest_hops"])
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == first


def test_walk_stays_in_one_component_and_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.csv"
    file.write_text(SQUARE + "p,q\n")
    assert cli.main(["walk", str(file)]) == 0
    assert "two is disconnected: the walks use 4 of 6 nodes" in capsys.readouterr().err
    assert cli.main(["walk", str(file), "--from", "p"]) == 0
    assert "p to q" in capsys.readouterr().out
    assert cli.main(["walk", str(file), "--largest"]) == 0
    assert capsys.readouterr().err == (
        "halfway: two.csv: left out 2 nodes outside the largest component (p, q)\n"
    )
    assert cli.main(["walk", str(file), "--from", "w", "--to", "q"]) == USER_ERROR
    assert "their walks cannot meet" in capsys.readouterr().err


def test_walk_links_by_radius(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links, places = tmp_path / "links.csv", tmp_path / "places.csv"
    links.write_text("a,b\nw,x\nx,y\n")
    places.write_text("id,x,y\nw,0,0\nx,0,1\ny,0,2\n")
    near = ["walk", str(links), "--positions", str(places), "--radius", "2.5"]
    assert cli.main([*near, "--from", "w", "--to", "y", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["links"], printed["shortest_hops"], printed["source"]) == (3, 1, "w")
    assert cli.main(["walk", str(links), "--radius", "2"]) == USER_ERROR
    assert "--radius needs positions" in capsys.readouterr().err


def test_walk_takes_a_quality_and_a_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "links.csv"
    file.write_text("a,b,there,back\nw,x,0.9,0.8\nx,y,0.9,0.1\ny,w,0.9,0.9\n")
    options = ["--quality", "there", "--quality-back", "back", "--over", "0.5"]
    assert cli.main(["walk", str(file), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"] == 2
    assert cli.main(["walk", str(file), *options, "--either-way", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["links"] == 3


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--from", "w", "--to", "w"], "--to w: expected another node than --from"),
        (["--from", "ghost"], "there is no node 'ghost'"),
        (["--k", "0"], "k = 0"),
        (["--plot", "walk.gif"], "walk.gif: '.gif' is not a picture format"),
        (["--plot", "nowhere/file/walk.png"], "there is no such folder"),
        (["--quality", "pdr"], "pdr"),
        (["--over", "0.5"], "expected a quality column"),
    ],
)
def test_an_invalid_walk_is_a_user_error(
    arguments: list[str],
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("square.csv").write_text(SQUARE)
    Path("nowhere").write_text("a file")
    assert cli.main(["walk", "square.csv", *arguments]) == USER_ERROR
    err = capsys.readouterr().err
    assert err.startswith("halfway: ")
    assert printed in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("network", "printed"),
    [
        ("missing.csv", "missing.csv: no such file"),
        ("unit-disk:n=100", "expected both n=… and r=…"),
        ("unit-disk:n=ten,r=1", "expected whole numbers n and seed"),
        ("unit-disk:n=9,r=1,q=2", "'q=2': expected n=…, r=… or seed=…"),
        ("unit-disk:n=9,n=9,r=1", "'n=9': expected"),
        ("unit-disk:n=1000,r=0.01", "no connected unit disk graph"),
        ("unit-disk:n=1,r=1", "no two nodes are linked"),
        ("unit-disk:n=9,r=-1", "expected a length between 1e-100 and 1e100"),
        ("unit-disk:n=9,r=1,seed=-4", "seed"),
    ],
)
def test_an_invalid_network_is_a_user_error(
    network: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["walk", network]) == USER_ERROR
    assert printed in capsys.readouterr().err


def test_a_drawn_network_takes_no_options_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["walk", "unit-disk:n=9,r=1", "--radius", "1"]) == USER_ERROR
    assert "a drawn network has no file" in capsys.readouterr().err


def test_a_closed_output_is_not_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "halfway", "list"],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_a_terminal_without_unicode_still_gets_all_lines() -> None:
    done = run("walk", "unit-disk:n=40,r=0.5", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "hop" in done.stdout


def test_an_interrupt_from_outside_is_status_130() -> None:
    # Interrupted as soon as it runs: before any command could have caught it itself. A shell
    # starts a background job with interrupts ignored, and a test run may be such a job.
    look = (
        "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import halfway.cli as cli\n"
        "import halfway.papers\n"
        "def slow(*_, **__):\n    os.kill(os.getpid(), signal.SIGINT)\n    signal.pause()\n"
        "import halfway.report.terminal.listing as listing\nlisting.print_papers = slow\n"
        "sys.exit(cli.main(['list']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "halfway: interrupted\n")


def test_the_help_of_simulate_shows_every_table_of_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["simulate", "--help"]) == 0
    printed = capsys.readouterr().out
    for table in ("[network]", "[radio]", "[workload]", "[[faults]]", "[options.gossip]"):
        assert table in printed


def test_the_list_names_the_systems_of_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    from halfway.adapters.registry import TABLE
    from halfway.protocols import SYSTEMS

    assert tuple(TABLE) == tuple(SYSTEMS)
    assert cli.main(["list"]) == 0
    printed = capsys.readouterr().out.partition("\nsystems")[2]
    listed = [line.split()[0] for line in printed.splitlines() if line.strip()]
    # The text of a narrow column may go on with the name of a system.
    assert [name for name in dict.fromkeys(listed) if name in SYSTEMS] == list(SYSTEMS)


def test_a_lack_of_memory_is_a_user_error(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.fails = MemoryError("Unable to allocate 4.00 TiB")
    assert cli.main(["reproduce"]) == USER_ERROR
    assert "not enough memory: unable to allocate 4.00 TiB" in capsys.readouterr().err
