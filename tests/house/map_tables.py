"""The tables of rooms and folders in docs/map.md: each folder of the package has one row."""

import re
from pathlib import Path

_INTRO = re.compile(r"^The room `(\w+)` has these folders:", re.MULTILINE)
_ROW = re.compile(r"^\| `([\w/]+)/` \| (\S.*) \|$", re.MULTILINE)


def listed_folders(page: str) -> list[str]:
    """The folders that have a row with a text, as paths below the package: `sim`, `sim/engine`."""
    rooms, *parts = _INTRO.split(page.partition("## Rooms")[2].partition("The repository has")[0])
    found = [name for name, _ in _ROW.findall(rooms)]
    for room, table in zip(parts[::2], parts[1::2], strict=True):
        found += [f"{room}/{name}" for name, _ in _ROW.findall(table)]
    return found


def false_folders(root: Path, page: str) -> list[str]:
    """Folders of the package that the map does not list once, and rows of folders that are gone."""
    package = root / "src" / "halfway"
    real = {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")}
    real.discard(".")
    listed = listed_folders(page)
    return [
        *(f"{name}: {listed.count(name)} rows" for name in sorted(real) if listed.count(name) != 1),
        *(f"{name}: no such folder" for name in sorted({*listed} - real)),
    ]
