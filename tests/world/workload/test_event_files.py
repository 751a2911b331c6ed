"""Tests of the reader of recorded workloads: CSV, Parquet and logs, and their errors."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from halfway.problem import Problem
from halfway.world.workload.event_files import read_events, read_roles
from halfway.world.workload.named_roles import NamedRole

CSV = "time,node,topic,size\n3,gate,rain,40\n1.5,roof,heat,\n"


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def test_a_csv_file_gives_times_nodes_topics_and_sizes(tmp_path: Path) -> None:
    found = read_events(written(tmp_path, "events.csv", CSV), {})
    assert found.time.tolist() == [3.0, 1.5]
    assert (found.node, found.topic) == (["gate", "roof"], ["rain", "heat"])
    assert found.size is not None
    assert found.size.tolist() == [40, 0]


def test_a_parquet_file_and_a_log_give_the_same(tmp_path: Path) -> None:
    table = pa.table({"time": [3.0, 1.5], "node": ["gate", "roof"], "topic": ["rain", "heat"]})
    parquet.write_table(table, tmp_path / "events.parquet")
    log = written(tmp_path, "events.log", "# seconds node topic\n3 gate rain\n1.5 roof heat\n")
    for file in (tmp_path / "events.parquet", log):
        found = read_events(file, {})
        assert (found.time.tolist(), found.node) == ([3.0, 1.5], ["gate", "roof"])
        assert (found.topic, found.size) == (["rain", "heat"], None)


def test_other_columns_and_dates(tmp_path: Path) -> None:
    text = "when,who\n2020-01-01T00:00:10+00:00,a\n2020-01-01T00:00:00+00:00,b\n"
    found = read_events(written(tmp_path, "x.csv", text), {"time": "when", "node": "who"})
    assert found.time[0] - found.time[1] == 10.0
    assert found.topic == ["0", "0"]


@pytest.mark.parametrize(
    ("name", "text", "columns", "what"),
    [
        ("a.csv", "time,x\n1,2\n", {}, "no column 'node'"),
        ("a.csv", CSV, {"when": "time"}, "workload.columns.when: expected one of time, node"),
        ("a.csv", CSV.replace("1.5", "soon"), {}, "column time = 'soon': expected a number or"),
        ("a.csv", CSV.replace("40", "4.5"), {}, "column size = 4.5: expected 0 to 1,000,000 bytes"),
        ("a.csv", "time,node,topic\n1,a,\n", {}, ":2:3: the field is empty: expected a topic"),
        ("a.log", "1,a,fire\n", {}, "for fields between commas or semicolons, name the file .csv"),
        ("a.json", CSV, {}, "unknown suffix '.json'"),
        ("a.parquet", CSV, {}, "expected a Parquet file"),
    ],
)
def test_a_bad_file_is_an_error(
    tmp_path: Path, name: str, text: str, columns: dict[str, str], what: str
) -> None:
    with pytest.raises(Problem, match=what):
        read_events(written(tmp_path, name, text), columns)


def test_subscriptions_of_a_file_may_begin_and_end(tmp_path: Path) -> None:
    text = "node,topic,from_s,until_s\ngate,rain,,9\nroof,heat,2,\n"
    found = read_roles(written(tmp_path, "roles.csv", text))
    assert found == [
        NamedRole("gate", "rain", 0.0, 9.0),
        NamedRole("roof", "heat", 2.0),
    ]
    assert read_roles(written(tmp_path, "some.csv", "node\nyard\n")) == [NamedRole("yard", None)]
