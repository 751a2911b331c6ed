"""The tables of rooms in docs/map.md: each folder has one row, and each module beside folders."""

import re
from pathlib import Path

_INTRO = re.compile(r"^The room `(\w+)` has these folders(?: and modules)?:", re.MULTILINE)
_ROW = re.compile(r"^\| `([\w/]+)/` \| (\S.*) \|$", re.MULTILINE)
_MODULE_ROW = re.compile(r"^\| `(\w+\.py)` \| (\S.*) \|$", re.MULTILINE)


def listed_folders(page: str) -> list[str]:
    """The folders that have a row with a text, as paths below the package: `sim`, `sim/engine`."""
    rooms, tables = _tables(page)
    found = [name for name, _ in _ROW.findall(rooms)]
    for room, table in tables:
        found += [f"{room}/{name}" for name, _ in _ROW.findall(table)]
    return found


def listed_modules(page: str) -> list[str]:
    """The modules that have a row with a text in the table of a room: `sim/memory.py`."""
    return [
        f"{room}/{name}"
        for room, table in _tables(page)[1]
        for name, _ in _MODULE_ROW.findall(table)
    ]


def false_folders(root: Path, page: str) -> list[str]:
    """Folders of the package that the map does not list once, and rows of folders that are gone."""
    package = root / "src" / "halfway"
    real = {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")}
    return _differences(real - {"."}, listed_folders(page), "no such folder")


def false_modules(root: Path, page: str) -> list[str]:
    """Modules beside the folders of a room that the map does not list once, and false rows."""
    package = root / "src" / "halfway"
    real = {
        path.relative_to(package).as_posix()
        for room in {name.partition("/")[0] for name in listed_folders(page) if "/" in name}
        for path in (package / room).glob("*.py")
        if path.name != "__init__.py"
    }
    return _differences(real, listed_modules(page), "no such module")


def _tables(page: str) -> tuple[str, list[tuple[str, str]]]:
    """The text before the first table of a room, and each room with the text of its table."""
    rooms, *parts = _INTRO.split(page.partition("## Rooms")[2].partition("The repository has")[0])
    return rooms, list(zip(parts[::2], parts[1::2], strict=True))


def _differences(real: set[str], listed: list[str], false: str) -> list[str]:
    return [
        *(f"{name}: {listed.count(name)} rows" for name in sorted(real) if listed.count(name) != 1),
        *(f"{name}: {false}" for name in sorted({*listed} - real)),
    ]
