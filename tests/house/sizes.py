"""How long a file and a function may be, and how full a folder: one idea each."""

import ast
from pathlib import Path

from tests.house.sources import python_files

FILE_LINES = 320  # 100 to 250 is the aim
FUNCTION_LINES = 50
FUNCTION_AIM = 40
LONGER_THAN_AIM = 13  # functions between the aim and the limit; this number only falls
# Counts of what is above the aim: these numbers only fall.
LONG_FILES, LONG_FILE_LINES = 13, 300
FORMAT_SKIPS = 330  # statements with a form of their own
WIDE_FUNCTIONS = 26  # functions with more than PARAMETERS parameters by position, all included
LONG_CALLS = 23  # calls of a class with more than VALUES values by position
VALUES = 7  # by position; two values of one type may change places, and nothing notices
PARAMETERS = 8  # by position; names at the call explain the others
COMPILED_PARAMETERS = 12  # compiled code has no parameters by name
# Functions with more parameters by position -> the reason.
WIDE = {
    "core/kinds.py: declare": "a row of the table of kinds",
    "protocols/broker_trees/underlay/underlay_siena.py: state": "a size for each of its tables",
    "sim/engine/loop.py: run": "all that a run consists of",
}
_COMMANDS = ("cli/commands/", "cli/live/")
_COMPILED = {"kernel", "inlined", "apart", "entered"}
SCRIPT_LINES = 300  # of a page's script
FOLDER_MODULES = 14


def long_files(root: Path) -> list[str]:
    """Files of the package above the limit."""
    counted = ((source.path, source.text.count("\n")) for source in python_files(root, "src"))
    return [f"{path}: {lines} lines" for path, lines in counted if lines > FILE_LINES]


def count_above(root: Path, lines: int) -> int:
    """The number of files of the package with more lines."""
    return sum(source.text.count("\n") > lines for source in python_files(root, "src"))


def format_skips(root: Path) -> int:
    """The number of statements of the package that keep a form of their own."""
    return sum(source.text.count("# fmt: skip") for source in python_files(root, "src"))


def count_wide(root: Path) -> int:
    """The number of functions of the package with more parameters by position than PARAMETERS."""
    return sum(
        len(_names_by_position(node)) > PARAMETERS
        for source in python_files(root, "src")
        for node in source.nodes
        if isinstance(node, ast.FunctionDef)
    )


def count_long_calls(root: Path) -> int:
    """The number of calls of a class in the package with more values by position than VALUES."""
    return sum(
        len(node.args) > VALUES
        for source in python_files(root, "src")
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id[0].isupper()
    )


def _names_by_position(node: ast.FunctionDef) -> list[str]:
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    return [name for name in names if name not in ("self", "cls")]


def long_scripts(root: Path) -> list[str]:
    """Scripts of the package's pages above the limit."""
    scripts = sorted((root / "src").rglob("*.js"))
    counted = ((path, path.read_text("utf-8").count("\n")) for path in scripts)
    return [
        f"{path.relative_to(root).as_posix()}: {lines} lines"
        for path, lines in counted
        if lines > SCRIPT_LINES
    ]


def long_functions(root: Path) -> list[str]:
    """Functions of the package above the limit, signature and docstring included."""
    found = []
    for source in python_files(root, "src"):
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    found.append(f"{source.path}:{node.lineno}: {node.name}: {lines} lines")
    return found


def longer_than_aim(root: Path) -> int:
    """The number of functions of the package above the aim."""
    lengths = (
        (node.end_lineno or node.lineno) - node.lineno + 1
        for source in python_files(root, "src")
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return sum(length > FUNCTION_AIM for length in lengths)


def wide_functions(root: Path) -> list[str]:
    """Functions of the package with more parameters by position than the limit.

    A command declares its options as parameters, and nothing calls it by position.
    """
    found = []
    for source in python_files(root, "src"):
        place = source.path.removeprefix("src/halfway/")
        for node in source.nodes:
            if not isinstance(node, ast.FunctionDef) or place.startswith(_COMMANDS):
                continue
            count = len(_names_by_position(node))
            compiled = any(getattr(one, "id", "") in _COMPILED for one in node.decorator_list)
            limit = COMPILED_PARAMETERS if compiled else PARAMETERS
            if count > limit and f"{place}: {node.name}" not in WIDE:
                found.append(f"{source.path}:{node.lineno}: {node.name}: {count} parameters")
    return found


def full_folders(root: Path) -> list[str]:
    """Folders of the package with more modules directly in them than the limit."""
    counted: dict[str, int] = {}
    for source in python_files(root, "src"):
        path = Path(source.path)
        counted[path.parent.as_posix()] = counted.get(path.parent.as_posix(), 0) + (
            path.name != "__init__.py"
        )
    return [f"{path}: {count} modules" for path, count in counted.items() if count > FOLDER_MODULES]
