"""The file of a trace: it replaces nothing but a trace, and no incomplete file remains."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from halfway import cli
from halfway.cli.terminal.screen import USER_ERROR
from halfway.core.message import RECORD
from halfway.core.records.trace_columns import schema
from halfway.problem import Problem
from halfway.sim.engine.changes import no_changes
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import RunId
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.sim.trace.writer import Trace, check_target
from halfway.world.mobility.motion import still
from halfway.world.workload.demand import Drawn

NOTHING = no_changes()


def opened(path: Path) -> Trace:
    return Trace(path, {}, ["here"])


def close(trace: Trace) -> None:
    trace.close(RunId("none", seed=1, nodes=1, seconds=1.0), (np.zeros(1),))


def write(trace: Trace, count: int = 1) -> None:
    rows, none = np.zeros(count, np.int64), np.zeros(0, np.int64)
    trace.write(np.zeros(count, RECORD), rows, np.zeros(0, RECORD), none, NOTHING)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_trace_replaces_a_trace_and_leaves_no_other_file(tmp_path: Path) -> None:
    file = tmp_path / "run.parquet"
    for _ in range(2):
        trace = opened(file)
        write(trace)
        close(trace)
        trace.abandon()
        assert names(tmp_path) == ["run.parquet"]
    assert file.read_bytes()[:4] == b"PAR1"


def test_a_trace_replaces_no_other_file(tmp_path: Path) -> None:
    text, link, pipe = tmp_path / "mesh.toml", tmp_path / "link", tmp_path / "pipe"
    text.write_text("title = 'precious'")
    link.symlink_to(text)
    os.mkfifo(pipe)
    before = names(tmp_path)
    for path in (text, link, pipe, Path("/dev/null")):
        with pytest.raises(Problem, match="not a Parquet file") as caught:
            opened(path)
        assert caught.value.where == str(path)
    for path in (tmp_path, Path()):
        with pytest.raises(Problem, match="directory"):
            opened(path)
    for path in (tmp_path / "none" / "x", text / "x", tmp_path / ("x" * 300)):
        with pytest.raises(Problem, match="cannot write a trace"):
            opened(path)
    assert names(tmp_path) == before
    assert text.read_text() == "title = 'precious'"


def test_two_traces_of_the_same_path_do_not_interfere(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "x"), opened(tmp_path / "x")
    assert len(names(tmp_path)) == 2
    close(one)
    close(other)
    assert names(tmp_path) == ["x"]


def test_an_abandoned_or_forgotten_trace_leaves_nothing(tmp_path: Path) -> None:
    trace = opened(tmp_path / "x")
    write(trace)
    trace.abandon()
    trace.abandon()
    assert names(tmp_path) == []
    trace = opened(tmp_path / "x")
    del trace
    assert names(tmp_path) == []


def test_a_full_disk_is_reported_with_the_path_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_table: Any) -> None:
        raise OSError(28, "No space left on device")

    trace = opened(tmp_path / "x")
    monkeypatch.setattr(trace._file, "write_table", full)
    with pytest.raises(Problem, match="x: cannot write a trace: no space left"):
        write(trace)
    assert names(tmp_path) == []


def test_a_file_that_appears_during_a_run_is_kept(tmp_path: Path) -> None:
    trace = opened(tmp_path / "x")
    (tmp_path / "x").write_text("mine")
    with pytest.raises(Problem, match="not a Parquet file"):
        close(trace)
    assert names(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "mine"


def test_the_command_checks_the_trace_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mesh.toml"
    # A network that cannot be drawn: the trace is checked first.
    file.write_text('[network]\nkind = "unit-disk"\nn = 500\nradius = 0.001\n')
    for target, reason in (
        (str(file), "not a Parquet file"),
        ("", "directory"),
        (".", "directory"),
    ):
        assert cli.main(["simulate", str(file), "--trace", target]) == USER_ERROR
        assert reason in capsys.readouterr().err
    check_target(tmp_path / "new.parquet")
    assert names(tmp_path) == ["mesh.toml"]


LINKS = 'from,to\nroof,cellar\nroof,"<b>&amp;</b>"\n"<b>&amp;</b>",7\n'


def table_of(path: Path) -> tuple[dict[str, list[Any]], list[str]]:
    """The columns of a trace, and the nodes' names in its metadata."""
    file = parquet.ParquetFile(path)
    names: list[str] = json.loads(file.metadata.metadata[b"halfway.nodes"])
    return file.read().to_pydict(), names


def test_a_trace_names_the_nodes_of_the_network_file(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(LINKS)
    file = tmp_path / "mesh.toml"
    file.write_text(
        'seconds = 12\nsystem = "flooding"\n[network]\nkind = "file"\npath = "links.csv"\n'
        "[workload]\npublishers_each = 1\nsubscribers_each = 2\nevents = 2\nevery_s = 1\n"
        '[[faults]]\nfault = "crash"\nat = 3\nnode = "cellar"\n'
    )
    trace = tmp_path / "run.parquet"
    assert cli.main(["simulate", str(file), "--trace", str(trace), "--json"]) == 0
    table, names = table_of(trace)
    assert sorted(names) == sorted(["roof", "cellar", "<b>&amp;</b>", "7"])
    assert table["node"] == [names[row] for row in table["row"]]
    known = [names[row] if row >= 0 else None for row in table["source"]]
    assert table["source_node"] == known
    down = [k for k, what in enumerate(table["what"]) if what == "node down"]
    assert [table["node"][k] for k in down] == ["cellar"]


def test_the_guide_describes_every_column() -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs" / "replaying.md").read_text("utf-8")
    table = guide[guide.index("| column | content |") : guide.index("## Controls")]
    described = {name for line in table.splitlines() for name in line.split("|")[1:2]}
    named = {name.strip(" `") for cell in described for name in cell.split(",")}
    assert set(schema().names) <= named


def test_a_scenario_with_recorded_movement_names_the_nodes_of_its_file(tmp_path: Path) -> None:
    rows = [f"{name},{t},{10 * k},0" for k, name in enumerate(("bus 9", "tram")) for t in (0, 20)]
    (tmp_path / "day.csv").write_text("\n".join(["node,t_s,x_m,y_m", *rows]))
    file, trace = tmp_path / "day.toml", tmp_path / "run.parquet"
    file.write_text(
        'seconds = 15\nsystem = "flooding"\n[network]\nkind = "recorded"\npath = "day.csv"\n'
        "radius = 20\n[workload]\npublishers_each = 1\nsubscribers_each = 1\nevents = 2\n"
    )
    assert cli.main(["simulate", str(file), "--trace", str(trace), "--json"]) == 0
    assert table_of(trace)[1] == ["bus 9", "tram"]


def test_a_trace_names_recorded_nodes_by_their_file_and_others_by_their_row(tmp_path: Path) -> None:
    legs = still([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    demand = Drawn(n=3, publishers_each=1, subscribers_each=2, events=1, every_s=1.0)
    for given, names in ((["a", "b", "c"], ["a", "b", "c"]), (None, ["0", "1", "2"])):
        file = tmp_path / "run.parquet"
        motion = Motion(legs, 1.5, names=given)
        Simulation(
            "flooding",
            motion=motion,
            workload=demand,
            seconds=12.0,
            inspection=Inspection(trace=file),
        ).run()
        table, found = table_of(file)
        assert found == names
        assert set(table["node"]) <= set(names)
        assert set(table["node"]) > {names[0]}
