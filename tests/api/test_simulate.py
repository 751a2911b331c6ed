"""`halfway.simulate` from Python: what it accepts, and what it returns."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import halfway
from halfway.scenario.reading import read_scenario

PATH: dict[str, Any] = {
    "seconds": 8,
    "network": {"kind": "file", "path": "chain.csv"},
    "workload": {"subscribers_each": 2, "events": 3, "start_s": 1.0},
}


@pytest.fixture(autouse=True)
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A chain of six nodes, in the current folder."""
    file = tmp_path / "chain.csv"
    file.write_text("a,b\n" + "".join(f"n{i},n{i + 1}\n" for i in range(5)))
    monkeypatch.chdir(tmp_path)
    return file


def test_a_dict_a_file_and_a_scenario_are_the_same(tmp_path):
    file = tmp_path / "chain.toml"
    file.write_text(
        'seconds = 8\nnetwork = {kind = "file", path = "chain.csv"}\n'
        "workload = {subscribers_each = 2, events = 3, start_s = 1.0}\n"
    )
    given = [file, str(file), PATH, read_scenario(file)]
    digests = {halfway.simulate(one, seed=4).digest for one in given}
    assert len(digests) == 1
    assert halfway.simulate(PATH, seed=5).digest not in digests


def test_fields_are_replaced_by_name():
    found = halfway.simulate(PATH, "gossip", set={"workload.events": np.int64(2)}, seconds=9.0)
    assert (found.system, found.seconds, found.published) == ("gossip", 9.0, 2)
    assert PATH["workload"]["events"] == 3


def test_a_run_has_a_table_a_dict_and_short_texts():
    found = halfway.simulate(PATH)
    table = found.table()
    assert table.loc["delivery-ratio", "value"] == found.delivery_ratio == 1.0
    assert table.loc["energy", "unit"] == "J"
    assert table["value"].notna().all()
    assert found.to_dict()["latency_s"]["p95"] == found.latency_s.p95
    assert repr(found).startswith("SimulatedRun('flooding', nodes=6, seconds=8, seed=1, delivery_r")
    assert len(repr(found)) < 500
    assert "<td" in found._repr_html_()


def test_a_trace_is_written(tmp_path):
    halfway.simulate(PATH, trace="run.parquet")
    assert pq.read_table(tmp_path / "run.parquet").num_rows > 0


def test_a_user_protocol_is_simulated():
    mine = Path(__file__).parents[2] / "examples" / "my_protocol.py"
    scenario = {**PATH, "options": {"my-protocol": {"repeats": 9.0}}}
    found = halfway.simulate(scenario, str(mine))
    assert (found.system, found.delivery_ratio) == ("my-protocol", 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scenario": []}, "scenario = []: expected a path or a dict, not list"),
        ({"scenario": "absent.toml"}, "absent.toml: no such file or directory"),
        ({"system": 3}, 'system = 3: expected text, not int (write system="flooding")'),
        ({"system": "glossip"}, "system: 'glossip' is not a system (use one of flooding, gossip"),
        ({"system": "cell-hash"}, "'cell-hash' has a new name (use 'georendezvous')"),
        ({"seed": 1.5}, "seed = 1.5: expected a whole number, not float (write seed=1)"),
        ({"set": ["seconds=3"]}, "set = ['seconds=3']: expected a dict from field to value"),
        ({"set": {"network.kind.x": 3}}, "set network.kind.x: the scenario has no such table"),
        ({"system": "no.py"}, "system no.py: no such file or directory"),
        ({"sconds": 3}, "unknown field `sconds`; allowed here: network, system,"),
        ({"trace": 3}, 'trace = 3: expected a path, not int (write trace="run.parquet")'),
        ({"trace": "chain.csv"}, "the file exists and is not a Parquet file"),
    ],
)
def test_a_wrong_argument_is_one_line(given, message):
    with pytest.raises(halfway.Problem) as raised:
        halfway.simulate(**{"scenario": PATH, **given})
    assert message in str(raised.value)
    assert "--" not in raised.value.where + raised.value.what  # an option of the command
    assert "\n" not in str(raised.value)
