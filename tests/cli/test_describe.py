"""Tests of `halfway list` and `halfway options`: every system, every option, users' protocols."""

import json
from pathlib import Path

import pytest

from halfway.adapters.registry import TABLE
from halfway.cli import main
from halfway.core.compiler import cache
from halfway.protocols import SYSTEMS

MINE = Path(__file__).parents[2] / "examples" / "my_protocol.py"


def test_every_system_has_an_idea_and_a_paper() -> None:
    assert all(about.idea.endswith(".") and about.paper for about in SYSTEMS.values())


def test_the_list_describes_every_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out.partition("\nsystems")[2]
    assert all(f"  {name} " in printed for name in SYSTEMS)
    assert "Ni, Tseng, Chen & Sheu 1999" in printed


def test_the_options_of_one_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "gossip"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in TABLE["gossip"].options)
    assert "0 to 1e+09 s" in printed
    assert "--set options.gossip.fanout=3" in printed
    assert "anti-entropy" not in printed


def test_json_has_the_options_of_all_systems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = {(one.name, option) for one in TABLE.values() for option in one.options}
    assert {(row["system"], row["option"]) for row in rows} == expected


def test_the_options_of_a_users_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", str(MINE)]) == 0
    assert "my-protocol" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["drup", "cell-hash", "none.py"])
def test_an_unknown_system_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", name]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_cache_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/cache")
    assert main(["schema"]) == 0
    assert "cannot be written" not in capsys.readouterr().err
    monkeypatch.setattr(cache, "CACHE_FOLDER", Path("/tmp/halfway-cache-x1"))  # a temporary one
    assert main(["schema"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("halfway: /proc/cache/halfway: cannot be written: compiled code is not")
    assert "set XDG_CACHE_HOME to a writable folder" in line
