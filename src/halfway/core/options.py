"""The options of a protocol: values that a user may set, with default, range and description, and
their check.
"""

from collections.abc import Mapping
from typing import NamedTuple

from halfway.problem import Problem

Value = float | int | bool
BROADCAST = -1  # a value of an option `fanout`: one transmission to all neighbours


class Option(NamedTuple):
    """One option of a protocol, whose values have the type of `default`. Values are checked against
    the range.
    """

    default: Value
    low: Value
    high: Value
    meaning: str
    auto: bool = False  # a scenario chooses the value; otherwise `default` holds
    former_name: str = ""  # an error about this name states the present name


def seconds(default: float, meaning: str, low: float = 0.0) -> Option:
    """Return an option of a protocol that is a time in seconds, up to about 30 years."""
    return Option(default, low, 1e9, f"seconds {meaning}")


def count(default: int, meaning: str, low: int = 0, high: int = 1_000_000) -> Option:
    """Return an option of a protocol that is a whole number."""
    return Option(default, low, high, meaning)


def fanout(default: int, when: str, high: int = 1_000_000) -> Option:
    """Return an option of a protocol that is the number of neighbours to which a node sends, or
    BROADCAST.
    """
    meaning = f"number of random neighbours to which a node sends {when}"
    return count(default, f"{meaning}. -1 means one broadcast to all neighbours", BROADCAST, high)


def switch(default: bool, meaning: str) -> Option:
    """Return an option of a protocol that is true or false."""
    return Option(default, False, True, meaning)


def share(default: float, meaning: str) -> Option:
    """Return an option of a protocol that is a number from 0 to 1."""
    return Option(default, 0.0, 1.0, meaning)


def checked_options(
    system: str, declared: Mapping[str, Option], values: Mapping[str, Value]
) -> dict[str, Value]:
    """Check the options of a protocol, and return the value of each one. Raises Problem for a wrong
    option.
    """
    for name, value in values.items():
        check_option(system, declared, name, value)
    return {
        name: type(option.default)(values.get(name, option.default))
        for name, option in declared.items()
    }


def check_option(system: str, declared: Mapping[str, Option], name: str, value: Value) -> None:
    """Check one option of a protocol. Raises Problem for an unknown option, or a value out of
    range.
    """
    if name not in declared:
        present = next((own for own, option in declared.items() if option.former_name == name), "")
        if present:
            what, remedy = f"option '{name}' has a new name", f"use '{present}'"
        else:
            known = ", ".join(declared) or "none"
            what, remedy = f"unknown option '{name}'", f"use one of these options: {known}"
        raise Problem(f"{system}: {what}", remedy=remedy)
    option = declared[name]
    if isinstance(option.default, bool):
        fits, expected = isinstance(value, bool), "true or false"
    else:
        whole = isinstance(option.default, int)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        within = number and option.low <= value <= option.high  # first: int() fails on nan and inf
        fits = within and not (whole and value != int(value))
        expected = f"a {'whole ' * whole}number from {option.low:g} to {option.high:g}"
    if not fits:
        raise Problem(f"{system}: {name} = {value}: expected {expected} ({option.meaning})")
