"""A whole comparison on a filled store: what is found, told and written, without Spark."""

import io
import json
import math
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

import halfway
from halfway import cli
from halfway.comparison.compare import compare
from halfway.comparison.metrics import LATE, METRICS, SATURATED, observations
from halfway.comparison.request import asked, parsed
from halfway.comparison.results import Interval
from halfway.comparison.stopping import Until
from halfway.pipeline.plan.plan import ROOT_SEED
from halfway.pipeline.store.store import Store
from halfway.problem import Problem
from halfway.report.comparison.terminal import cells_csv, print_comparison, with_margin
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from tests.comparison.scenes import SMALL, fill, written
from tests.report.comparison_specimens import compared

PAIR = ["flooding", "gossip"]


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished needs no Spark."""

    def refuse(_master: str | None = None) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr("halfway.pipeline.spark.session.session", refuse)


def test_what_is_finished_is_told_without_spark(tmp_path: Path) -> None:
    question = asked(written(tmp_path), PAIR, replicates=4)
    store = Store(tmp_path / "out" / "runs")
    fill(store, question)
    answer = compare(question, store)
    found = answer.compared
    assert not {"seed", "system"} & set(found.scenario)
    assert found.seed == ROOT_SEED
    assert (found.systems, found.baseline, found.replicates) == (tuple(PAIR), "flooding", 4)
    assert (answer.made, found.errors, found.points, found.title) == (0, 0, ({},), "small")
    assert len(found.cells) == 2 * len(METRICS)
    cell = found.cell(0, "gossip", "messages")
    assert (cell.networks, len(cell.values)) == (4, 4)
    assert cell.mean.low < cell.mean.value < cell.mean.high
    assert cell.against is not None
    mine = found.cell(0, "flooding", "messages").values
    assert cell.against.value == pytest.approx(sum(cell.values) / 4 - sum(mine) / 4)
    assert {len(curve.seconds) for curve in found.curves} == {101}
    assert compare(question, store).compared.digest == found.digest
    # More replicates are asked for than there are: that needs Spark, and only for what is new.
    with pytest.raises(AssertionError, match="a session was opened"):
        compare(question._replace(replicates=5), store, master="yarn")


def test_a_run_of_a_comparison_is_that_of_halfway_simulate(tmp_path: Path) -> None:
    path = written(tmp_path)
    question = asked(path, PAIR, replicates=2)
    store = Store(tmp_path / "out" / "runs")
    fill(store, question)
    answer = compare(question, store)
    for ran in answer.runs:
        told = simulation_of(read_scenario(path, {"seed": str(ran.seed)}), system=ran.system).run()
        assert ran.observed["delivery-ratio"] == (told.delivery_ratio,)
        assert ran.observed["energy"] == (told.energy,)
        assert ran.observed["latency-p95"] == (told.latency_s.p95,)
        assert ran.observed["latency-quantiles"][50] == told.latency_s.median
        assert ran.observed["load-gini"] == (told.load.gini,)
    assert answer.runs[0].seed == answer.runs[2].seed != answer.runs[1].seed


def test_a_sweep_has_a_point_for_each_combination(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL + '[sweep]\n"workload.events" = [4, 8]\n')
    sweeps = {"faults[0].share": "0.0,0.5"}
    question = asked(path, ["flooding"], replicates=2, sweeps=sweeps)
    store = Store(tmp_path / "out" / "runs")
    fill(store, question)
    found = compare(question, store).compared
    assert found.points == tuple(
        {"workload.events": events, "faults[0].share": share}
        for events in (4, 8) for share in (0.0, 0.5)
    )  # fmt: skip
    assert found.cell(0, "flooding", "recovery").networks == 0  # nobody fell
    assert found.cell(3, "flooding", "recovered").networks == 2
    assert math.isnan(found.cell(0, "flooding", "recovery").mean.value)
    head, *rows = cells_csv(found).splitlines()
    assert head.startswith("workload.events,faults[0].share,system,metric,unit,mean,low,high")
    assert len(rows) == 4 * len(METRICS)


def test_an_option_of_one_system_leaves_the_others_at_every_point(tmp_path: Path) -> None:
    question = asked(written(tmp_path), PAIR, replicates=2, sweeps={"options.gossip.fanout": "2,3"})
    store = Store(tmp_path / "out" / "runs")
    fill(store, question)
    found = compare(question, store).compared
    assert len(found.cells) == 2 * 2 * len(METRICS)
    for point in (0, 1):
        assert found.cell(point, "gossip", "messages").against is not None
    first, last = (found.cell(point, "flooding", "messages").values for point in (0, 1))
    assert first == last  # one run, which stands at both points
    assert len(store.finished_keys()) == 2 + 2 * 2


def test_the_command_prints_tables_and_writes_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path, out = written(tmp_path), tmp_path / "out"
    fill(Store(out / "runs"), asked(path, PAIR, replicates=3))
    command = ["compare", str(path), "--systems", "flooding,gossip", "--replicates", "3"]
    assert cli.main([*command, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for word in ("does it arrive", "flooding", "±", "*", "digest", "hellos cost nothing"):
        assert word in told
    assert all(len(line) <= 80 for line in told.splitlines() if "±" in line)
    assert {file.name for file in out.glob("comparison.*")} == {
        "comparison.csv", "comparison.jsonl", "comparison.json", "comparison.html"
    }  # fmt: skip
    page = (out / "comparison.html").read_text("utf-8")
    assert "flooding" in page
    assert 'id="map"' in page
    assert cli.main([*command, "--out", str(out), "--json", "--no-map"]) == 0
    assert 'id="map"' not in (out / "comparison.html").read_text("utf-8")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2 * len(METRICS)
    assert set(rows[0]) >= {"system", "metric", "mean", "low", "high", "networks", "best"}


def test_from_python_as_frames(tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "out"
    changes = {"workload.arrivals": "poisson", "faults[0].share": 0.25}
    text = {"workload.arrivals": '"poisson"', "faults[0].share": "0.25"}
    fill(Store(out / "runs"), asked(path, PAIR, replicates=2, changes=text))
    found = halfway.compare(path, PAIR, replicates=2, changes=changes, out=out)
    cells = found.frame().set_index(["system", "metric"])
    assert cells.loc["flooding", "delivery-ratio"]["networks"] == 2
    runs = found.runs()
    energy = runs[runs.metric == "energy"].groupby("system")["value"].mean()
    assert energy["gossip"] == pytest.approx(cells.loc["gossip", "energy"]["mean"])
    assert set(runs.replicate) == {0, 1}
    absent = "contrast"
    with pytest.raises(AttributeError, match=f"no attribute '{absent}'"):
        getattr(halfway, absent)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--systems", "glossip"], "'glossip' is no system"),
        (["--systems", "gossip,gossip"], "named twice"),
        (["--baseline", "rumor", "--systems", "gossip"], "rumor does not run here"),
        (["--until", "width=2%"], "--until width=2%: this is no bound"),
        (["--until", "half-width=1.2.3"], "--until half-width=1.2.3: this is no bound"),
        (["--until", "half-width=2%,speed"], "metrics: delivery-ratio"),
        (["--until", "half-width=0%"], "must be above 0"),
        (["--replicates", "9", "--most", "3", "--until", "half-width=2%"], "but 3 at the most"),
        (["--replicates", "200000"], "it must be from 1 to 100,000"),
        (
            ["--set", "seed=7"],
            r"--set seed: a comparison sets it in each of its runs \(use --seed\)",
        ),
        (["--set", "system=gossip"], "use --systems"),
        (["--sweep", "workload.events=-1"], "workload.events = -1: expected"),
        (["--sweep", "seed=1,2"], "sweep.seed: this cannot be swept"),
        (["--sweep", "events"], "--sweep events: it must be FIELD=VALUE"),
        (["--sweep", "faults[7].share=0.1"], r"\[7\] is none of its 1 places"),
        (["--sweep", "workload.events="], "sweep.workload.events: it has no values"),
        (["--set", "workload.width=9"], "width = 9: it must be from 1 to topics = 1"),
        (["--set", "network.n=5"], "network: n = 5 nodes cannot have a mean of 9 neighbours"),
        (["--system", "nowhere.py"], "--system nowhere.py: no such file"),
        (["--system", "no.such.module"], "there is no such module or file"),
    ],
)
def test_misuse_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], told: str
) -> None:
    import re

    command = ["compare", str(written(tmp_path)), "--out", str(tmp_path / "out"), *given]
    assert cli.main(command) == cli.MENDABLE
    line = capsys.readouterr().err
    assert re.search(told.replace("--", r"\-\-"), line)
    assert line.count("\n") == 1


def test_bounds_are_read_as_people_write_them() -> None:
    assert parsed("half-width=2%") == Until(0.02)
    assert parsed("half-width=0.5%, energy") == Until(0.005, "energy")
    assert parsed("half-width=0.03,recovered") == Until(0.03, "recovered")
    assert parsed(None) is None


def test_a_system_that_cannot_run_has_a_row_that_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path)
    monkeypatch.setattr(
        "halfway.adapters.interface.BroadcastAdapter.unsupported",
        lambda self, _scene: "no trees here" if self.module.__name__.endswith("gossip") else "",
    )
    question = asked(path, PAIR)
    assert [one.name for one in question.contenders] == ["flooding"]
    assert question.unsupported == {"gossip": "no trees here"}
    with pytest.raises(Problem, match="gossip does not run here: no trees here"):
        asked(path, PAIR, baseline="gossip")
    with pytest.raises(Problem, match="no system can run here; gossip: no trees here"):
        asked(path, ["gossip"])
    # The command says so before anything runs, to machines' readers as well.
    fill(Store(tmp_path / "out" / "runs"), question, 2)
    command = ["compare", str(path), "--systems", ",".join(PAIR), "--replicates", "2", "--json"]
    assert cli.main([*command, "--no-map", "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("halfway: gossip does not run here: no trees here\n")
    assert len(told.out.splitlines()) == len(METRICS)


def test_what_came_late_is_observed_beside_the_metrics(tmp_path: Path) -> None:
    changes = {"window": "1", "workload.every_s": "0.001"}
    scenario = read_scenario(written(tmp_path), changes)
    found = observations(simulation_of(scenario, system="flooding"))
    told = simulation_of(scenario, system="flooding").run()
    assert found[LATE].tolist() == [told.late]
    assert told.late > 0
    assert SATURATED not in found  # nothing is told of what is 0


def test_numbers_have_the_digits_that_their_margin_leaves() -> None:
    shown = {
        (0.99967, 0.0005): "0.99967 ± 0.00050", (6930.0, 306.0): "6,930 ± 306",
        (25.005, 0.012): "25.005 ± 0.012", (1033.0, 0.0): "1,033 ± 0", (0.0, 0.0): "0 ± 0",
    }  # fmt: skip
    for (value, half), text in shown.items():
        assert with_margin(Interval(value, value - half, value + half)) == text
    assert with_margin(Interval(3.0, math.nan, math.nan)) == "3"


def test_a_mean_over_some_replicates_says_over_how_many() -> None:
    whole = compared()
    lone = tuple(
        replace(one, networks=1, mean=Interval(one.mean.value, math.nan, math.nan))
        if one.metric == "latency-median"
        else one
        for one in whole.cells
    )
    for cells, few in ((lone, True), (whole.cells, False)):
        said = io.StringIO()
        print_comparison(Console(file=said, width=100), replace(whole, cells=cells))
        told = said.getvalue()
        assert (" [1]" in told) == few
        assert ("as many as stand in [ ]" in told) == few
