"""The programs in examples/ answer a bad input with one line."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("real_network", ["none.csv"], "none.csv: no such file"),
        ("real_network", ["links.csv", "--quality", "tq"], "no column 'tq'"),
        ("real_underlay", ["none.graphml"], "none.graphml: no such file"),
        ("tree_recovery", ["none.csv"], "none.csv: no such file"),
        ("tree_recovery", ["--networks", "0"], "--networks 0: expected at least 1"),
        ("moving_world", ["none.mob"], "none.mob: no such file"),
        ("moving_world", ["x.mob", "--seconds", "60"], "--seconds 60: expected more than 80"),
    ],
)
def test_a_bad_input_is_one_line(
    name: str, arguments: list[str], expected: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "links.csv").write_text("a,b\nhub,1\nhub,2\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert isinstance(caught.value.code, str)
    assert caught.value.code.startswith(f"{name}.py: ")
    assert expected in caught.value.code
    assert "\n" not in caught.value.code
