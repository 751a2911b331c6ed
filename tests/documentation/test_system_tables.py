"""The tables of the systems in docs/ are what the declarations say."""

from pathlib import Path

import pytest
from tools.system_tables import _with_table, pages

PAGES = pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_with_tables_of_systems_is_current(page: Path) -> None:
    assert page.read_text("utf-8") == PAGES[page], "run `python -m tools.system_tables`"


def test_a_table_needs_its_place() -> None:
    page = "a\n<!-- table: x -->\nold\n<!-- end -->\nb\n"
    assert _with_table(page, "x", "new") == "a\n<!-- table: x -->\n\nnew\n<!-- end -->\nb\n"
    with pytest.raises(AssertionError, match="place for the table y"):
        _with_table(page, "y", "new")
