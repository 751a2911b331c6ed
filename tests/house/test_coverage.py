"""A reader with the paper finds each rule in code, and a test of it."""

import re
from pathlib import Path

import pytest

from tests.house.coverage import (
    HEADING,
    decisions_without_reader,
    functions_without_row,
    rows_without_citation,
    rule_pages,
    rules_without_place,
)
from tests.house.sources import REPOSITORY

PAGES = rule_pages(REPOSITORY)
TABLE = HEADING + "\n\n| rule of the paper | code | test |\n|---|---|---|\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_of_a_paper_has_its_function_and_its_test(page: Path) -> None:
    assert "\n".join(rules_without_place(REPOSITORY, page.read_text())) == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_of_a_rule_cites_its_section(page: Path) -> None:
    assert "\n".join(rows_without_citation(REPOSITORY, page)) == ""


@pytest.mark.parametrize(
    ("rule", "docstring", "cites"),
    [
        ("§3: a", "[drw §3] a", True),
        ("§3: a", "[drw §3.1] a", True),
        ("§V-B: a", "[drw §I; §V] a", True),
        ("§3: a", "[drw §33] a", False),
        ("§3: a", "[geo §3] a", False),
        ("§3: a", "a without a section", False),
        ("Fig. 3, line 2: a", "[drw Figure 3, line 2] a", True),
        ("Algorithm 1, line 7: a", "[drw §4, Alg. 1] a", True),
        ("Alg. 1: a", "[drw Fig. 1] a", False),
        ("Estrin & Other 2002: a", "[Estrin & Other 2002] a", True),
        ("Estrin & Other 2002: a", "[Another 2002] a", False),
        ("SIENA (Carzaniga et al. 2001) §4.2: a", "[Carzaniga et al. §4.2] a", True),
    ],
)
def test_a_test_that_does_not_cite_its_section_is_seen(
    tmp_path: Path, rule: str, docstring: str, cites: bool
) -> None:
    page, test = tmp_path / "directional-walks.md", tmp_path / "tests/test_walks.py"
    page.write_text(TABLE + f"| {rule} | `bulk.walks.step` | `tests/test_walks.py::test_step` |\n")
    test.parent.mkdir()
    test.write_text(f'def test_step():\n    """{docstring}."""\n')
    found = rows_without_citation(tmp_path, page)
    assert len(found) == (0 if cites else 1)


def test_a_wrong_name_is_seen(tmp_path: Path) -> None:
    source, test = tmp_path / "src/halfway/bulk/walks.py", tmp_path / "tests/test_walks.py"
    for file, name in ((source, "step"), (test, "test_step")):
        file.parent.mkdir(parents=True)
        file.write_text(f"def {name}():\n    pass\n")
    row = "| §3: {} | `bulk.walks.{}` | `tests/test_walks.py::{}` |\n"
    assert rules_without_place(tmp_path, "# A page") == [f"no table under `{HEADING}`"]
    assert rules_without_place(tmp_path, TABLE + row.format("a", "step", "test_step")) == []
    wrong = rules_without_place(tmp_path, TABLE + row.format("a", "stop", "test_stop"))
    assert wrong == ["§3: a: no bulk.walks.stop", "§3: a: no tests/test_walks.py::test_stop"]
    bare = rules_without_place(tmp_path, TABLE + "| a rule | `bulk.walks.step` | none |\n")
    assert bare == ["a rule: expected a section or a paper, a function and a test"]


def test_every_function_that_cites_a_paper_has_a_row() -> None:
    assert "\n".join(functions_without_row(REPOSITORY)) == ""


def test_a_function_without_a_row_is_seen(tmp_path: Path) -> None:
    (tmp_path / "docs/papers").mkdir(parents=True)
    page, other = tmp_path / "docs/papers/a.md", tmp_path / "docs/detectors.md"
    row = "| §3: a | `protocols.walks.{}` | `tests/test_walks.py::test_a` |\n"
    page.write_text(TABLE + row.format("step"))
    other.write_text("# A page without a table\n")
    source = tmp_path / "src/halfway/protocols/walks.py"
    source.parent.mkdir(parents=True)
    functions = {
        "step": "[drw §3] has a row",
        "turn": "[drw §3] has none",
        "meet": "[drw Fig. 3, line 4]",
        "build": "[dwo Alg. 1]",
        "drawn": "[Knuth, TAOCP 2, §3.4.2]",
        "plain": "cites nothing",
        "_turn": "[drw §3] is private",
    }
    source.write_text("".join(f'def {n}():\n    """{t}"""\n' for n, t in functions.items()))
    found = functions_without_row(tmp_path)
    assert [text.split("`")[1] for text in found] == [
        "protocols.walks.turn",
        "protocols.walks.meet",
        "protocols.walks.build",
    ]
    assert found[0].startswith("src/halfway/protocols/walks.py:3: ")
    other.write_text(TABLE + row.format("turn") + row.format("meet") + row.format("build"))
    assert functions_without_row(tmp_path) == []


def test_every_decision_is_linked_where_it_is_needed() -> None:
    assert "\n".join(decisions_without_reader(REPOSITORY)) == ""


def test_a_decision_without_a_reader_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0001-a.md").write_text("[0002](../decisions/0002-b.md)")
    (folder / "0002-b.md").write_text("b")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("# docs/decisions/0002 and docs/decisions/0003\n")
    assert decisions_without_reader(tmp_path) == [
        "decision 0001: nothing leads to it",
        "decision 0003: there is none",
    ]


def test_the_list_of_decisions_is_in_order() -> None:
    page = (REPOSITORY / "docs" / "decisions" / "README.md").read_text("utf-8")
    numbers = re.findall(r"^\| \[(\d{4})\]", page, re.MULTILINE)
    assert len(numbers) > 80
    assert numbers == sorted(numbers)
