"""Docstrings cite names that exist, and the reader that says so would notice a dead one."""

from pathlib import Path

import pytest

from tests.house import references
from tests.house.sources import REPOSITORY


def test_names_in_docstrings_exist() -> None:
    assert "\n".join(references.dead_references(REPOSITORY)) == ""


def package(root: Path, docstring: str) -> Path:
    """A repository whose function `read` has the docstring, beside a module and a command."""
    folder = root / "src" / "halfway"
    (folder / "cli").mkdir(parents=True)
    (folder / "cli" / "walk.py").write_text("def walk(seed, out_file): ...\n")
    (folder / "graph.py").write_text("class Graph:\n    rows: int\nlimit = 3\n")
    (folder / "reader.py").write_text(
        f'OPTIONS = {{"range_m": 3}}\ndef read(path, *, low=0):\n    """{docstring}"""\n'
    )
    (root / "docs").mkdir()
    (root / "docs" / "0001-a-layout.md").write_text("")
    return root


@pytest.mark.parametrize(
    ("docstring", "dead"),
    [
        ("Read `file`.", "file"),
        ("Read `limit` rows.", "limit"),
        ("Read a `Grid`.", "Grid"),
        ("Read `Graph.columns`.", "Graph.columns"),
        ("Read as `load()`.", "load()"),
        ("Read as `graphs.py`.", "graphs.py"),
        ("Read as `docs/0002`.", "docs/0002"),
        ("Read as `halfway run`.", "halfway run"),
        ("Read as `halfway walk --network`.", "halfway walk --network"),
        ("Read as `python -m halfway.load`.", "python -m halfway.load"),
        ("Read it. high: the last row.", "high:"),
    ],
)
def test_a_name_that_does_not_exist_is_seen(tmp_path: Path, docstring: str, dead: str) -> None:
    found = references.dead_references(package(tmp_path, docstring))
    assert found == [f"src/halfway/reader.py:2: {dead}"]


@pytest.mark.parametrize(
    "docstring",
    [
        "Read `path` from `low`, not `None`.",
        "Read `range_m` of a `Graph`, its `Graph.rows`, as `walk()` in `graph.py`.",
        "Read as `docs/0001`, `halfway walk --out-file` or `python -m halfway.graph`.",
        "Read it. path, low: the file and its first row. Note: all of it.",
    ],
)
def test_names_that_exist_pass(tmp_path: Path, docstring: str) -> None:
    assert references.dead_references(package(tmp_path, docstring)) == []
