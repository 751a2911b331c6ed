"""The terminal: the typed command and its time, errors as one line with an exit status, warnings, a
spinner, the console.
"""

import codecs
import os
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal.misuse import misuse
from halfway.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

PLAIN = "halfway-plain"  # how a stream writes characters that its encoding lacks
_PLAIN_CHARACTERS = str.maketrans({
    "–": "-", "−": "-", "—": "-", "±": "+-", "≥": ">=", "≤": "<=", "≈": "~", "×": "x", "…": "...",
    "·": "-", "★": "*", "✓": "+", "✗": "x", "⊘": "/", "○": "o", "→": "->", "σ": "sigma",
    "“": '"', "”": '"', "’": "'",
})  # fmt: skip
FORMER_OPTIONS = {"--reading": "--interpretation"}  # an error about the first states the second
_FREE_BYTES = 16 << 20  # bytes of free space, for the compiled code of a command
RUNS_FAILED, USER_ERROR, INTERNAL_ERROR, INTERRUPTED = 1, 2, 70, 130


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return a text with ? in place of characters that the terminal cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end].translate(_PLAIN_CHARACTERS)
    return lost.encode("ascii", "replace").decode(), error.end


codecs.register_error(PLAIN, _plain)
# The processor time of the interpreter and of earlier imports is part of the command.
_BEGUN = time.monotonic() - time.process_time()


class Interrupted(Exception):
    """Ctrl-C on the terminal, with a message of the interrupted command."""


_INTERRUPTS: list[Callable[[], bool]] = []


def check_interrupts_with(were_seen: Callable[[], bool]) -> None:
    """Register with the terminal a function that returns whether Ctrl-C was typed; commands call it
    at each step.
    """
    _INTERRUPTS.append(were_seen)


def check_interrupts() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was typed on the terminal, which a library being imported
    can swallow.
    """
    if any(were_seen() for were_seen in _INTERRUPTS):
        raise KeyboardInterrupt


def warn_of_cache() -> None:
    """Warn once on the terminal if compiled code cannot be kept, so that every command compiles
    again.
    """
    compiled = sys.modules.get("halfway.core.compiler.cache")
    folder = Path(getattr(compiled, "CACHE_FOLDER", ""))
    if compiled is None:
        return
    why = ""
    if folder.name.startswith("halfway-cache-"):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "halfway"
        why = "cannot be written"
    elif shutil.disk_usage(folder).free < _FREE_BYTES:
        why = f"the disk has less than {_FREE_BYTES >> 20} MiB of free space"
    if why:
        warn(
            f"{folder}: {why}: compiled code is not kept, and each command compiles again for up "
            "to a minute (set XDG_CACHE_HOME to a writable folder with free space)"
        )


def report_error(error: BaseException) -> int:
    """Print a command's error as one line on stderr; return the exit status."""
    match error:
        case Problem():
            line, status = str(error), USER_ERROR
        case BrokenPipeError():  # the reader of the output closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            line, status = where + (error.strerror or str(error)).lower(), USER_ERROR
        case MemoryError():
            what = " ".join(str(error).split()) or "allocation failed"
            line = f"not enough memory: {what[:1].lower()}{what[1:]} (use a smaller scenario)"
            status = USER_ERROR
        case Interrupted():
            line, status = str(error), INTERRUPTED
        case KeyboardInterrupt() | typer.Abort():
            line, status = "interrupted", INTERRUPTED
        case _ if hasattr(error, "format_message"):  # misuse, from the parser
            if not (what := misuse(error.format_message())):  # a group of commands printed its help
                return USER_ERROR
            present = FORMER_OPTIONS.get(getattr(error, "option_name", ""))
            remedy = (
                f"the option has a new name: {present}"
                if present
                else "--help lists what is allowed"
            )
            line, status = f"{what} ({remedy})", USER_ERROR
        case _:
            if os.environ.get("HALFWAY_TRACEBACK"):
                traceback.print_exception(error)
            what = (str(error).strip().splitlines() or ["no message"])[0]
            hint = "internal error; please report it (HALFWAY_TRACEBACK=1 prints a traceback)"
            line, status = f"{type(error).__name__}: {what}: {hint}", INTERNAL_ERROR
    warn(" ".join(line.split()))
    return status


@contextmanager
def interruptible(out: Path) -> Iterator[None]:
    """On Ctrl-C on the terminal, report that the folder keeps the finished runs."""
    check_interrupts()
    try:
        yield
        check_interrupts()
    except KeyboardInterrupt:
        what = f"interrupted; finished runs are in {out}; the same command resumes"
        raise Interrupted(what) from None


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show a spinner with a text during the block, on a terminal only; raise a swallowed
    interrupt.
    """
    check_interrupts()
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def console() -> "Console":
    """Return the terminal's console on stdout that all reports use."""
    from halfway.report.verdicts import terminal

    return terminal.console(sys.stdout)


def command_line() -> str:
    """Return the command that was typed on the terminal, as a shell reads it."""
    return shlex.join(["halfway", *sys.argv[1:]])


def elapsed_s() -> float:
    """Return the seconds of wall time since the command began on the terminal."""
    return time.monotonic() - _BEGUN


def warn(line: str) -> None:
    """Print a warning of a command on the terminal (stderr)."""
    typer.echo(f"halfway: {line}", err=True)
