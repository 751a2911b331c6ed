"""The texts on verdicts, for each form of a verdict report: symbols of opinions, headings, tallies,
interpretations.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import get_args

from halfway.pipeline.reproduction.figures import Figure
from halfway.pipeline.reproduction.verdict import Opinion, Verdict

OPINIONS: tuple[Opinion, ...] = get_args(Opinion)
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
QUIET: tuple[Opinion, ...] = ("agrees", "ours holds")  # opinions whose reason is not shown
_PLURAL: dict[Opinion, str] = {
    "differs": "differ",
    "ours holds": "ours hold",
    "ours fails": "ours fail",
}


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
