"""Names in the backticks of docstrings exist: parameters, names, files, commands, options."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.house.sources import PACKAGE, Source, python_files

# Words of other programs, languages and formats, and the papers' names in citations.
FOREIGN = {"ip", "nft", "bridge", "dup", "mapInArrow", "trans", "with"}
FOREIGN |= {"geo", "drw", "dwo", "uas"}
_VALUES = {"inf", "nan"}  # of numbers, which may have a meaning after a colon
_TICKS = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?:\(\))?")
_FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:py|js|css)")
_PAGE = re.compile(r"docs/[\w/.-]+")
_COMMAND = re.compile(r"halfway ([a-z]+)\b")
_MODULE = re.compile(r"python -m (halfway[\w.]*)")
_OPTION = re.compile(r"(?:^| )--([a-z-]+)")
# "at: seconds ...", "low, high: a range": the words before the colon are parameters, or names that
# the function returns.
_LABEL = re.compile(
    r"(?:^|(?<=[.;] )|(?<=\n))([a-z_]\w*(?:, [a-z_]\w*)*(?: and [a-z_]\w*)?): (?=[a-z\[\d])"
)
# A file without backticks and labels in its docstrings has nothing to check.
_SUSPECT = re.compile(
    r'"""[^"]*`|(?:^ +|[.;] )[a-z_]\w*(?:, \w+)*(?: and \w+)?: [a-z\[\d].*[a-z] [a-z]', re.M
)
_PROSE = re.compile(r'"""[\s\S]*?"""|#.*')
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(
    r"^ *(?:(?:async )?def|class) (\w+)|^(?:    )?(\w+)(?:: [^=\n]+| = |: .*= )|self\.(\w+)", re.M
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef


def dead_references(root: Path) -> list[str]:
    """Names in docstrings of the package that do not exist, with file, line and name.

    A docstring cites its parameters and the names of its module. A name of another module is that
    of a class, has parentheses behind it, or has its module or class before it.
    """
    sources = python_files(root, "src")
    package = _Package(root, sources)
    found = []
    for source in sources:
        if not _SUSPECT.search(source.text):
            continue  # and need not be parsed
        own = _names(source) | package.beside(source)
        for node, parameters, text in _documented(source.tree, frozenset()):
            near = own | parameters
            dead = [one for one in _cited(text) if not package.has(one, near)]
            if isinstance(node, _Function):
                dead += [f"{one}:" for one in _labels(text) if one not in near | _VALUES]
            line = getattr(node, "lineno", 1)
            found += [f"{source.path}:{line}: {one}" for one in dead]
    return found


class _Package:
    """The names, files, commands and options that a docstring can cite."""

    def __init__(self, root: Path, sources: list[Source]) -> None:
        self.root = root
        self.paths = [source.path for source in sources]
        self.paths += [path.as_posix() for path in sorted((root / "src").rglob("*.[jc]s"))]
        self.names: set[str] = set().union(*map(_defined, sources))
        command_line = [one for one in sources if one.path.startswith(f"src/{PACKAGE}/cli/")]
        self.words: set[str] = set().union(*map(_names, command_line))

    def has(self, cited: str, near: set[str]) -> bool:
        """Whether a cited name exists; `near` has the names that need no module before them."""
        if _FILE.fullmatch(cited):
            return any(path.endswith(f"/{cited}") for path in self.paths)
        if _NAME.fullmatch(cited):
            return cited in FOREIGN or self._has_name(cited, near)
        if _PAGE.fullmatch(cited):
            return any(self.root.glob(f"{cited}*"))
        if module := _MODULE.fullmatch(cited):
            return any(_dotted(path).startswith(module[1]) for path in self.paths)
        command = _COMMAND.match(cited)
        return (command is None or command[1] in self.words) and self._has_options(cited)

    def _has_name(self, cited: str, near: set[str]) -> bool:
        first, *rest = cited.removesuffix("()").split(".")
        everywhere = bool(rest) or cited.endswith("()") or first[0].isupper()
        known = first in near or hasattr(builtins, first) or (everywhere and first in self.names)
        return known and all(one in near or one in self.names for one in rest)

    def beside(self, source: Source) -> set[str]:
        """The modules and folders in the folder of a file."""
        folder = f"{source.path.rpartition('/')[0]}/"
        inside = (path.removeprefix(folder) for path in self.paths if path.startswith(folder))
        return {one.partition("/")[0].partition(".")[0] for one in inside}

    def _has_options(self, cited: str) -> bool:
        names = (one.replace("-", "_") for one in _OPTION.findall(cited))
        return all(one in self.words for one in names)


def _cited(text: str) -> list[str]:
    return [" ".join(match.split()) for match in _TICKS.findall(text)]


def _labels(text: str) -> list[str]:
    return [one for match in _LABEL.findall(text) for one in re.split(", | and ", match)]


def _documented(
    node: ast.Module | _Definition, outer: frozenset[str]
) -> Iterator[tuple[ast.AST, frozenset[str], str]]:
    """The docstrings of a node and of what it defines, with the parameters around each."""
    near = outer | _parameters(node) if isinstance(node, _Function) else outer
    if text := ast.get_docstring(node):
        yield node, near, text
    for inner in _definitions(node.body):
        yield from _documented(inner, near)


def _definitions(body: Iterable[ast.stmt]) -> Iterator[_Definition]:
    for node in body:
        if isinstance(node, _Definition):
            yield node
        elif isinstance(node, ast.If | ast.With | ast.Try):
            yield from _definitions(node.body)


def _parameters(node: _Function) -> frozenset[str]:
    some = node.args
    named = [*some.posonlyargs, *some.args, *some.kwonlyargs, some.vararg, some.kwarg]
    return frozenset(one.arg for one in named if one)


@cache
def _names(source: Source) -> frozenset[str]:
    """Every name that stands in the code of a file: its docstrings and comments do not count."""
    return frozenset(_WORD.findall(_PROSE.sub("", source.text)) + _dotted(source.path).split("."))


@cache
def _defined(source: Source) -> frozenset[str]:
    """Names that a file defines: its modules, functions, classes, fields and constants."""
    defined = {one for match in _DEFINED.findall(source.text) for one in match if one}
    return frozenset(defined | set(_dotted(source.path).split(".")))


def _dotted(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
