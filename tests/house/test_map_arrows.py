"""The map draws and states the allowed imports, and a wrong arrow is seen."""

import pytest

from tests.house.arrows import FOLDERS, ROOMS
from tests.house.map_arrows import drawn_arrows, false_arrows, false_exceptions
from tests.house.sources import REPOSITORY

PAGE = """
## Arrows

```
core  ←  protocols  ←  live, cli
core, protocols  ←  world
```
"""
ALLOWED = {
    "protocols": {"core"}, "live": {"protocols", "core"}, "cli": {"protocols"},
    "world": {"core", "protocols", "files"}, "problem": set[str](),
}  # fmt: skip


def map_page() -> str:
    """The text of the map."""
    return (REPOSITORY / "docs" / "map.md").read_text("utf-8")


def test_the_picture_of_the_map_shows_the_allowed_imports() -> None:
    assert "\n".join(false_arrows(map_page(), ROOMS)) == ""


def test_the_map_states_which_systems_import_others() -> None:
    assert "\n".join(false_exceptions(map_page(), FOLDERS)) == ""


@pytest.mark.parametrize(
    ("here", "there", "line"),
    [
        ("sim", "protocols", "The room `sim` imports no protocol"),
        ("pipeline", "world", "The room `pipeline` imports neither `world` nor `protocols`"),
        ("pipeline", "protocols", "The room `pipeline` imports neither `world` nor `protocols`"),
    ],
)
def test_the_map_states_what_a_room_does_not_import(here: str, there: str, line: str) -> None:
    assert line in map_page()
    assert there not in ROOMS[here]


def test_only_the_package_imports_the_api() -> None:
    assert "No room imports `api`." in map_page()
    assert [room for room, rights in ROOMS.items() if "api" in rights] == ["__init__"]


def test_a_line_of_the_picture_is_a_chain_of_groups() -> None:
    assert drawn_arrows(PAGE) == {
        ("protocols", "core"), ("live", "protocols"), ("cli", "protocols"), ("world", "core"),
        ("world", "protocols"),
    }  # fmt: skip
    assert drawn_arrows("## Rooms\n") == set()


def test_a_false_and_a_missing_arrow_are_seen() -> None:
    rooms = {**ALLOWED, "world": {"protocols"}, "cli": {"protocols", "world"}}
    assert false_arrows(PAGE, rooms) == [
        "cli may import world: no path in the picture", "world may not import core",
    ]  # fmt: skip


def test_an_exception_that_is_not_stated_is_seen() -> None:
    folders = {"bulk": {"a": {"."}, "b": {"a"}}, "protocols": {".": set[str]()}}
    text = "The folder of a system never imports another.{}\n* Next."
    assert false_exceptions(text.format(" `bulk/b` uses `bulk/a`."), folders) == []
    assert len(false_exceptions(text.format(""), folders)) == 1
    assert len(false_exceptions(text.format(" `bulk/a` drives `bulk/b`."), folders)) == 2
