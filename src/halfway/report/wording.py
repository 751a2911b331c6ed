"""The texts that reports share: numbers, intervals, cells, symbols, tallies, the legend of the
star.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Figure
from halfway.pipeline.reproduction.verdict import NO_VALUE, Opinion, Verdict

OPINIONS: tuple[Opinion, ...] = get_args(Opinion)
_HUNDRED = 100.0  # the least value with three digits before the point
_MINUTE, _HOUR = 60, 3600
# A symbol for each opinion, so that colour is not needed to distinguish them.
SYMBOL: dict[Opinion, str] = {
    "agrees": "✓",
    "same trend": "≈",
    "opposite trend": "≉",
    "differs": "✗",
    "impossible as printed": "⊘",
    "not comparable": "○",
    "ours holds": "+",
    "ours fails": "−",
    "ours open": "·",
}
STAR_LEGEND = (  # after the symbol
    "marks a system that is significantly better than every other system of comparable delivery."
)
QUIET: tuple[Opinion, ...] = ("agrees", "ours holds")  # opinions whose reason is not shown
_PLURAL: dict[Opinion, str] = {
    "differs": "differ",
    "ours holds": "ours hold",
    "ours fails": "ours fail",
}


def decimals(value: float) -> int:
    """Return the digits after the point that a report shows for three significant digits, or 0 for
    whole numbers.
    """
    if value == int(value) or abs(value) >= _HUNDRED:
        return 0
    return min(6, max(0, 2 - math.floor(math.log10(abs(value)))))


def number(value: float | str | None, places: int | None = None) -> str:
    """Return the wording of a value in a report's table; text (a claim as printed) is unchanged."""
    if value is None or isinstance(value, str):
        return value or NO_VALUE
    if not math.isfinite(value):
        return NO_VALUE
    return f"{value:.{decimals(value) if places is None else places}f}"


def short(value: float) -> str:
    """Return a number of a report in at most four digits; a missing one as a dash."""
    return NO_VALUE if math.isnan(value) else f"{value:.4g}"


def interval(verdict: Verdict) -> str:
    """Return a 95 % interval in words, with the digits of the measured value; a missing one as a
    dash.
    """
    low, high, measured = verdict.low, verdict.high, verdict.measured
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NO_VALUE
    known = measured if measured is not None and math.isfinite(measured) else high
    # A whole measured value (a median) may have an interval with halves.
    places = max(decimals(known), 1 if abs(high) < _HUNDRED and low != int(low) else 0)
    return f"{low:.{places}f}{NO_VALUE}{high:.{places}f}"


def scalar(value: Scalar) -> str:
    """Return the wording of a parameter's value in a report's table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def words(parameters: Mapping[str, Scalar]) -> str:
    """Return the wording of a cell's text values in a report ("directional-walk")."""
    return " ".join(value for value in parameters.values() if isinstance(value, str))


def numbers(parameters: Mapping[str, Scalar]) -> str:
    """Return the wording of a cell's other values in a report ("n=1500 k=10")."""
    values = {name: value for name, value in parameters.items() if not isinstance(value, str)}
    return " ".join(f"{name}={scalar(value)}" for name, value in values.items())


def cell(parameters: Mapping[str, Scalar]) -> str:
    """Return the wording of a cell's name on one line: text values first, then name=value."""
    return f"{words(parameters)} {numbers(parameters)}".strip()


def heading(figure: Figure) -> str:
    """Return the wording of a figure's heading, such as "Figure 6: impact of asynchrony"."""
    return f"{figure.name.replace('-', ' ').capitalize()}: {figure.title}"


def columns(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the names of the parameters in the cells of a report's verdicts, in the order of their
    first appearance.
    """
    return list(dict.fromkeys(name for verdict in verdicts for name in verdict.cell))


def tally(verdicts: Iterable[Verdict]) -> dict[Opinion, int]:
    """Return the tally of a report's verdicts, opinion -> number, best first; only opinions that
    occur.
    """
    counts = Counter(verdict.verdict for verdict in verdicts)
    return {opinion: counts[opinion] for opinion in OPINIONS if counts[opinion]}


def tally_line(verdicts: Sequence[Verdict]) -> str:
    """Return the wording of a tally, such as "46 of 48 agree · 1 same trend · 1 differs".

    The whole counts the statements of the paper; those of ours follow.
    """
    counts = tally(verdicts)
    printed = sum(not is_ours(verdict) for verdict in verdicts)
    agree = counts.pop("agrees", 0)
    parts = [
        f"{count} {_PLURAL.get(opinion, opinion) if count > 1 else opinion}"
        for opinion, count in counts.items()
    ]
    if printed or not parts:
        verb = "agrees" if agree == 1 == printed else "agree"
        parts = [f"{agree} of {printed} {verb}", *parts]
    return " · ".join(parts)


def is_ours(verdict: Verdict) -> bool:
    """Return whether a report's verdict is on a statement of ours, which no paper prints."""
    return verdict.verdict.startswith("ours")


def interpretation_labels(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return interpretation -> its letter (a, b, …) in the texts of a report; {} if it has only
    one.
    """
    found = dict.fromkeys(verdict.interpretation for verdict in verdicts)
    return {one: _label(index) for index, one in enumerate(found)} if len(found) > 1 else {}


def interpretation_tallies(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return interpretation -> the wording of its tally, in a report of several."""
    return {
        one: tally_line([verdict for verdict in verdicts if verdict.interpretation == one])
        for one in interpretation_labels(verdicts)
    }


def _label(index: int) -> str:
    head, tail = divmod(index, 26)
    return (_label(head - 1) if head else "") + chr(ord("a") + tail)


def grouped(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    """Return (paper, figure) -> its verdicts for a report's texts, in the order of their first
    appearance.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict.paper, verdict.figure), []).append(verdict)
    return groups


def span(values: Iterable[int]) -> str:
    """Return the wording of a range from the least to the greatest value: "3" or "3 to 10"."""
    low, *_, high = sorted({*values}) * 2
    return f"{low}" if low == high else f"{low} to {high}"


def count(number: int, word: str) -> str:
    """Return the wording of a count, such as "1 hop" and "1,200 hops"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def shares(seconds: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Return (phase, seconds, share of the sum) of each positive time in a report's texts, largest
    first.
    """
    whole = sum(seconds.values()) or 1.0
    spent = sorted(seconds.items(), key=lambda item: -item[1])
    return [(phase, time, time / whole) for phase, time in spent if time > 0]


def duration(seconds: float) -> str:
    """Return the wording of a time: "0.4 s", "38 s", "4 min 10 s", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 10:
        return f"{seconds:.1f} s"
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"
