"""Failures of Spark as a Problem: one line instead of two stack traces."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from halfway.problem import Problem


@contextlib.contextmanager
def spark_errors(store: Path) -> Iterator[None]:
    """Raise Spark's failures in the block as a Problem of that result folder."""
    try:
        yield
    except (PySparkException, Py4JError) as failure:
        raise explained(failure, store) from failure


def explained(failure: Exception, store: Path) -> Problem:
    """The Problem that explains a failure of Spark: its innermost cause, as one line."""
    text = str(failure)
    kept = "finished batches are kept: run the command again to resume"
    if "No space left on device" in text:
        remedy = f"free some space in it and in the temporary folder; {kept}"
        return Problem("no space left on the disk", where=str(store), remedy=remedy)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(failure).__name__]
    causes = [line for line in lines if line.startswith("Caused by:")]
    what = causes[-1].removeprefix("Caused by:").strip() if causes else lines[0]
    return Problem(f"Spark failed: {what[:500]}", where=str(store), remedy=kept)
