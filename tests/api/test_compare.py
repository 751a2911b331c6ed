"""`halfway.compare` from Python on a filled store: arguments, table, chart, page and texts."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import halfway
from halfway.api.comparison import Comparison
from halfway.comparison.request import read_request
from halfway.pipeline.store.store import Store
from halfway.problem import Problem
from tests.comparison.scenarios import fill

SMALL: dict[str, Any] = {
    "title": "a <b>field</b>",
    "seconds": 8,
    "network": {"kind": "unit-disk", "n": 20, "degree": 8.0},
    "workload": {"subscribers_each": 4, "events": 4, "start_s": 1.0},
}
PAIR = ["gossip", "flooding"]


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished runs need no Spark."""

    def refuse(_master: str | None = None) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr("halfway.pipeline.spark.session.session", refuse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all runs of these tests: three replicates, at two numbers of events."""
    out = tmp_path_factory.mktemp("comparison")
    store = Store(out / "runs")
    fill(store, read_request(SMALL, PAIR, replicates=3))
    sweeps = {"workload.events": "2,3", "seconds": "8,9"}
    fill(store, read_request(SMALL, PAIR, replicates=3, sweeps=sweeps))
    return out


@pytest.fixture
def found(folder: Path) -> Comparison:
    """A comparison without a sweep."""
    return halfway.compare(SMALL, "gossip, flooding", replicates=3, out=folder)


@pytest.fixture
def swept(folder: Path) -> Comparison:
    """A comparison with a sweep of two fields."""
    sweep = {"workload.events": [2, 3], "seconds": "8,9"}
    return halfway.compare(SMALL, PAIR, replicates=3, sweep=sweep, out=folder)


def test_a_table_has_a_row_for_each_system(found):
    table = found.table("energy")
    assert list(table.index) == ["gossip", "flooding"]
    assert list(table.columns) == ["mean", "low", "high"]
    mean = found.results.cell(0, "flooding", "energy").mean
    assert tuple(table.loc["flooding"]) == (mean.value, mean.low, mean.high)


def test_a_table_of_a_sweep_has_the_columns_of_each_point(swept):
    table = swept.table("energy")
    assert table.columns.names == ["workload.events", "seconds", None]
    assert table.shape == (2, 12)
    mean = swept.results.cell(3, "gossip", "energy").mean
    assert table.loc["gossip", (3, 9, "low")] == mean.low


def test_a_wrong_metric_is_answered_with_the_nearest(found):
    message = "metric = 'enegry': there is no such metric (use 'energy')"
    for ask in (found.table, found.plot):
        with pytest.raises(Problem) as raised:
            ask("enegry")
        assert str(raised.value) == message


def test_a_chart_shows_means_and_intervals(found):
    chart = found.plot("energy").to_dict()
    [rows] = chart["datasets"].values()
    mean = found.results.cell(0, "gossip", "energy").mean
    expected = {"system": "gossip", "mean": mean.value, "low": mean.low, "high": mean.high}
    assert expected.items() <= rows[0].items()
    assert len(rows) == 2
    colours = chart["layer"][0]["encoding"]["color"]["scale"]
    assert colours["domain"] == ["gossip", "flooding"]
    assert colours["range"] == ["#c27f00", "#0072b2"]  # of the page, in its light theme


def test_a_chart_of_a_sweep_has_a_panel_for_each_other_swept_field(swept, tmp_path):
    chart = swept.plot("messages-per-notification")
    plain = chart.to_dict()
    [rows] = plain["datasets"].values()
    assert {row["panel"] for row in rows} == {
        "seconds=8", "seconds=9"
    }  # fmt: skip
    assert plain["spec"]["layer"][0]["encoding"]["x"]["type"] == "quantitative"
    chart.save(str(tmp_path / "chart.svg"))
    assert "seconds=9" in (tmp_path / "chart.svg").read_text("utf-8")


def test_a_page_is_written(found, tmp_path, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = found.page(tmp_path / "new" / "page.html", maps=False, show=True)
    page = path.read_text("utf-8")
    assert opened == [path.as_uri()]
    assert "gossip" in page
    assert 'id="map"' not in page
    page_of_study = found.folder / found.results.study / "comparison.html"
    assert found.page() == page_of_study
    assert 'id="map"' in page_of_study.read_text("utf-8")


def test_a_notebook_shows_a_short_escaped_table(found, swept):
    shown = found._repr_html_()
    assert "a &lt;b&gt;field&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "delivery ratio" in shown
    assert len(shown) < 5000
    assert swept._repr_html_().count("<tr>") == 1 + 2 * 4


def test_the_texts_are_short(found, swept):
    for one in (found, swept):
        assert len(repr(one)) < 500
    assert repr(found).startswith("Comparison('a <b>field</b>': gossip, flooding; 1 point, 3 repl")


def test_progress_in_a_notebook_is_a_few_plain_lines(folder, monkeypatch, capsys):
    def compared(progress: bool | None = None) -> tuple[str, str]:
        halfway.compare(SMALL, PAIR, replicates=3, out=folder, progress=progress)
        return tuple(capsys.readouterr())

    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert compared() == ("", "")
    assert compared(progress=True) == ("", "halfway: starting\n")
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert compared() == ("halfway: starting\n", "")
    assert compared(progress=False) == ("", "")


def test_one_system_may_be_named(folder):
    found = halfway.compare(SMALL, "flooding", replicates=3, out=folder)
    assert found.results.systems == ("flooding",)


def test_a_dict_is_compared_like_its_file(folder, tmp_path):
    path = tmp_path / "field.toml"
    path.write_text(
        'title = "a <b>field</b>"\nseconds = 8\nnetwork = {kind = "unit-disk", n = 20, degree = 8}'
        "\nworkload = {subscribers_each = 4, events = 4, start_s = 1}\n"
    )
    file = halfway.compare(path, PAIR, replicates=3, out=folder)
    assert (
        file.results.digest == halfway.compare(SMALL, PAIR, replicates=3, out=folder).results.digest
    )
    changed = {**SMALL, "workload": {**SMALL["workload"], "events": 9}}
    again = halfway.compare(changed, PAIR, replicates=3, set={"workload.events": 4}, out=folder)
    assert again.results.digest == file.results.digest


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scenario": 3}, "scenario = 3: expected a path or a dict, not int (write"),
        (
            {"scenario": {"network": {3: 4}}},
            "network = {3: 4}: expected text as the keys",
        ),
        ({"scenario": {"network": {"kind": "file", "path": "no.csv"}}}, "no.csv"),
        ({"scenario": {**SMALL, "secs": 3}}, "scenario: unknown field `secs`"),
        ({"systems": 3}, "systems = 3: expected names of systems, not int (write systems="),
        ({"systems": ["flooding", 3]}, "systems = ['flooding', 3]: expected names of systems"),
        ({"systems": " , "}, "systems = ' , ': expected at least one name (write"),
        ({"systems": "glossip"}, "'glossip' is not a system (use one of flooding, "),
        ({"systems": "mine.py"}, 'mine.py is a file (write user_systems=["mine.py"])'),
        ({"user_systems": 3}, "user_systems = 3: expected text or a list of texts, not int"),
        ({"replicates": "5"}, "replicates = '5': expected a whole number, not str (write"),
        ({"replicates": True}, "replicates = True: expected a whole number, not bool"),
        ({"replicates": 0}, "replicates = 0: expected 1 to 100,000"),
        ({"baseline": 3}, 'baseline = 3: expected text, not int (write baseline="flooding")'),
        ({"seed": -1}, "seed = -1: expected 0 to 18,446,744,073,709,551,615"),
        ({"set": 3}, "set = 3: expected a dict from field to value, not int (write set={"),
        ({"set": {"seconds": sys}}, "expected a value of TOML, not module"),
        ({"set": {"seconds": "8"}}, "seconds = '8': expected a number, not text"),
        ({"sweep": {"seconds": 8}}, "sweep seconds = 8: expected a list of values, not int"),
        ({"sweep": {"seed": [8]}}, "sweep.seed: a sweep cannot change this field"),
        ({"set": {"seed": 3}}, "set seed: a comparison sets this field in each run (use the opti"),
        ({"set": {"network.kind.x": 3}}, "set network.kind.x: the scenario has no such table"),
        ({"until": "half-width=3"}, "until = half-width=3: expected a half-width above 0% and"),
        ({"until": "fast"}, "until = fast: expected a stopping rule (use half-width=2% or"),
        (
            {"until": "half-width=2%", "replicates": 9, "max_replicates": 3},
            "most the maximum of 3 (",
        ),
        ({"user_systems": "no.py"}, "system no.py: no such file or directory"),
        ({"master": "sparky"}, "master sparky: expected a Spark master (for example local[4],"),
        ({"need": 0.9}, "need = 0.9: expected a dict, not float (write need="),
        ({"out": 3}, "out = 3: expected a path, not int"),
        ({"progress": 3}, "progress = 3: expected true, false or a function"),
    ],
)
def test_a_wrong_argument_is_one_line_with_a_remedy(given, message, tmp_path):
    arguments = {"scenario": SMALL, "systems": PAIR, "out": tmp_path / "out", **given}
    with pytest.raises(halfway.Problem) as raised:
        halfway.compare(**arguments)
    assert message in str(raised.value)
    assert "--" not in raised.value.where + raised.value.what  # an option of the command
    assert "\n" not in str(raised.value)


def test_every_value_of_toml_can_be_set():
    from halfway.api.arguments import changes_argument
    from halfway.scenario.reading import written

    values: dict[str, Any] = {
        "text": 'a "quoted" \\ café\ttab', "whole": 3, "real": 0.5, "far": float("inf"),
        "yes": True, "list": [1, "a"], "table": {"a key": 1, "b": {"c": False}},
    }  # fmt: skip
    texts = changes_argument(values)
    assert {field: written(text, field) for field, text in texts.items()} == values
    assert json.loads(texts["yes"]) is True
