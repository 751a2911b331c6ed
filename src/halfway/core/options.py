"""The options of a protocol: values that a user may set, with default, range and description."""

from typing import NamedTuple

Value = float | int | bool


class Option(NamedTuple):
    """One option of a protocol, whose values have the type of `default`. Values are checked against
    the range.
    """

    default: Value
    low: Value
    high: Value
    meaning: str
    auto: bool = False  # a scenario chooses the value; otherwise `default` holds


def seconds(default: float, meaning: str, low: float = 0.0) -> Option:
    """Return an option of a protocol that is a time in seconds, up to about 30 years."""
    return Option(default, low, 1e9, f"seconds {meaning}")


def count(default: int, meaning: str, low: int = 0, high: int = 1_000_000) -> Option:
    """Return an option of a protocol that is a whole number."""
    return Option(default, low, high, meaning)


def switch(default: bool, meaning: str) -> Option:
    """Return an option of a protocol that is true or false."""
    return Option(default, False, True, meaning)


def share(default: float, meaning: str) -> Option:
    """Return an option of a protocol that is a number from 0 to 1."""
    return Option(default, 0.0, 1.0, meaning)
