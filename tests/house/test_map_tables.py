"""The map lists every folder of the package, and a missing or false row is seen."""

from pathlib import Path

from tools.module_list import renewed

from tests.house.map_tables import false_folders, false_modules, listed_folders, listed_modules
from tests.house.sources import REPOSITORY

PAGE = """# The map
## Rooms
| `sim/` | The simulator. |
| `live/` | |

The room `sim` has these folders and modules:

| `engine/` | The loop. |
| `radio/csma/` | The contended radio. |
| `memory.py` | Lost memory. |
| `gone.py` | Nothing. |
| `empty.py` | |

The room `live` has these folders:

| `keys/` | Keys. |

The repository has these other folders:

| `docs/` | The pages. |
"""


def test_every_folder_has_one_row() -> None:
    page = (REPOSITORY / "docs" / "map.md").read_text("utf-8")
    assert len(listed_folders(page)) > 50
    assert "\n".join(false_folders(REPOSITORY, page)) == ""


def test_every_module_beside_folders_has_one_row() -> None:
    page = (REPOSITORY / "docs" / "map.md").read_text("utf-8")
    assert len(listed_modules(page)) > 40
    assert "\n".join(false_modules(REPOSITORY, page)) == ""


def test_a_missing_module_and_a_false_module_are_seen(tmp_path: Path) -> None:
    for name in ("sim/__init__.py", "sim/memory.py", "sim/empty.py", "api/display.py"):
        (tmp_path / "src" / "halfway" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / "halfway" / name).touch()
    assert listed_modules(PAGE) == ["sim/memory.py", "sim/gone.py"]
    assert false_modules(tmp_path, PAGE) == ["sim/empty.py: 0 rows", "sim/gone.py: no such module"]


def test_rows_without_a_text_and_other_tables_do_not_count() -> None:
    assert listed_folders(PAGE) == ["sim", "sim/engine", "sim/radio/csma", "live/keys"]


def test_a_missing_row_a_double_row_and_a_false_row_are_seen(tmp_path: Path) -> None:
    for name in ("sim/engine", "live/keys", "live"):
        folder = tmp_path / "src" / "halfway" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    page = PAGE.replace("| `radio/csma/` | The", "| `engine/` | The")
    assert false_folders(tmp_path, page) == [
        "live: 0 rows",
        "sim/engine: 2 rows",
        "sim: no such folder",
    ]


def test_the_list_of_modules_is_current() -> None:
    page = (REPOSITORY / "docs" / "map.md").read_text("utf-8")
    assert page == renewed(page), "run `python tools/module_list.py`"
