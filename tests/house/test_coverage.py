"""A reader with the paper finds each rule in code, and a test of it."""

from pathlib import Path

import pytest

from tests.house.coverage import HEADING, decisions_without_reader, rules_without_place
from tests.house.sources import REPOSITORY

PAGES = sorted((REPOSITORY / "docs" / "papers").glob("*.md"))
PAGES = [page for page in PAGES if page.stem != "claims"]  # generated
TABLE = HEADING + "\n\n| rule of the paper | code | test |\n|---|---|---|\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_rule_of_a_paper_has_its_function_and_its_test(page: Path) -> None:
    assert "\n".join(rules_without_place(REPOSITORY, page.read_text())) == ""


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
    assert bare == ["a rule: expected a section, a function and a test"]


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
