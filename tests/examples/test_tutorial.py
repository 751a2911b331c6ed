"""The tool that repeats a tutorial: edits of scenarios, and the lines of output that it keeps."""

import tomllib
from pathlib import Path

import pytest
from tools.tutorial import edited, kept, repeated

from tests.house.sources import REPOSITORY

SCENARIO = """title = "mesh"

[radio]  # other kinds
kind = "ideal"
# success = 0.9

[workload]
topics = 1

# Faults: remove the signs.
# [[faults]]
# share = 0.1
"""


def test_edits_replace_and_add_lines() -> None:
    changes = """seed = 3

[radio]
kind = "wired"
speed = 2e8

[workload]
events = 7

[[faults]]
fault = "crash"
share = 0.5

[[faults]]
fault = "churn"
"""
    text = edited(SCENARIO, changes)
    assert tomllib.loads(text) == {
        "title": "mesh", "seed": 3, "radio": {"kind": "wired", "speed": 2e8},
        "workload": {"topics": 1, "events": 7},
        "faults": [{"fault": "crash", "share": 0.5}, {"fault": "churn"}],
    }  # fmt: skip
    assert "# success = 0.9" in text


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("x", "a1 a2 b1 b2 c1 c2"),
        ("x y …", "a1 a2 …"),
        ("x … y z", "a1 … c1 c2"),
        ("x … b y … z", "a1 … b1 b2 … c2"),
    ],
)
def test_as_many_lines_are_kept_as_the_page_shows(shown: str, found: str) -> None:
    assert kept(["a1", "a2", "b1", "b2", "c1", "c2"], shown.split()) == found.split()


def test_a_page_gets_the_output_of_now_and_an_error_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    page = (
        "# Page\n\n```\n$ halfway --version\nold\n```\n\n"
        '<!-- edit s.toml -->\n```toml\ntitle = "new"\n```\n\n```\nplain\n```\n'
    )
    assert repeated(page, tmp_path).startswith("# Page\n\n```\n$ halfway --version\nhalfway ")
    assert repeated(page, tmp_path).partition("<!--")[2] == page.partition("<!--")[2]
    assert 'title = "new"' in (tmp_path / "s.toml").read_text()
    with pytest.raises(SystemExit, match="exit status 2"):
        repeated("```\n$ halfway check none.toml\n```\n", tmp_path)


@pytest.mark.parametrize("name", ["tutorial-examples", "tutorial-your-network"])
def test_each_edited_file_was_written_by_a_command_above(name: str) -> None:
    page = (REPOSITORY / "docs" / f"{name}.md").read_text("utf-8")
    for part in page.split("<!-- edit ")[1:]:
        file = part.partition(" ")[0]
        assert f"-o {file}\n" in page.partition(f"<!-- edit {file}")[0]
        assert f"halfway compare {file} " in part
