"""Every error for users states what is expected or what to do, and an error without it is seen."""

from pathlib import Path

import pytest

from tests.house.errors import errors_without_remedy
from tests.house.sources import REPOSITORY


def test_every_error_states_what_is_expected_or_what_to_do() -> None:
    assert "\n".join(errors_without_remedy(REPOSITORY)) == ""


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ('raise Problem(f"n = {n}: too few")', True),
        ('what = "too few"; raise Problem(what, where="here")', True),
        ('raise Problem(f"n = {n}: expected at least 2")', False),
        ('what = f"n = {n}: expected at least 2"; raise Problem(what)', False),
        ('raise Problem("too few", remedy="add nodes")', False),
        ("raise Problem(str(n))", False),  # another function has made this text
    ],
)
def test_an_error_without_a_remedy_is_seen(tmp_path: Path, body: str, seen: bool) -> None:
    file = tmp_path / "src" / "halfway" / "engine.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"def check(n):\n    {body}\n")
    errors = errors_without_remedy(tmp_path)
    assert [error.partition(":2:")[0] for error in errors] == ["src/halfway/engine.py"] * seen
