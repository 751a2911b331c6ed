"""A comparison on a filled store, without Spark: its results, tables, files and errors."""

import io
import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from rich.console import Console

import halfway
from halfway import cli
from halfway.cli.terminal.screen import USER_ERROR
from halfway.comparison.evaluation.cell_statistics import StoppingRule
from halfway.comparison.evaluation.comparison_results import MeanInterval
from halfway.comparison.evaluation.metrics import LATE, SATURATED, metrics_for, observations
from halfway.comparison.plan import point_of
from halfway.comparison.request import read_request, stopping_rule
from halfway.comparison.run_comparison import compare
from halfway.comparison.study_name import study_name
from halfway.pipeline.audit import audit
from halfway.pipeline.plan.run import scenario_seed
from halfway.pipeline.plan.sweep_plan import ROOT_SEED
from halfway.pipeline.spark.simulate_rows import digest_of
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import read_requests
from halfway.problem import Problem
from halfway.report.comparison.comparison_files import cells_csv
from halfway.report.comparison.terminal_results import print_results
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import Scenario, UnitDisk
from tests.comparison.scenarios import SMALL, fill, written
from tests.report.comparison_specimens import results

# Those of a scenario with hellos and without batteries.
METRICS = metrics_for([Scenario(network=UnitDisk(n=40, degree=9.0))])

PAIR = ["flooding", "gossip"]


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished runs need no Spark."""

    def refuse(*_arguments: object, **_more: object) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr("halfway.pipeline.spark.session.session", refuse)


def test_a_finished_comparison_needs_no_spark(tmp_path: Path) -> None:
    request = read_request(written(tmp_path), PAIR, replicates=4)
    store = Store(tmp_path / "out" / "runs")
    fill(store, request)
    completed = compare(request, store)
    found = completed.results
    assert not {"seed", "system"} & set(found.scenario)
    assert found.seed == ROOT_SEED
    assert (found.systems, found.baseline, found.replicates) == (tuple(PAIR), "flooding", 4)
    assert (completed.made, found.errors, found.points, found.title) == (0, 0, ({},), "small")
    assert len(found.cells) == 2 * len(METRICS)
    cell = found.cell(0, "gossip", "messages-per-notification")
    assert (cell.replicates, len(cell.values)) == (4, 4)
    assert cell.mean.low < cell.mean.value < cell.mean.high
    assert cell.difference is not None
    mine = found.cell(0, "flooding", "messages-per-notification").values
    assert cell.difference.value == pytest.approx(sum(cell.values) / 4 - sum(mine) / 4)
    assert {len(curve.seconds) for curve in found.curves} == {101}
    assert compare(request, store).results.digest == found.digest
    # More replicates than are finished need Spark.
    with pytest.raises(AssertionError, match="a session was opened"):
        compare(request._replace(replicates=5), store, master="yarn")


def test_a_run_of_a_comparison_is_that_of_halfway_simulate(tmp_path: Path) -> None:
    path = written(tmp_path)
    request = read_request(path, PAIR, replicates=2)
    store = Store(tmp_path / "out" / "runs")
    fill(store, request)
    completed = compare(request, store)
    for run in completed.runs:
        scenario = read_scenario(path, {"seed": str(run.seed)})
        outcome = simulation_of(scenario, system=run.system).run()
        assert run.observed["delivery-ratio"] == (outcome.delivery_ratio,)
        assert run.observed["energy"] == (outcome.energy_j,)
        assert run.observed["latency-p95"] == (outcome.latency_s.p95,)
        assert run.observed["latency-quantiles"][50] == outcome.latency_s.median
        assert run.observed["load-gini"] == (outcome.load.gini,)
    assert completed.runs[0].seed == completed.runs[2].seed != completed.runs[1].seed


def test_a_sweep_has_a_point_for_each_combination(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL + '[sweep]\n"workload.events" = [4, 8]\n')
    sweeps = {"faults[0].share": "0.0,0.5"}
    request = read_request(path, ["flooding"], replicates=2, sweeps=sweeps)
    store = Store(tmp_path / "out" / "runs")
    fill(store, request)
    found = compare(request, store).results
    assert found.points == tuple(
        {"workload.events": events, "faults[0].share": share}
        for events in (4, 8) for share in (0.0, 0.5)
    )  # fmt: skip
    assert found.cell(0, "flooding", "recovery-time").replicates == 0  # no node went down
    assert found.cell(3, "flooding", "recovery-rate").replicates == 2
    assert math.isnan(found.cell(0, "flooding", "recovery-time").mean.value)
    head, *rows = cells_csv(found).splitlines()
    assert head.startswith(
        "study,title,workload.events,faults[0].share,system,metric,unit,mean,low,high"
    )
    assert len(rows) == 4 * len(METRICS)


def test_an_option_of_one_system_leaves_the_others_at_every_point(tmp_path: Path) -> None:
    sweeps = {"options.gossip.fanout": "2,3"}
    request = read_request(written(tmp_path), PAIR, replicates=2, sweeps=sweeps)
    store = Store(tmp_path / "out" / "runs")
    fill(store, request)
    found = compare(request, store).results
    assert len(found.cells) == 2 * 2 * len(METRICS)
    for point in (0, 1):
        assert found.cell(point, "gossip", "messages-per-notification").difference is not None
    metric = "messages-per-notification"
    first, last = (found.cell(point, "flooding", metric).values for point in (0, 1))
    assert first == last  # one run, which belongs to both points
    assert len(store.finished_keys()) == 2 + 2 * 2


def test_the_command_prints_tables_and_writes_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path, out = written(tmp_path), tmp_path / "out"
    fill(Store(out / "runs"), read_request(path, PAIR, replicates=3))
    command = ["compare", str(path), "--systems", "flooding,gossip", "--replicates", "3"]
    assert cli.main([*command, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for word in ("delivery ratio", "latency p50 [s]", "energy [J]", "flooding", "±", "*", "digest"):
        assert word in printed
    assert "All costs include hellos" not in printed
    assert all(len(line) <= 80 for line in printed.splitlines() if "±" in line)
    study = out / "small"
    assert str(study / "comparison.html") in printed
    assert {file.name for file in study.glob("comparison.*")} == {
        "comparison.csv", "comparison.jsonl", "comparison.json", "comparison.html"
    }  # fmt: skip
    page = (study / "comparison.html").read_text("utf-8")
    assert "flooding" in page
    assert 'id="map"' in page
    assert "All costs include hellos" in page
    assert cli.main([*command, "--out", str(out), "--json", "--no-map"]) == 0
    assert 'id="map"' not in (study / "comparison.html").read_text("utf-8")
    *rows, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2 * len(METRICS)
    assert set(rows[0]) >= {"system", "metric", "mean", "low", "high", "replicates", "best"}
    assert set(last) == {"study", "title", "decision"}
    assert last["decision"]["minimise"] == "messages-per-notification"
    assert last["decision"]["sentence"].startswith("No need was stated. ")


def test_needs_are_those_of_the_file_unless_the_command_has_others(tmp_path: Path) -> None:
    table = '[decision]\nneed = { "delivery-ratio" = 0.5, energy = 9 }\nminimise = "energy"\n'
    path = written(tmp_path, SMALL + table)
    stated = read_request(path, PAIR)
    rule = stated.decision
    assert [(need.metric, need.bound) for need in rule.needs] == [
        ("delivery-ratio", 0.5), ("energy", 9.0),
    ]  # fmt: skip
    assert rule.minimise == "energy"
    other = read_request(path, PAIR, needs={"delivery-ratio": "90%"}, minimise="max-node-load")
    assert [need.bound for need in other.decision.needs] == [0.9, 9.0]
    assert other.decision.minimise == "max-node-load"
    with pytest.raises(Problem, match="need: speed: expected a metric"):
        read_request(written(tmp_path, SMALL + "[decision]\nneed = { speed = 1 }\n"), PAIR)
    # A decision changes no run, and has no study of its own.
    plain = read_request(written(tmp_path), PAIR)
    keys = [point_of(one.points[0].scenario, one.systems[0]).parameters for one in (plain, other)]
    assert keys[0] == keys[1]
    store = Store(tmp_path / "out" / "runs")
    fill(store, read_request(written(tmp_path), PAIR, replicates=2))
    compare(plain._replace(replicates=2), store)
    assert study_name(stated, store) == study_name(plain, store) == "small"
    assert study_name(plain, store, seed=7) != "small"


def test_a_decision_from_python(tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "out"
    fill(Store(out / "runs"), read_request(path, PAIR, replicates=4))
    found = halfway.compare(path, "flooding,gossip", replicates=4, need={"energy": 1e6}, out=out)
    assert found.decision() == found.results.decisions[0]
    assert [need.metric for need in found.decision().needs] == ["delivery-ratio", "energy"]
    other = found.decision(need={"delivery-ratio": 0.01}, minimise="energy")
    assert (other.needs[0].bound, other.minimise, other.stated) == (0.01, "energy", True)
    with pytest.raises(Problem, match="point = 1: expected 0, because"):
        found.decision(point=1)


def test_a_question_that_is_asked_again_remembers_its_earlier_decisions(tmp_path: Path) -> None:
    path, store = written(tmp_path), Store(tmp_path / "out" / "runs")
    request = read_request(path, PAIR, replicates=4)
    fill(store, request)

    def asked(replicates: int, **needs: float) -> tuple[int, ...]:
        given = read_request(path, PAIR, replicates=replicates, needs=needs)
        (decision,) = compare(given, store).results.decisions
        return decision.asked

    assert [asked(1), asked(2), asked(4), asked(3)] == [(), (), (2,), (2, 4)]
    assert [asked(4), asked(2)] == [(2,), ()]  # the same answers as before
    assert asked(4, energy=9.0) == ()  # another question
    found = halfway.compare(path, "flooding,gossip", replicates=4, out=tmp_path / "out")
    assert found.decision(need={"energy": 9}).asked == ()
    assert found.decision(minimise="energy").asked == ()
    (file,) = store.studies.glob("*.asked.json")
    file.write_text("{")
    with pytest.raises(Problem, match="cannot read the questions of the study"):
        asked(2)


def test_studies_of_two_scenarios_never_replace_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, store = tmp_path / "out", Store(tmp_path / "out" / "runs")
    command = ["--systems", "flooding,gossip", "--replicates", "2", "--out", str(out), "--json"]
    folders = []
    for number, text in enumerate((SMALL, SMALL.replace("n = 40", "n = 41"))):  # one title
        (tmp_path / str(number)).mkdir()
        path = written(tmp_path / str(number), text)
        request = read_request(path, PAIR, replicates=2)
        folders.append(study_name(request, store))
        fill(store, request)
        assert cli.main(["compare", str(path), *command]) == 0
        assert study_name(request, store) == folders[-1]  # the same question, the same folder
        assert study_name(request._replace(replicates=9), store) == folders[-1]
    assert folders[0] == "small"
    assert folders[1].startswith("small-")
    pages = [(out / folder / "comparison.html").read_text("utf-8") for folder in folders]
    assert pages[0] != pages[1]
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["study"] for row in rows[:: len(rows) // 2]] == folders
    assert {row["title"] for row in rows} == {"small"}
    index = (out / "index.html").read_text("utf-8")
    assert all(f'href="{folder}/comparison.html"' in index for folder in folders)
    requests = {one.name: one for one in read_requests(store.studies)}
    assert set(requests) == {f"compare {folder}" for folder in folders}

    def refuse(*_arguments: object) -> None:
        raise AssertionError("a map was drawn again")

    monkeypatch.setattr("halfway.report.comparison.kept_map.record_replays", refuse)
    path = tmp_path / "1" / "scenario.toml"
    assert cli.main(["compare", str(path), *command]) == 0
    assert 'id="map"' in (out / folders[1] / "comparison.html").read_text("utf-8")
    (out / folders[1] / "study.json").unlink()  # as if the folder was of another program
    assert cli.main(["compare", str(path), *command]) == USER_ERROR
    assert "contains comparison.html, which Halfway did not write" in capsys.readouterr().err


def test_a_failed_run_is_named_with_the_seed_that_repeats_it(tmp_path: Path) -> None:
    request = read_request(written(tmp_path), PAIR, replicates=2)
    store = Store(tmp_path / "out" / "runs")
    fill(store, request)
    (file,) = store.files()
    table = pq.read_table(file)
    rows = table.to_pylist()
    broken = next(row for row in rows if '"system":"gossip"' in row["parameters"])
    broken |= {"status": "error", "error": "ValueError: 85 %\n of 3", "observations": [],
               "digest": digest_of({})}  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    with pytest.raises(AssertionError, match="a session was opened"):  # it would be repeated
        compare(request, store, master="yarn")
    (failure,) = audit(store).failures
    assert (failure.system, failure.runs) == ("gossip", 1)
    seed = scenario_seed(broken["network_seed"])
    assert failure.seed == str(seed)
    again = simulation_of(read_scenario(written(tmp_path), {"seed": failure.seed}), system="gossip")
    assert again.seed == seed


def test_a_title_reaches_the_terminal_without_control_characters(tmp_path: Path) -> None:
    text = SMALL.replace('title = "small"', 'title = "a\\u001b[2J  mesh\\n"')
    assert read_request(written(tmp_path, text), PAIR).scenario.title == "a [2J mesh"


def test_from_python_as_frames(tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "out"
    changes = {"workload.arrivals": "poisson", "faults[0].share": 0.25}
    text = {"workload.arrivals": '"poisson"', "faults[0].share": "0.25"}
    fill(Store(out / "runs"), read_request(path, PAIR, replicates=2, changes=text))
    found = halfway.compare(path, PAIR, replicates=2, set=changes, out=out)
    cells = found.frame().set_index(["system", "metric"])
    assert cells.loc["flooding", "delivery-ratio"]["replicates"] == 2
    runs = found.runs()
    energy = runs[runs.metric == "energy"].groupby("system")["value"].mean()
    assert energy["gossip"] == pytest.approx(cells.loc["gossip", "energy"]["mean"])
    assert set(runs.replicate) == {0, 1}
    absent = "contrast"
    with pytest.raises(AttributeError, match=f"no attribute '{absent}'"):
        getattr(halfway, absent)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--systems", "glossip"], "'glossip' is not a system"),
        (["--systems", "gossip,gossip"], "'gossip' is named twice"),
        (["--baseline", "drip", "--systems", "gossip"], "baseline = drip: expected one of gossip"),
        (["--until", "width=2%"], "until = width=2%: expected a stopping rule"),
        (["--until", "half-width=1.2.3"], "until = half-width=1.2.3: expected a stopping rule"),
        (["--until", "half-width=2%,speed"], "metrics: delivery-ratio"),
        (["--until", "half-width=0%"], "expected a half-width above 0"),
        (["--until", "half-width=2"], "below 100% .write 2 percent as half-width=2%"),
        (["--systems", ""], "--systems: expected at least one name"),
        (["--systems", " , "], "--systems: expected at least one name"),
        (
            ["--sweep", "seconds=1,2", "--sweep", "seconds=3"],
            "--sweep seconds: the field is given twice .give all values at once",
        ),
        (["--set", "seconds=1", "--set", "seconds=3"], "--set seconds: the field is given twice"),
        (["--need", "delivery-ratio"], "expected FIELD=VALUE .for example --need delivery-ratio="),
        (["--need", "delivery=0.9"], "need: delivery: expected a metric .metrics: delivery-ratio"),
        (["--need", "delivery-ratio=95"], "need: delivery-ratio = 95: expected 0 to 1"),
        (["--need", "delivery-ratio=1"], "need: delivery-ratio = 1: expected less than 1"),
        (["--need", "delivery-ratio=nan"], "need: delivery-ratio = nan: expected 0 to 1"),
        (["--need", "latency-p95=fast"], "need: latency-p95 = fast: expected 0 or more"),
        (["--need", "stretch=0.5"], "need: stretch = 0.5: expected 1 or more"),
        (["--minimise", "power"], "minimise: expected a metric"),
        (["--minimise", "delivery-ratio"], "minimise = delivery-ratio: expected a cost, for"),
        (
            ["--replicates", "9", "--most", "3", "--until", "half-width=2%"],
            "replicates = 9: expected at most the maximum of 3",
        ),
        (["--replicates", "200000"], "replicates = 200000: expected 1 to 100,000"),
        (
            ["--set", "seed=7"],
            r"set seed: a comparison sets this field in each run \(use the option seed\)",
        ),
        (["--set", "system=gossip"], "use the option systems"),
        (["--sweep", "workload.events=-1"], "workload.events = -1: expected"),
        (["--sweep", "seed=1,2"], r"sweep\.seed: a sweep cannot change this field"),
        (["--sweep", "events"], "--sweep events: expected FIELD=VALUE"),
        (["--sweep", "faults[7].share=0.1"], r"\[7\]: expected \[0\], the only entry"),
        (["--sweep", "workload.events="], r"sweep\.workload\.events: expected at least one value"),
        (["--set", "workload.width=9"], "width = 9: expected 1 to topics = 1"),
        (
            ["--set", "network.n=5"],
            "network: degree = 9: expected a mean degree above 0 and at most 3.9",
        ),
        (["--system", "nowhere.py"], "system nowhere.py: no such file"),
        (["--system", "no.such.module"], "'no.such.module' is not a system .* a file that ends"),
        (["--system", "gossip"], "with your own protocol .*built-in systems in --systems gossip"),
    ],
)
def test_misuse_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], message: str
) -> None:
    import re

    command = ["compare", str(written(tmp_path)), "--out", str(tmp_path / "out"), *given]
    assert cli.main(command) == USER_ERROR
    line = capsys.readouterr().err
    assert re.search(message.replace("--", r"\-\-"), line)
    assert line.count("\n") == 1


def test_stopping_rules_are_read() -> None:
    assert stopping_rule("half-width=2%") == StoppingRule(0.02)
    assert stopping_rule("half-width=0.5%, energy") == StoppingRule(0.005, "energy")
    assert stopping_rule("half-width=0.03,recovery-rate") == StoppingRule(0.03, "recovery-rate")
    assert stopping_rule(None) is None


def test_a_system_that_cannot_run_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path)
    monkeypatch.setattr(
        "halfway.adapters.interface.UnsizedAdapter.unsupported",
        lambda self, _context: "no trees here" if self.module.__name__.endswith("gossip") else "",
    )
    request = read_request(path, PAIR)
    assert [one.name for one in request.systems] == ["flooding"]
    assert request.unsupported == {"gossip": "no trees here"}
    with pytest.raises(Problem, match="baseline = gossip: no trees here"):
        read_request(path, PAIR, baseline="gossip")
    with pytest.raises(Problem, match="no system can run here; gossip: no trees here"):
        read_request(path, ["gossip"])
    # The command reports it before anything runs, with --json too.
    fill(Store(tmp_path / "out" / "runs"), request, 2)
    command = ["compare", str(path), "--systems", ",".join(PAIR), "--replicates", "2", "--json"]
    assert cli.main([*command, "--no-map", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("halfway: gossip cannot run here: no trees here\n")
    assert len(printed.out.splitlines()) == len(METRICS) + 1  # and the decision


def test_late_notifications_are_observed_beside_the_metrics(tmp_path: Path) -> None:
    changes = {"window": "1", "workload.every_s": "0.001"}
    scenario = read_scenario(written(tmp_path), changes)
    found = observations(simulation_of(scenario, system="flooding"))
    outcome = simulation_of(scenario, system="flooding").run()
    assert found[LATE].tolist() == [outcome.late]
    assert outcome.late > 0
    assert SATURATED not in found  # counts of 0 are left out


def test_numbers_have_two_digits_of_their_margin() -> None:
    shown = {
        (0.99967, 0.0005): "0.99967 ± 0.00050", (6930.0, 306.0): "6,930 ± 306",
        (25.005, 0.012): "25.005 ± 0.012", (1033.0, 0.0): "1,033 ± 0", (0.0, 0.0): "0 ± 0",
    }  # fmt: skip
    for (value, half), text in shown.items():
        assert MeanInterval(value, value - half, value + half).text == text
    assert MeanInterval(3.0, math.nan, math.nan).text == "3"
    assert MeanInterval(math.nan, math.nan, math.nan).text == "–"


def test_both_ends_are_given_where_the_sides_differ() -> None:
    assert MeanInterval(1.7, 0.7, 5.6).text == "1.7 (0.7 to 5.6)"
    assert MeanInterval(10.0, 9.0, 11.2).text == "10.0 ± 1.2"  # by less than a fifth
    assert MeanInterval(-3.0, -9.0, 1.0).text == "-3.0 (-9.0 to 1.0)"
    assert MeanInterval(36_068.0, 35_000.0, 39_000.0).text == "36,068 (35,000 to 39,000)"


def test_a_mean_over_some_replicates_gives_their_number() -> None:
    whole = results()
    lone = tuple(
        replace(one, replicates=1, mean=MeanInterval(one.mean.value, math.nan, math.nan))
        if one.metric == "latency-p50"
        else one
        for one in whole.cells
    )
    for cells, few in ((lone, True), (whole.cells, False)):
        stream = io.StringIO()
        print_results(Console(file=stream, width=100), replace(whole, cells=cells))
        printed = stream.getvalue()
        assert (" [1]" in printed) == few
        assert ("[k] means that only k replicates" in " ".join(printed.split())) == few
