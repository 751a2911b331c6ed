"""A reader with the paper finds each rule in code, and a test of it."""

from pathlib import Path

import pytest

from tests.house.coverage import HEADING, rules_without_place
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
