"""Remarks on a scenario: what files left out, and work that does not fit; in every command."""

import json
from pathlib import Path

import pytest

from halfway import cli
from halfway.cli.terminal.screen import USER_ERROR
from halfway.comparison.request import read_request
from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.reading import read_scenario
from halfway.scenario.remarks import remarks_of

MESH = """
seconds = 12
[network]
kind = "file"
path = "mesh.csv"
[workload]
events = 5
subscribers_each = 3
"""
MOVED = """
seconds = 12
[network]
kind = "recorded"
path = "tracks.csv"
radius = 50.0
[workload]
events = 0
"""
# A hub with a bridge to a chain; two nodes stand apart, behind a link below the limit.
LINKS = "a,b,tq\nhub,n1,255\nhub,n2,230\nhub,bridge,240\nbridge,c1,220\nc1,c2,210\nfar1,far2,250\n"
LATE = "events are not published: they are due after the end of the run (seconds = 12)"


def written(folder: Path, text: str, **files: str) -> Path:
    for name, content in {"mesh": LINKS, **files}.items():
        (folder / f"{name}.csv").write_text(content, "utf-8")
    scenario = folder / "mesh.toml"
    scenario.write_text(text, "utf-8")
    return scenario


def remarks(scenario: Path, **changes: str) -> tuple[str, ...]:
    read = read_scenario(scenario, {name.replace("__", "."): v for name, v in changes.items()})
    return remarks_of(read, prepared(read))


def test_nodes_that_were_left_out_are_named_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = written(tmp_path, MESH)
    left_out = "mesh.csv: left out 2 nodes outside the largest component (far1, far2)"
    assert cli.main(["simulate", str(scenario), "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"halfway: {left_out}\n"
    assert json.loads(printed.out)["nodes"] == 6
    assert read_request(scenario, ["flooding"]).remarks == [left_out]
    assert cli.main(["walk", str(tmp_path / "mesh.csv"), "--largest"]) == 0
    assert capsys.readouterr().err == f"halfway: {left_out}\n"


def test_a_network_that_is_too_small_names_what_was_left_out(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"a sum of at most n = 6 nodes.*left out 2 nodes .*far1"):
        remarks(written(tmp_path, MESH), workload__subscribers_each="6")


def test_positions_that_lack_nodes_are_refused_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MESH.replace('path = "mesh.csv"', 'path = "mesh.csv"\npositions = "at.csv"')
    places = "id,x,y\n" + "".join(f"{name},1,{k}\n" for k, name in enumerate(("hub", "n1")))
    scenario = written(tmp_path, text, at=places)
    expected = "at.csv: no position for 4 of 6 nodes (n2, bridge, c1, c2) (add their positions"
    for arguments in (
        ["simulate", str(scenario)],
        ["compare", str(scenario), "--systems", "flooding"],
        ["walk", str(tmp_path / "mesh.csv"), "--largest", "--positions", str(tmp_path / "at.csv")],
    ):
        assert cli.main(arguments) == USER_ERROR
        assert expected in capsys.readouterr().err


def test_a_sweep_names_the_point_of_a_remark(tmp_path: Path) -> None:
    text = MESH.replace('path = "mesh.csv"', 'path = "mesh.csv"\nquality = "tq"')
    request = read_request(
        written(tmp_path, text), ["flooding"], sweeps={"network.over": "100,225"},
        changes={"workload.subscribers_each": "1"},
    )  # fmt: skip
    assert request.remarks[0] == (
        "mesh.csv: each link is in the table once, so tq holds in both directions"
    )
    assert "mesh.csv: kept 4 of 6 links: tq > 225 (at network.over = 225)" in request.remarks


def test_ratios_of_one_direction_hold_in_both_and_say_so(tmp_path: Path) -> None:
    radio = '[radio]\nkind = "ideal"\nratios = "mesh.csv"\nratio_columns = ["tq"]\n'
    scenario = written(tmp_path, MESH + radio)
    found = remarks(scenario, radio__ratio_scale="255")
    assert "mesh.csv: each link is in the table once, so tq holds in both directions" in found
    assert cli.main(["simulate", str(scenario), "--set", "radio.ratio_scale=255"]) == 0


def test_ratios_of_another_scale_name_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    radio = '[radio]\nkind = "contention"\nratios = "mesh.csv"\nratio_columns = ["tq"]\n'
    assert cli.main(["simulate", str(written(tmp_path, MESH + radio))]) == USER_ERROR
    error = capsys.readouterr().err
    assert "mesh.csv:2:3: ratio = 255: expected 0 to 1; give the value of a perfect link" in error
    assert "radio.ratio_scale" in error


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"workload__events": "12", "seconds": "12"},
         [f"1 of 12 {LATE}"]),
        ({"workload__events": "11", "seconds": "12"}, []),
        ({"workload__events": "100", "workload__every_s": "0.25"},
         [f"56 of 100 {LATE}"]),
        ({"workload__start_s": "500"},
         ["no event is published: workload.start_s = 500, and the run ends at seconds = 12"]),
        ({"faults": '[{fault="crash", share=0.1, at=600.0}, {fault="crash", share=0.1, at=3.0}]'},
         ["faults[0] (crash) has no effect: at = 600, and the run ends at seconds = 12"]),
    ],
)  # fmt: skip
def test_work_that_does_not_fit_is_named(
    tmp_path: Path, changes: dict[str, str], expected: list[str]
) -> None:
    scenario = written(tmp_path, MESH, mesh="a,b\nhub,1\nhub,2\nhub,3\n2,3\n")
    assert list(remarks(scenario, **changes)) == expected


def test_poisson_events_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    scenario = written(tmp_path, MESH, mesh="a,b\nhub,1\nhub,2\nhub,3\n2,3\n")
    read = read_scenario(scenario, {"workload.events": "40", "workload.arrivals": "poisson"})
    ready = prepared(read)
    published = len(ready.demand.begun_again().next_publications(12.0, 100).t)
    (remark,) = remarks_of(read, ready)
    assert remark.startswith(f"about {40 - published} of 40 events are not published")


def test_movement_that_ends_early_is_named(tmp_path: Path) -> None:
    tracks = "id,t,x,y\na,0,0,0\na,8,20,0\nb,0,9,0\nb,10,9,9\n"
    scenario = written(tmp_path, MOVED, tracks=tracks)
    (found,) = remarks(scenario)
    assert found.startswith("tracks.csv: the last node leaves at 10 s, before the end of the run")
    assert found.endswith("(seconds = 12)")
    assert remarks(scenario, seconds="9") == ()
    with pytest.raises(Problem, match="no node exists after begin_s = 30"):
        remarks(scenario, network__begin_s="30")


def test_a_scenario_file_that_is_too_large_is_refused_at_once(tmp_path: Path) -> None:
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file of a terabyte
    with pytest.raises(Problem, match=r"large\.toml: the file is too large: expected at most 4 MB"):
        read_scenario(large)
