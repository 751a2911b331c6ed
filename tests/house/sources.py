"""Reading sources as text and syntax; no rule of the house stands here."""

import ast
import gc
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "halfway"
PROGRAMS = ("src", "tests", "bench", "examples", "tools")  # all folders with Python files


@dataclass(frozen=True)
class Source:
    """One Python file: `path` as it is printed, `text` as it stands."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """The file's syntax. It is parsed once for all rules."""
        return _parsed(self)[0]

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the syntax, as `ast.walk` finds them. They are collected once."""
        return _parsed(self)[1]


@cache
def _parsed(source: Source) -> tuple[ast.Module, tuple[ast.AST, ...]]:
    return _parsed_repository().get(source) or _syntax(source)


@cache
def _parsed_repository() -> dict[Source, tuple[ast.Module, tuple[ast.AST, ...]]]:
    """The syntax of all files of the repository, and its nodes.

    These are a million objects that live to the end. The parser runs without the garbage collector,
    because the passes of the collector over these objects take four times as long as the parser.
    """
    gc.collect()  # `freeze` would keep open what earlier tests left open
    gc.disable()
    try:
        parsed = {source: _syntax(source) for source in python_files(REPOSITORY, *PROGRAMS)}
        gc.freeze()
    finally:
        gc.enable()
    return parsed


def _syntax(source: Source) -> tuple[ast.Module, tuple[ast.AST, ...]]:
    tree = ast.parse(source.text, source.path)
    return tree, tuple(ast.walk(tree))


@dataclass(frozen=True)
class Import:
    """One imported module, by its full dotted name."""

    module: str
    line: int

    @property
    def top(self) -> str:
        """The distribution's name, as far as imports tell."""
        return self.module.partition(".")[0]

    def is_one_of(self, modules: set[str]) -> bool:
        """Whether this is one of the modules, or something inside one."""
        return any(f"{self.module}.".startswith(f"{module}.") for module in modules)


def python_files(root: Path, *folders: str) -> list[Source]:
    """Every Python file under the folders of `root`, in order of path."""
    return [
        Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    ]


def kept_files(root: Path) -> list[Path]:
    """Every file of the repository: what git tracks, and what it would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (root / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def room(path: str) -> str:
    """The room of a file of the package; a file beside the rooms is a room of its own."""
    parts = Path(path).parts
    below = parts[parts.index(PACKAGE) + 1 :]
    return below[0].removesuffix(".py")


@cache
def imports(source: Source) -> tuple[Import, ...]:
    """What a file imports, at its top, inside functions, for types only, or by a literal name."""
    return tuple(_imports(source))


def _imports(source: Source) -> Iterator[Import]:
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                yield from (Import(name.name, node.lineno) for name in names)
            case ast.ImportFrom(names=names, level=level, module=module):
                origin = ".".join(filter(None, [_package_above(source.path, level), module]))
                yield from (Import(f"{origin}.{name.name}", node.lineno) for name in names)
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if _is_import(node.func):
                yield Import(name, node.lineno)


def _is_import(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def _package_above(path: str, level: int) -> str:
    if level == 0:
        return ""
    parts = Path(path).parts
    return ".".join(parts[parts.index(PACKAGE) : len(parts) - level])
