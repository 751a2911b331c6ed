"""Write the modules in docs/map.md: each with the first sentence of its docstring."""

import ast
import re
import sys
from itertools import groupby
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "src" / "halfway"
PAGE = REPOSITORY / "docs" / "map.md"
_HEAD = """## Modules

`tools/module_list.py` writes this section from the first sentence of each module's docstring. Do
not edit it here. Each table has the modules of one folder.
"""
_DOCSTRING = re.compile(r'r?"""[\s\S]*?"""')
_END = re.compile(r"(?<=[.?])\s+(?=[A-Z`\[(])|\n\n")


def main() -> int:
    """Write the section of modules into the map."""
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
    return 0


def renewed(page: str) -> str:
    """Return the map with the present modules in its last section."""
    return page.partition(_HEAD.partition("\n")[0])[0] + section()


def section() -> str:
    """Return the section of modules: one table for each folder, one row for each module."""
    modules = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    modules.sort(key=lambda path: (path.parent.relative_to(PACKAGE).parts, path.name))
    parts = [_HEAD]
    for folder, inside in groupby(
        modules, key=lambda path: path.parent.relative_to(PACKAGE.parent)
    ):
        rows = [f"| `{path.name}` | {_summary(path)} |" for path in inside]
        parts.append("\n".join([f"### `{folder.as_posix()}/`", "", "| module | content |",
                                "|---|---|", *rows, ""]))  # fmt: skip
    return "\n".join(parts)


def _summary(path: Path) -> str:
    """Return the first sentence of a module's docstring, for a cell of a table."""
    start = _DOCSTRING.match(path.read_text("utf-8"))
    text = (start and ast.get_docstring(ast.parse(start[0]))) or ""
    return " ".join(_END.split(text, maxsplit=1)[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
