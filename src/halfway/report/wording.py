"""The texts that all reports share: numbers, intervals, cells, counts, times, and the legend of the
star.
"""

import math
from collections.abc import Iterable, Mapping

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.verdict import NO_VALUE, Verdict

_HUNDRED = 100.0  # the least value with three digits before the point
_MINUTE, _HOUR = 60, 3600
STAR_LEGEND = (  # after the symbol
    "marks a system that is significantly better than every other system of comparable delivery."
)


def decimals(value: float) -> int:
    """Return the digits after the point that all reports show for three significant digits, or 0
    for whole numbers.
    """
    if value == int(value) or abs(value) >= _HUNDRED:
        return 0
    return min(6, max(0, 2 - math.floor(math.log10(abs(value)))))


def number(value: float | str | None, places: int | None = None) -> str:
    """Return the text of a value in any report's table; text (a claim as printed) is unchanged."""
    if value is None or isinstance(value, str):
        return value or NO_VALUE
    if not math.isfinite(value):
        return NO_VALUE
    return f"{value:.{decimals(value) if places is None else places}f}"


def short(value: float) -> str:
    """Return the text of a number in any report, in at most four digits; a missing one as a
    dash.
    """
    return NO_VALUE if math.isnan(value) else f"{value:.4g}"


def interval(verdict: Verdict) -> str:
    """Return the text of a 95 % interval in any report, with the digits of the measured value; a
    missing one as a dash.
    """
    low, high, measured = verdict.low, verdict.high, verdict.measured
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NO_VALUE
    known = measured if measured is not None and math.isfinite(measured) else high
    # A whole measured value (a median) may have an interval with halves.
    places = max(decimals(known), 1 if abs(high) < _HUNDRED and low != int(low) else 0)
    return f"{low:.{places}f}{NO_VALUE}{high:.{places}f}"


def scalar(value: Scalar) -> str:
    """Return the text of a parameter's value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def words(parameters: Mapping[str, Scalar]) -> str:
    """Return the text of a cell's text values in any report ("directional-walk")."""
    return " ".join(value for value in parameters.values() if isinstance(value, str))


def numbers(parameters: Mapping[str, Scalar]) -> str:
    """Return the text of a cell's other values ("n=1500 k=10")."""
    values = {name: value for name, value in parameters.items() if not isinstance(value, str)}
    return " ".join(f"{name}={scalar(value)}" for name, value in values.items())


def cell(parameters: Mapping[str, Scalar]) -> str:
    """Return the text of a cell's name in any report, on one line: text values first, then
    name=value.
    """
    return f"{words(parameters)} {numbers(parameters)}".strip()


def span(values: Iterable[int]) -> str:
    """Return the text of a range in any report, from the least to the greatest value: "3" or "3 to
    10".
    """
    low, *_, high = sorted({*values}) * 2
    return f"{low}" if low == high else f"{low} to {high}"


def count(number: int, word: str) -> str:
    """Return the text of a count in any report, such as "1 hop" and "1,200 hops"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def shares(seconds: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Return the times that any report shows: (phase, seconds, share of the sum) of each positive
    one, largest first.
    """
    whole = sum(seconds.values()) or 1.0
    spent = sorted(seconds.items(), key=lambda item: -item[1])
    return [(phase, time, time / whole) for phase, time in spent if time > 0]


def duration(seconds: float) -> str:
    """Return the text of a time: "0.4 s", "38 s", "4 min 10 s", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 10:
        return f"{seconds:.1f} s"
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"
