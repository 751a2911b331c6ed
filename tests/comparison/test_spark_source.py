"""The data source over scenarios: what it plans is what the command plans, and who cannot run."""

import json
from pathlib import Path

import pytest

from halfway.adapters.interface import BroadcastAdapter
from halfway.comparison.points import point_of
from halfway.comparison.request import asked
from halfway.comparison.spark_source import HalfwaySource, ScenarioRuns
from halfway.pipeline.plan.plan import plan
from halfway.pipeline.spark.simulate import result
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
        for row, known in zip(task.rows, task.words, strict=True)
        for words in known
    ]


def test_it_plans_what_the_command_plans(scenario):
    options = {"scenario": str(scenario), "systems": "flooding, gossip", "replicates": "3",
               "seed": "5", "sweep.workload.events": "2,4", "set.seconds": "5",
               "partitions": "4"}  # fmt: skip
    source = HalfwaySource(options)
    assert source.schema().simpleString() == (
        "struct<key:string,measurement:string,system:string,workload_events:bigint,replicate:int,"
        "metric:string,unit:int,value:double,error:string>"
    )
    pairs = _planned(source)
    question = asked(scenario, ["flooding", "gossip"], replicates=3, changes={"seconds": "5"},
                     sweeps={"workload.events": "2,4"})  # fmt: skip
    points = [point_of(p.scenario, one) for p in question.points for one in question.contenders]
    assert {row["key"] for row, _ in pairs} == set(plan(points, 3, 5)["key"].to_pylist())
    assert len(pairs) == 12
    for row, words in pairs:
        told = json.loads(str(row["parameters"]))
        events = json.loads(told["scenario"])["workload"]["events"]
        assert words == {"system": told["system"], "workload_events": events}


def test_a_run_stands_at_every_point_that_varies_an_option_of_another_system(scenario):
    options = {"scenario": str(scenario), "systems": "flooding,gossip", "replicates": "1",
               "sweep.options.gossip.fanout": "2,3"}  # fmt: skip
    pairs = _planned(HalfwaySource(options))
    told = sorted((words["system"], words["options_gossip_fanout"]) for _, words in pairs)
    assert told == [("flooding", 2), ("flooding", 3), ("gossip", 2), ("gossip", 3)]
    assert len({row["key"] for row, _ in pairs}) == 3


def test_options_of_a_system_of_ones_own_may_be_swept(scenario):
    own = Path(__file__).parents[2] / "examples" / "my_protocol.py"
    options = {"scenario": str(scenario), "system": str(own),
               "sweep.options.my-protocol.enough": "2,3"}  # fmt: skip
    assert "options_my-protocol_enough:bigint" in HalfwaySource(options).schema().simpleString()


def test_who_cannot_run_there_is_a_row(scenario, monkeypatch):
    def unfit_gossip(adapter: BroadcastAdapter, _scene: object) -> str:
        return "it is out of breath" if adapter.module is gossip else ""

    monkeypatch.setattr(BroadcastAdapter, "unfit", unfit_gossip)
    options = {"scenario": str(scenario), "replicates": "2", "systems": "gossip,flooding"}
    pairs = _planned(HalfwaySource(options))
    (unsupported,) = [pair for pair in pairs if pair[0]["key"] is None]
    assert unsupported == (
        {"key": None, "status": "error", "error": "cannot run here: it is out of breath"},
        {"system": "gossip"},
    )
    assert [words["system"] for row, words in pairs if row["key"]] == ["flooding", "flooding"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"replicates": "0"}, "option replicates = 0 is no whole number from 1 on"),
        ({"seed": "x"}, "option seed = x is no whole number"),
        ({"sistems": "gossip"}, r"option sistems is none of .*systems"),
        ({"sweep.seed": "1,2"}, "this cannot be swept"),
    ],
)
def test_options_that_mean_nothing_are_named(scenario, options, told):
    with pytest.raises(Problem, match=told):
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
