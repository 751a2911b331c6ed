"""An import inside a function has a reason."""

from pathlib import Path

from tests.house.late_imports import CHEAP, LATE, LIBRARIES, late_imports, unused_reasons
from tests.house.sources import REPOSITORY

TEXT = """
import json

def f():
    import time
    from pyarrow import parquet
    from halfway.sim import engine
    from halfway.problem import Problem
    from halfway.sim import radio  # imports the compiler
    # A circle otherwise.
    from halfway.sim import trace
"""


def written(root: Path, path: str) -> None:
    """Write the module of these tests to a place in the package."""
    file = root / "src/halfway" / path
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)


def lines(found: list[str]) -> list[tuple[int, str]]:
    """The line and the module of each finding."""
    return [(int(text.split(":")[1]), text.split()[2]) for text in found]


def test_every_late_import_has_a_reason() -> None:
    assert "\n".join(late_imports(REPOSITORY)) == ""
    assert unused_reasons(REPOSITORY) == []


def test_a_late_import_without_a_reason_is_seen(tmp_path: Path) -> None:
    written(tmp_path, "world/roles.py")
    found = late_imports(tmp_path)
    assert lines(found) == [(5, "time"), (7, "halfway.sim"), (8, "halfway.problem")]


def test_a_place_with_a_reason_imports_cheap_modules_at_the_top(tmp_path: Path) -> None:
    written(tmp_path, "cli/commands/walk.py")
    assert "halfway.problem" in CHEAP
    assert lines(late_imports(tmp_path)) == [(5, "time"), (8, "halfway.problem")]


def test_a_reason_that_no_import_needs_is_seen(tmp_path: Path) -> None:
    written(tmp_path, "cli/commands/walk.py")
    unused = unused_reasons(tmp_path)
    assert set(unused) == (LATE.keys() | LIBRARIES.keys()) - {"cli/", "pyarrow"}
