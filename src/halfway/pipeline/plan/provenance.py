"""The digest of the code behind a run: the packages of the simulator, and the imports of the
measurement.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path

from halfway.package import __version__

# `sources_digest` covers the first six; `pipeline` stores runs and does not affect their results.
_PACKAGES = ("core", "protocols", "world", "bulk", "adapters", "sim", "pipeline")
_ELSEWHERE = tuple(f"halfway.{package}" for package in _PACKAGES)


def code_digest(path: str) -> str:
    """Return a digest of all code that a measurement ("package.module:function") runs.

    It covers this version, the simulator's packages, the module, and all modules of the same
    top-level package that it imports, directly or not. It does not cover other libraries.
    """
    from halfway.core.compiled import sources_digest  # imports numba

    digest = hashlib.sha256(f"{__version__} {sources_digest()}\n".encode())
    for module, source in sorted(sources_of(path.partition(":")[0]).items()):
        digest.update(f"{module} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()


def sources_of(module: str) -> dict[str, bytes]:
    """Return the sources that a plan's measurement depends on: of its module and of its imports in
    the package, without running them.
    """
    top, sources, waiting = module.partition(".")[0], dict[str, bytes](), [module]
    while waiting:
        name = waiting.pop()
        covered = name.partition(".")[0] == top and ".".join(name.split(".")[:2]) not in _ELSEWHERE
        spec = _spec(name) if covered and name not in sources else None
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            sources[name] = Path(spec.origin).read_bytes()
            waiting += _imported(sources[name], spec.parent or "")
    return sources


def _spec(name: str) -> ModuleSpec | None:
    """Return the import spec of a module behind a measurement, or None for a function's or another
    name.
    """
    package = name.rpartition(".")[0]
    inside = _spec(package) if package else None
    if package and (inside is None or inside.submodule_search_locations is None):
        return None
    return find_spec(name)


@cache
def _imported(source: bytes, package: str) -> tuple[str, ...]:
    """Return the names that a measurement's source imports; of `from a import b`, a and a.b."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the runs fail and report it
        return ()
    return tuple(_names(tree, package))


def _names(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield the names that a measurement's syntax tree imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            base = resolve_name(name, package) if node.level else name
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
