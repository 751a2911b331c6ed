"""The failures of Spark as a Problem in one line, in place of two stack traces."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from halfway.problem import Problem

_LONGEST = 500
# The last line of a Python traceback; Java's lines name a class with a package of lower case.
_PYTHON = re.compile(
    r"(?!(?:org|java|scala|py4j|com|io)\.)(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Exit|Problem): .+"
)
_JAVA = re.compile(r"(?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception): .+")
# What a Python worker wrote before it ended; Spark quotes it.
_QUOTED = re.compile(r"Error from python worker:\n(.*?)\nPYTHONPATH was:", re.DOTALL)
_FATAL = re.compile(r"Fatal Python error: .+|.*/python\S*: .+")


@contextlib.contextmanager
def spark_errors(store: Path) -> Iterator[None]:
    """Turn Spark's failures in the block into a Problem that names a result folder."""
    try:
        yield
    except (PySparkException, Py4JError) as failure:
        raise explained(failure, store) from failure


def explained(failure: Exception, store: Path, log: str = "") -> Problem:
    """Return the Problem that explains a failure of Spark: its innermost cause, as one line.

    log: what the JVM and its Python workers wrote to stderr, for a worker's last words.
    """
    text = str(failure)
    kept = "finished batches are kept: run the command again to resume"
    if "No space left on device" in text:
        remedy = f"free some space in this folder and in the temporary folder; {kept}"
        return Problem("no space left on the disk", where=str(store), remedy=remedy)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(failure).__name__]
    what = _innermost(lines).rstrip(" .:")
    worker = _last_words(text) or _quoted(text) or _last_words(log)
    if worker and worker not in what:
        what = f"{what[:_LONGEST]}; a worker's Python: {worker}"
    return Problem(f"Spark failed: {what[: 2 * _LONGEST]}", where=str(store), remedy=kept)


def _innermost(lines: list[str]) -> str:
    """Return the innermost cause of a failure of Spark that has a message, as one line."""
    causes = [line.partition(":")[2].strip() for line in lines if line.startswith("Caused by:")]
    if not causes:
        return lines[0]
    messages = [cause for cause in causes if not cause.endswith(":")]
    return (messages or [line for line in lines if _JAVA.fullmatch(line)] or causes)[-1]


def _quoted(text: str) -> str:
    """Return the last line of the Python traceback that Spark quotes, or ""."""
    quotes = [line.strip() for quote in _QUOTED.findall(text) for line in quote.splitlines()]
    return next((line for line in reversed(quotes) if line), "")[:_LONGEST]


def _last_words(log: str) -> str:
    """Return the last Python error in a Spark log, or ""."""
    lines = [line.strip() for line in log.splitlines()]
    found = [line for line in lines if _PYTHON.fullmatch(line)]
    found = found or [line for line in lines if _FATAL.fullmatch(line)]
    return found[-1][:_LONGEST] if found else ""
