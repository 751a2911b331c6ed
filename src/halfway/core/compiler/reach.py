"""The reach of a kernel: all modules that the kernel's module imports, directly or not, and a
digest of their sources.
"""

import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from zipimport import zipimporter

# Any line that may be an import, at any depth. Another line only costs a compilation.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M
)
_NAME = re.compile(r"[\w.]+")
PACKAGE = __name__.partition(".")[0]
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})

_further: dict[str, set[str]] = {}  # module -> further modules, which its types add


def extend(module: str, by: str) -> None:
    """Add a module to the reach of another module, because code for the types of one also runs code
    of the other.

    A radio's functions and a protocol's handler are found by a type, so that no import shows them.
    """
    _further.setdefault(module, set()).add(by)


def digest_of(modules: Iterable[str]) -> str:
    """Return a hex digest of the source of each module that the given modules reach."""
    digest = hashlib.sha256()
    for name in sorted(reachable(modules)):
        digest.update(f"{name} {_source_of(name)[0]}\n".encode())
    return digest.hexdigest()


def size_of(modules: Iterable[str]) -> int:
    """Return the bytes of source that the given modules reach, a measure of compile time."""
    files = (_file_of(name) for name in reachable(modules))
    return sum(file.stat().st_size for file in files if file is not None)


def reachable(modules: Iterable[str]) -> set[str]:
    """Return the names of all modules in the reach of the given modules, with the given modules
    themselves.

    Modules of the standard library and of installed packages are not followed.
    """
    names, waiting = set[str](), list(modules)
    while waiting:
        name = waiting.pop()
        if name not in names and _file_of(name) is not None:
            names.add(name)
            waiting += _source_of(name)[1]
            waiting += _further.get(name, ())
    return names


def _file_of(name: str) -> Path | None:
    """Return the source file of a module in a kernel's reach, or None for a module outside the
    package.
    """
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
    if file is None or not file.endswith(".py"):
        return None
    if isinstance(getattr(module, "__loader__", None), zipimporter):  # on a worker of Spark
        return None
    ours = name.partition(".")[0] == PACKAGE
    return Path(file) if ours or not file.startswith(_LIBRARIES) else None


@cache
def _source_of(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a module's source, and the names of modules that the source may
    import.
    """
    file = _file_of(name)
    assert file is not None
    source = file.read_bytes()
    return hashlib.sha256(source).hexdigest(), tuple(_imported(source.decode(), name, file))


def _imported(source: str, name: str, file: Path) -> Iterable[str]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for origin, names, plain in _IMPORT.findall(source):
        if plain:
            for listed in plain.split(","):
                yield from _NAME.findall(listed)[:1]
            continue
        base = origin
        if origin.startswith("."):
            above = package.split(".")
            above = above[: len(above) - (len(origin) - len(origin.lstrip(".")) - 1)]
            base = ".".join([*above, *filter(None, [origin.lstrip(".")])])
        yield base
        for part in _NAME.findall(names):
            yield f"{base}.{part}"
