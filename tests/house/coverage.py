"""The tables that lead from a paper's rules to code and tests: every name in them exists."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.sources import PACKAGE, python_files

HEADING = "## Where each rule is"
_PROTOCOLS = ("protocols", "bulk")  # rooms whose functions are the rules of papers
_SECTION = re.compile(r"§|\b(?:Alg\.|Algorithm|Fig\.) ?\d")
_TEXTBOOK = re.compile(r"\[Knuth[^\]]*\]")  # an algorithm of a textbook is not a rule of a system
_CODE = re.compile(r"`((?:protocols|bulk|papers|world)\.[\w.]+)`")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
# Pages of papers -> the tag by which comments and tests cite the paper.
TAGS = {
    "directional-walks": "drw",
    "walk-overlay": "dwo",
    "georendezvous": "geo",
    "drip": "drip",
    "underlay-siena": "uas",
}
_OTHER_WORK = re.compile(r"\b(?:19|20)\d\d\)")  # a rule of another paper: (Carzaniga et al. 2001)
# A paper by its authors and year, where no section of it is known: Braginsky & Estrin 2002.
_WORK = re.compile(r"[A-Z][\w.]+(?: (?:&|et|al\.|[A-Z]\w+))* (?:19|20)\d\d\b")
_PLACE = re.compile(r"§ ?([\dIVX][\w.-]*)|(Fig|Alg)(?:ures?|orithm|s?\.) ?(\d+)")
_CITATION = re.compile(r"\[([^\[\]]+)\]")
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
        if not (codes and tests and (_SECTION.search(rule) or _WORK.search(rule))):
            found.append(f"{rule}: expected a section or a paper, a function and a test")
        found += [f"{rule}: no {code}" for code in codes if not _has_function(root, code)]
        for file, name in tests:
            if name not in _names(root / file):
                found.append(f"{rule}: no {file}::{name}")
    return found


def rows_without_citation(root: Path, page: Path) -> list[str]:
    """Tests in a page's table whose docstring does not cite a section of the rule: `[drw §3]`."""
    found = []
    for row in _rows(page.read_text("utf-8")):
        rule = row.split("|")[1].strip()
        tag = "" if _OTHER_WORK.search(rule) else TAGS.get(page.stem, "")
        places, works = _places(rule), set(_WORK.findall(rule))
        for file, name in _TEST.findall(row):
            cited = [
                text
                for text in _CITATION.findall(_docstring(root / file, name))
                if (text.startswith(tag) and _have_common_part(_places(text), places))
                or (not places and set(_WORK.findall(text)) & works)
            ]
            if not cited:
                missing = " or ".join(sorted(places or works))
                found.append(f"{rule}: {file}::{name} does not cite {missing}")
    return found


def rule_pages(root: Path) -> list[Path]:
    """The pages that have a table of rules: those of the papers, and others with the heading."""
    papers = [path for path in (root / "docs" / "papers").glob("*.md") if path.stem != "claims"]
    pages = [path for path in (root / "docs").rglob("*.md") if path not in papers]
    return sorted(papers + [path for path in pages if HEADING in path.read_text("utf-8")])


def functions_without_row(root: Path) -> list[str]:
    """Public functions that cite a section of a paper and are in no table of rules."""
    pages = [path.read_text("utf-8") for path in rule_pages(root)]
    known = set(_CODE.findall("\n".join(pages)))
    works = {
        work for page in pages for row in _rows(page) if not _places(row.split("|")[1])
        for work in _WORK.findall(row.split("|")[1])
    }  # fmt: skip
    found = []
    for source in python_files(root, *(f"src/{PACKAGE}/{room}" for room in _PROTOCOLS)):
        module = source.path.removeprefix(f"src/{PACKAGE}/").removesuffix(".py").replace("/", ".")
        lines = source.text.splitlines()
        for node in source.tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            text = _TEXTBOOK.sub("", "\n".join(lines[node.lineno - 1 : node.end_lineno]))
            cites = _SECTION.search(text) or set(_WORK.findall(text)) & works
            if cites and f"{module}.{node.name}" not in known:
                found.append(
                    f"{source.path}:{node.lineno}: `{module}.{node.name}` cites a paper: add it to "
                    f'a row under "{HEADING}" of the page of this paper (docs/papers, or '
                    f"docs/failure-detection.md), with a test of the rule"
                )
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


def _places(text: str) -> set[str]:
    """Sections, figures and algorithms that a text names, in one form: `§4.1`, `Fig. 3`."""
    return {
        f"§{section.rstrip('.-')}" if section else f"{kind}. {number}"
        for section, kind, number in _PLACE.findall(text)
    }


def _have_common_part(cited: set[str], places: set[str]) -> bool:
    """Return whether a cited place is one of the places, or contains it, or is a part of it."""
    return any(
        one == other or re.match(rf"{re.escape(short)}[.-]", long) is not None
        for one in cited
        for other in places
        for short, long in [sorted((one, other), key=len)]
    )


def _docstring(file: Path, name: str) -> str:
    """The docstring of a test; "" if there is no such test, or no docstring."""
    body = _statements(file.read_text()) if file.exists() else ()
    tests = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    return next((ast.get_docstring(node) or "" for node in tests), "")


def _has_function(root: Path, code: str) -> bool:
    module, _, name = code.rpartition(".")
    return name in _names(root / "src" / PACKAGE / (module.replace(".", "/") + ".py"))


def _names(file: Path) -> set[str]:
    """The functions and classes at the top of a file; none if there is no such file."""
    if not file.exists():
        return set()
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in _statements(file.read_text()) if isinstance(node, kinds)}


@cache
def _statements(text: str) -> tuple[ast.stmt, ...]:
    """The statements at the top of a file, which many rows name."""
    return tuple(ast.parse(text).body)
