"""The errors of a user's protocol in one line: file, line and cause, from Python or the
compiler.
"""

import ast
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from halfway.problem import Problem

USER_FILE = "user_protocol.py"  # in a folder `own-<digest>`: the copy that is imported
_FOLDER = r"own-[0-9a-f]{16}[\\/]" + re.escape(USER_FILE)
# The compiler's position in the user's file; the sentence before it is the error.
_AT = re.compile(rf'\n[ \t]*File "[^"]*{_FOLDER}", line (\d+)')
_COPY = re.compile(rf"[\\/]{_FOLDER}$")
_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
_CAUSE = re.compile(r'due to "([^"\n]+)"')
_LONGEST = 200
_REMEDY = "`halfway simulate SCENARIO --system {file} --debug` runs the file interpreted"


def file_of(name: str) -> str:
    """Return the file that the errors of a user's protocol name: "my_protocol.py" for the system
    my-protocol.
    """
    return f"{name.replace('-', '_')}.py"


@contextmanager
def user_errors(name: str, text: str) -> Iterator[None]:
    """Raise the errors of a block as a Problem of a user's protocol; the text "" stands for a
    built-in system.

    A Problem, an interrupt, and an error of files or memory outside the protocol pass unchanged.
    """
    try:
        yield
    except Problem:
        raise
    except Exception as fault:
        elsewhere = isinstance(fault, OSError | MemoryError) and line_in(fault) is None
        if not text or elsewhere:
            raise
        raise user_problem(fault, name, text) from fault


def user_problem(fault: BaseException, name: str, text: str) -> Problem:
    """Return the Problem of an exception in a user's protocol, with file, line and cause in one
    line.
    """
    line, what = line_in(fault), f"{type(fault).__name__}: {fault}"
    if line is None and type(fault).__module__.startswith("numba"):
        line, what = _compiler_error(str(fault), type(fault).__name__, text)
    elif line is None and isinstance(fault, KeyError) and fault.args:
        # The compiler's error for an unknown field of a record.
        line, what = _line_of(text, str(fault.args[0])), f"the record has no field {fault}"
    where = file_of(name) if line is None else f"{file_of(name)}:{line}"
    return Problem(_short(what), where=where, remedy=_REMEDY.format(file=file_of(name)))


def line_in(fault: BaseException) -> int | None:
    """Return the line of the user's protocol file that raised an exception, or None if no line of
    it did.
    """
    if isinstance(fault, SyntaxError) and _COPY.search(fault.filename or ""):
        return fault.lineno or 1
    stack = traceback.extract_tb(fault.__traceback__)
    lines = [frame.lineno for frame in stack if _COPY.search(frame.filename)]
    return lines[-1] if lines else None


def _compiler_error(message: str, kind: str, text: str) -> tuple[int | None, str]:
    """Return the line and the sentence of a compiler's error in a user's protocol."""
    if undefined := _UNDEFINED.search(message):
        return _line_of(text, undefined[1]), undefined[0]
    at = _AT.search(message)
    before = message[: at.start()] if at else message
    sentences = [line.strip() for line in before.splitlines() if line.strip()]
    sentences = [line for line in sentences if not line.startswith(("During:", "File ", "raised "))]
    last = sentences[-1] if sentences else "not compiled"
    cause = _CAUSE.search(last)
    return int(at[1]) if at else None, f"{kind}: {cause[1] if cause else last}"


def _line_of(text: str, word: str) -> int | None:
    """Return the first line of a user's protocol that uses a name or an attribute."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return None
    names = [node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == word]
    names += [n.lineno for n in nodes if isinstance(n, ast.Attribute) and n.attr == word]
    return min(names, default=None)


def _short(what: str) -> str:
    line = " ".join(what.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
