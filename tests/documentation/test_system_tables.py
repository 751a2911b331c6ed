"""The tables of the systems in docs/ are what the declarations say."""

import re
from pathlib import Path

import pytest
from tools.system_tables import DOCS, _with_module_rows, _with_rows, _with_table, pages

from halfway.live.systems.live_systems import live_systems
from halfway.protocols import SYSTEMS

PAGES = pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_with_tables_of_systems_is_current(page: Path) -> None:
    assert page.read_text("utf-8") == PAGES[page], "run `python -m tools.system_tables`"


def test_the_page_of_live_nodes_states_which_systems_run_live() -> None:
    table = (DOCS / "live.md").read_text("utf-8").partition("| system | live |")[2]
    stated = {
        name: answer.startswith("yes")
        for names, answer in re.findall(r"^\| (`.+?) \| (\w+)", table.partition("\n\n")[0], re.M)
        for name in re.findall(r"`([a-z-]+)`", names)
    }
    missing = "add the system to the table of systems in docs/live.md"
    assert stated == {name: name in live_systems() for name in SYSTEMS}, missing


def test_a_table_needs_its_place() -> None:
    page = "a\n<!-- table: x -->\nold\n<!-- end -->\nb\n"
    assert _with_table(page, "x", "new") == "a\n<!-- table: x -->\n\nnew\n<!-- end -->\nb\n"
    with pytest.raises(AssertionError, match="place for the table y"):
        _with_table(page, "y", "new")


def test_a_new_system_gets_a_row_and_others_keep_theirs() -> None:
    head, line = "| system | sizes follow from |\n", "|---|---|\n"
    page = f"a\n{head}{line}| `gossip` | old |\n| `drip` | topics |\n\nb\n"
    rows = "| `flooding` | topics |\n| `gossip` | window |\n| `drip` | topics |\n"
    assert _with_rows(page, head, {"gossip": "window", "flooding": "topics"}) == (
        f"a\n{head}{line}{rows}\nb\n"
    )


def test_the_map_has_a_row_for_each_system_of_one_module() -> None:
    page = "a\nThe room `protocols` has these folders and modules:\n\n" \
        "| x |\n|---|\n| `gossip.py` | Old. |\n| `door.py` | A door. |\n\nb\n"  # fmt: skip
    rows = _with_module_rows(page).splitlines()
    assert rows[4:6] == ["|---|", "| `door.py` | A door. |"]
    files = [row.split("`")[1] for row in rows[6:-2]]
    assert files == sorted(files)
    assert {"counter_broadcast.py", "flooding.py", "gossip.py"} <= set(files)
    assert "pushes new events" in rows[6 + files.index("gossip.py")]
    assert rows[-2:] == ["", "b"]
