"""`halfway simulate` prints the notes of its system under the tables."""

from pathlib import Path

import pytest

from halfway import cli

SCENARIO = """
system = "random-walk"
seconds = 12
[network]
kind = "unit-disk"
n = 20
degree = 8.0
[workload]
events = 3
start_s = 5
[[faults]]
fault = "crash"
share = 0.2
at = 6
for = 2
memory = "lost"
"""


@pytest.mark.parametrize(
    ("changes", "noted"),
    [
        ([], True),
        (["options.random-walk.refresh_s=4"], False),
        (["faults[0].memory=kept"], False),
        (["system=flooding"], False),
    ],
)
def test_walks_that_do_not_heal_are_named_under_the_tables(
    changes: list[str], noted: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "mesh.toml"
    scenario.write_text(SCENARIO, "utf-8")
    assignments = [part for change in changes for part in ("--set", change)]
    assert cli.main(["simulate", str(scenario), *assignments]) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [k for k, line in enumerate(lines) if line.startswith("note: ")]
    assert len(starts) == noted
    if noted:
        assert lines[starts[0]].startswith("note: random-walk: trails that nodes forget")
        assert starts[0] > max(k for k, line in enumerate(lines) if line.startswith("digest "))
        assert len(lines) <= starts[0] + 2
        assert cli.main(["simulate", str(scenario), "--json"]) == 0
        assert "note" not in capsys.readouterr().out
