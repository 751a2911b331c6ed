"""What a reader may expect of every file: it says what it is, and nothing was put off."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from halfway.protocols import SYSTEMS
from tests.house.sources import kept_files, python_files, room

FOLDERS = ("src", "tests", "bench", "tools")
MEANS_NOTHING = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
# The brackets keep these lines from finding themselves.
MACHINES = re.compile(
    r"py[p]i\.org|pythonhos[t]ed|npm[j]s\.|crates\.i[o]|deb\.debia[n]|files\.pyth[o]n"
    r"|(?<![\w.])/(wor[k]|hom[e]|roo[t]|User[s])/\w|[A-Z]:\\Use[r]s"
)
# What these decorate is typed by the compiler, from its callers.
COMPILED = {"kernel", "inlined", "entered", "apart", "handles", "overload", "intrinsic"}
UNTAGGED = re.compile(r"\[(§|(Fig\.|Table|Theorem|Alg\.) ?\d)")
# Rooms that serve every system alike. What one system needs is in its adapter.
FOR_ANY_SYSTEM = {"core", "world", "sim", "scenario", "pipeline", "comparison", "report"}
BASELINE = "flooding"  # the default of fields and options
# Names of variables that say nothing in a function of more than VAGUE_LINES lines.
# `sort` is vague because it is also to order: `frame_type` or `column_type` says which type.
VAGUE, VAGUE_LINES = {"found", "one", "some", "given", "sort"}, 8
# Such variables -> the reason.
NOT_VAGUE = {
    "src/halfway/protocols/broker_trees/paths/circuits.py:path_to: sort": "one of SORTS of paths",
}
LEFTOVER = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X])\b")
# Imports of our names under another name -> the reason. In the other files, a name is the same
# everywhere, so that a reader need not look up what it means.
RENAMED = {
    "papers/__init__.py": "each paper declares itself as PAPER",
}


def without_first_line(root: Path) -> list[str]:
    """Files that do not begin with a docstring; an empty one has nothing to say."""
    sources = python_files(root, *FOLDERS)
    return [source.path for source in sources if not re.match(r'\Z|r?"""[^\s"]', source.text)]


def undocumented(root: Path) -> list[str]:
    """Public functions and classes of the package, and public methods, without a docstring."""
    return [
        f"{source.path}:{node.lineno}: {node.name}"
        for source in python_files(root, "src")
        for node in _public(source.tree)
        if not ast.get_docstring(node)
    ]


def unannotated(root: Path) -> list[str]:
    """Functions of the package that neither say their types nor are typed by the compiler."""
    return [
        f"{source.path}:{node.lineno}: {node.name}"
        for source in python_files(root, "src")
        for node in _interpreted(source.tree)
        if node.returns is None or not all(_is_annotated(node.args))
    ]


def renamed_imports(root: Path) -> list[str]:
    """Imports of the package's own names under another name, without a reason."""
    return [
        f"{source.path}:{node.lineno}: import {name.name}, not as {name.asname}"
        for source in python_files(root, "src")
        if source.path.removeprefix("src/halfway/") not in RENAMED
        for node in source.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("halfway")
        for name in node.names
        if name.asname not in (None, name.name)
    ]


def vague_variables(root: Path) -> list[str]:
    """Variables of long functions of the package that do not say what they hold."""
    found = []
    for source in python_files(root, "src"):
        for function in source.nodes:
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if (function.end_lineno or function.lineno) - function.lineno < VAGUE_LINES:
                continue
            for node in ast.walk(function):
                name = node.arg if isinstance(node, ast.arg) else ""
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    name = node.id
                if name in VAGUE:
                    found.append(f"{source.path}:{function.name}: {name}")
    return sorted(set(found) - NOT_VAGUE.keys())


def names_without_meaning(root: Path) -> list[str]:
    """Files and folders whose name says that nobody knew what belongs there."""
    return [
        source.path
        for source in python_files(root, *FOLDERS)
        if MEANS_NOTHING & {part.removesuffix(".py") for part in Path(source.path).parts}
    ]


def leftovers(root: Path) -> list[str]:
    """Comments that put something off."""
    found = []
    for source in python_files(root, *FOLDERS):
        if not LEFTOVER.search(source.text):
            continue
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and LEFTOVER.search(token.string):
                found.append(f"{source.path}:{token.start[0]}: {token.string}")
    return found


def untagged_citations(root: Path) -> list[str]:
    """Lines that cite a section or a figure without its paper, which is `[geo §3.2]`."""
    return [
        f"{source.path}:{number}: {line.strip()[:80]}"
        for source in python_files(root, *FOLDERS)
        for number, line in enumerate(source.text.splitlines(), start=1)
        if UNTAGGED.search(line)
    ]


def systems_named(root: Path) -> list[str]:
    """Texts of rooms for any system that are, or begin with, the name of one system."""
    names = re.compile(f"({'|'.join(SYSTEMS.keys() - {BASELINE})})(:.*)?", re.DOTALL)
    return [
        f"{source.path}:{node.lineno}: {node.value.partition(':')[0]}"
        for source in python_files(root, "src")
        if room(source.path) in FOR_ANY_SYSTEM
        for node in source.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and names.fullmatch(node.value)
    ]


def machines_named(root: Path) -> list[str]:
    """Lines anywhere in the repository that name one machine's folders or a package registry."""
    found = []
    for path in kept_files(root):
        text = path.read_text(encoding="utf-8", errors="ignore")
        for number, line in enumerate(text.splitlines(), start=1):
            if MACHINES.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {line.strip()[:80]}")
    return found


_Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[_Documented]:
    for node in tree.body:
        if isinstance(node, _Documented) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node)


def _interpreted(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions that the compiler does not type; what stands inside a compiled one is compiled."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if COMPILED & {_decorator(expression) for expression in node.decorator_list}:
                continue
            yield node
        yield from _interpreted(node)


def _decorator(expression: ast.expr) -> str:
    called = expression.func if isinstance(expression, ast.Call) else expression
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _is_annotated(arguments: ast.arguments) -> Iterator[bool]:
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        yield argument.annotation is not None or argument.arg in {"self", "cls"}
    for rest in filter(None, [arguments.vararg, arguments.kwarg]):
        yield rest.annotation is not None
