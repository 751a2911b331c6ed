"""The tables that lead from a paper's rules to code and tests: every name in them exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import PACKAGE

HEADING = "## Where each rule is"
_CODE = re.compile(r"`((?:protocols|bulk|papers|world)\.[\w.]+)`")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_DECISION = re.compile(r"decisions/(\d{4})")


def rules_without_place(root: Path, page: str) -> list[str]:
    """Rows of a page's table without a function, a test or a section, and names of nothing."""
    rows = list(_rows(page))
    if not rows:
        return [f"no table under `{HEADING}`"]
    found = []
    for row in rows:
        rule = row.split("|")[1].strip()
        codes, tests = _CODE.findall(row), _TEST.findall(row)
        if not (codes and tests and re.search(r"§|Fig\.|Alg\.", rule)):
            found.append(f"{rule}: expected a section, a function and a test")
        found += [f"{rule}: no {code}" for code in codes if not _has_function(root, code)]
        for file, name in tests:
            if name not in _names(root / file):
                found.append(f"{rule}: no {file}::{name}")
    return found


def decisions_without_reader(root: Path) -> list[str]:
    """Decision records that no code and no page leads to, and links to no record."""
    folder = root / "docs" / "decisions"
    known = {path.name[:4] for path in folder.glob("0*.md")}
    texts = [*(root / "src").rglob("*.py"), *(root / "docs").rglob("*.md"), *root.glob("*.md")]
    named = {
        number
        for path in texts
        if path.parent != folder
        for number in _DECISION.findall(path.read_text("utf-8"))
    }
    return [f"decision {number}: nothing leads to it" for number in sorted(known - named)] + [
        f"decision {number}: there is none" for number in sorted(named - known)
    ]


def _rows(page: str) -> Iterator[str]:
    """The rows of the table, without its heading."""
    body = page.partition(HEADING)[2].partition("\n## ")[0]
    yield from [line for line in body.splitlines() if line.startswith("| ")][1:]


def _has_function(root: Path, code: str) -> bool:
    module, _, name = code.rpartition(".")
    return name in _names(root / "src" / PACKAGE / (module.replace(".", "/") + ".py"))


def _names(file: Path) -> set[str]:
    """The functions and classes at the top of a file; none if there is no such file."""
    if not file.exists():
        return set()
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, kinds)}
