"""The form of a finding of `halfway doctor`: the subject of a check, the result, and a remedy."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from halfway.problem import Problem


class State(StrEnum):
    """The state of a finding: good, a note, or a failure."""

    OK = "ok"
    NOTE = "note"  # Halfway works without the checked thing, or better with it
    FAILED = "failed"  # Halfway does not work here


class Finding(NamedTuple):
    """A finding of `halfway doctor`: the checked thing, its state, a text, and a remedy."""

    name: str
    state: State
    found: str
    do: str = ""


def ok(name: str, found: str) -> Finding:
    """Return a finding without fault."""
    return Finding(name, State.OK, found)


def note(name: str, found: str, do: str) -> Finding:
    """Return the finding that something optional is missing."""
    return Finding(name, State.NOTE, found, do)


def failed(name: str, found: str, do: str) -> Finding:
    """Return the finding that something necessary is missing."""
    return Finding(name, State.FAILED, found, do)


def finding_of(name: str, check: Callable[[], Finding]) -> Finding:
    """Return the finding of a check; an error in the check also gives a finding."""
    try:
        return check()
    except Problem as problem:
        where = f"{problem.where}: " if problem.where else ""
        return failed(name, f"{where}{problem.what}", problem.remedy)
    except OSError as error:
        return failed(
            name, (error.strerror or str(error)).lower(), "see the message of the operating system"
        )
