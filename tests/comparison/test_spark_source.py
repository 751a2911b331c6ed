"""The Spark data source over scenarios: it plans the runs of the command."""

import json
from pathlib import Path

import pytest

from halfway.adapters.interface import UnsizedAdapter
from halfway.comparison.plan import point_of
from halfway.comparison.request import read_request
from halfway.comparison.spark_source import HalfwaySource, ScenarioRuns
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import result
from halfway.problem import Problem
from halfway.protocols import gossip

_SCENARIO = """
seconds = 6
[network]
kind = "unit-disk"
n = 30
degree = 8.0
[workload]
topics = 1
publishers_each = 1
subscribers_each = 3
events = 2
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A network small enough for an interpreter."""
    path = tmp_path / "tiny.toml"
    path.write_text(_SCENARIO)
    return path


def _planned(source: HalfwaySource) -> list[tuple[dict[str, object], dict[str, object]]]:
    reader = source.reader(source.schema())
    assert isinstance(reader, ScenarioRuns)
    return [
        (row, words)
        for task in reader.partitions()
        for row, known in zip(task.rows, task.parameters, strict=True)
        for words in known
    ]


def test_it_plans_what_the_command_plans(scenario):
    options = {"scenario": str(scenario), "systems": "flooding, gossip", "replicates": "3",
               "seed": "5", "sweep.workload.events": "2,4", "set.seconds": "5",
               "partitions": "4"}  # fmt: skip
    source = HalfwaySource(options)
    assert source.schema().simpleString() == (
        "struct<key:string,measurement:string,system:string,workload_events:bigint,replicate:int,"
        "metric:string,unit:int,value:double,t0_s:double,t1_s:double,error:string>"
    )
    pairs = _planned(source)
    request = read_request(scenario, ["flooding", "gossip"], replicates=3, changes={"seconds": "5"},
                     sweeps={"workload.events": "2,4"})  # fmt: skip
    points = [point_of(p.scenario, one) for p in request.points for one in request.systems]
    assert {row["key"] for row, _ in pairs} == set(plan(points, 3, 5)["key"].to_pylist())
    assert len(pairs) == 12
    for row, words in pairs:
        parameters = json.loads(str(row["parameters"]))
        events = json.loads(parameters["scenario"])["workload"]["events"]
        assert words == {"system": parameters["system"], "workload_events": events}


def test_a_run_belongs_to_every_point_that_varies_an_option_of_another_system(scenario):
    options = {"scenario": str(scenario), "systems": "flooding,gossip", "replicates": "1",
               "sweep.options.gossip.fanout": "2,3"}  # fmt: skip
    pairs = _planned(HalfwaySource(options))
    systems = sorted((words["system"], words["options_gossip_fanout"]) for _, words in pairs)
    assert systems == [("flooding", 2), ("flooding", 3), ("gossip", 2), ("gossip", 3)]
    assert len({row["key"] for row, _ in pairs}) == 3


def test_options_of_a_user_system_may_be_swept(scenario):
    own = Path(__file__).parents[2] / "examples" / "my_protocol.py"
    options = {"scenario": str(scenario), "system": str(own),
               "sweep.options.my-protocol.repeats": "2.5,3.5"}  # fmt: skip
    assert "options_my-protocol_repeats:double" in HalfwaySource(options).schema().simpleString()


def test_an_unsupported_system_is_a_row(scenario, monkeypatch):
    def unsupported(adapter: UnsizedAdapter, _context: object) -> str:
        return "no gossip here" if adapter.module is gossip else ""

    monkeypatch.setattr(UnsizedAdapter, "unsupported", unsupported)
    options = {"scenario": str(scenario), "replicates": "2", "systems": "gossip,flooding"}
    pairs = _planned(HalfwaySource(options))
    (row,) = [pair for pair in pairs if pair[0]["key"] is None]
    assert row == (
        {"key": None, "status": "error", "error": "cannot run here: no gossip here"},
        {"system": "gossip"},
    )
    assert [words["system"] for row, words in pairs if row["key"]] == ["flooding", "flooding"]


def test_a_metric_over_time_has_the_ends_of_its_bins(scenario):
    source = HalfwaySource(
        {"scenario": str(scenario), "systems": "flooding", "replicates": "1", "set.seconds": "30"}
    )
    reader = source.reader(source.schema())
    (partition,) = reader.partitions()
    rows = [row for batch in reader.read(partition) for row in batch.to_pylist()]
    sent = [row for row in rows if row["metric"] == "messages-over-time"]
    assert [row["t0_s"] for row in sent] == pytest.approx([k / 2 for k in range(60)])
    assert [row["t1_s"] for row in sent] == pytest.approx([(k + 1) / 2 for k in range(60)])
    ratio = [row for row in rows if row["metric"] == "delivery-ratio-over-time"]
    assert 0 < len(ratio) < 60  # a bin without a publication has no row
    assert all(row["t1_s"] - row["t0_s"] == pytest.approx(0.5) for row in ratio)
    others = [row for row in rows if not row["metric"].endswith("-over-time")]
    assert others
    assert all(row["t0_s"] is None is row["t1_s"] for row in others)
    assert not [row for row in rows if "t0_s" in row["metric"] or "bins" in row["metric"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": "0"}, "option replicates = 0: expected a whole number, at least 1"),
        ({"seed": "x"}, "option seed = x: expected a whole number, at least 0"),
        ({"sistems": "gossip"}, r"option sistems: expected one of .*systems"),
        ({"sweep.seed": "1,2"}, "a sweep cannot change this (field|value)"),
    ],
)
def test_invalid_options_are_named(scenario, options, message):
    with pytest.raises(Problem, match=message):
        _planned(HalfwaySource({"scenario": str(scenario), **options}))


@pytest.mark.slow
def test_a_scenario_becomes_rows(scenario, spark):
    spark.dataSource.register(HalfwaySource)
    frame = (
        spark.read.format("halfway").option("scenario", str(scenario))
        .option("systems", "flooding,gossip").option("replicates", 2).load()
    )  # fmt: skip
    rows = [row for row in frame.collect() if row["metric"] == "delivery-ratio"]
    expected = {
        (row["key"], float(result(row)["observations"]["delivery-ratio"][0]))
        for row, _ in _planned(
            HalfwaySource(
                {"scenario": str(scenario), "systems": "flooding,gossip", "replicates": "2"}
            )
        )
    }
    assert {(row["key"], row["value"]) for row in rows} == expected
    assert {row["system"] for row in rows} == {"flooding", "gossip"}
