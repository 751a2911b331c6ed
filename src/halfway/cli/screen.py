"""What every command says on a terminal, and how a command ends."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

MENDABLE, RUNS_FAILED, OURS, INTERRUPTED = 2, 1, 70, 130


class Interrupted(Exception):  # noqa: N818 - it is no error
    """Somebody pressed Ctrl-C, and a command has something to say about it."""


def explained(error: BaseException) -> int:
    """One line on stderr about what went wrong; the exit status that it deserves."""
    match error:
        case Problem():
            line, status = str(error), MENDABLE
        case BrokenPipeError():  # whoever reads our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            line, status = where + (error.strerror or str(error)).lower(), MENDABLE
        case MemoryError():
            what = " ".join(str(error).split()) or "no more could be had"
            line = f"not enough memory: {what[:1].lower()}{what[1:]} (ask for less, or take more)"
            status = MENDABLE
        case Interrupted():
            line, status = str(error), INTERRUPTED
        case KeyboardInterrupt() | typer.Abort():
            line, status = "interrupted", INTERRUPTED
        case _ if hasattr(error, "format_message"):  # the parser's own: misuse, with what it saw
            said = error.format_message().replace("Value error, ", "").rstrip(".")
            line, status = f"{said} (--help shows what there is)", MENDABLE
        case _:
            if os.environ.get("HALFWAY_TRACEBACK"):
                traceback.print_exception(error)
            first = (str(error).strip().splitlines() or ["no message"])[0]
            hint = "this is a mistake of Halfway; HALFWAY_TRACEBACK=1 shows where"
            line, status = f"{type(error).__name__}: {first} ({hint})", OURS
    warn(" ".join(line.split()))
    return status


@contextmanager
def interruptible(out: Path) -> Iterator[None]:
    """Say on Ctrl-C that what is finished in that folder stays."""
    try:
        yield
    except KeyboardInterrupt:
        what = f"interrupted; what is finished is in {out}, and the same command goes on from there"
        raise Interrupted(what) from None


def assignments(given: list[str] | None, option: str) -> dict[str, str]:
    """FIELD=VALUE, taken apart; Problem for anything else."""
    found = {}
    for one in given or []:
        field, equals, value = one.partition("=")
        if not equals or not field.strip():
            what = f"{option} {one}: it must be FIELD=VALUE"
            raise Problem(what, remedy="workload.events=20")
        found[field.strip()] = value.strip()
    return found


@contextmanager
def patience(what: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def console() -> "Console":
    """The terminal, as the reports like it."""
    from halfway.report.verdicts import terminal

    return terminal.console(sys.stdout)


def warn(line: str) -> None:
    """A line on stderr."""
    typer.echo(f"halfway: {line}", err=True)
