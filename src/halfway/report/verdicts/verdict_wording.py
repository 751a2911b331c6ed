"""The texts on verdicts that each form of a verdict report shows: symbols of opinions, headings of
figures, tallies, interpretations.
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
    """Return the text of a figure's heading in a verdict report, such as "Figure 6: impact of
    asynchrony".
    """
    return f"{figure.name.replace('-', ' ').capitalize()}: {figure.title}"


def columns(verdicts: Iterable[Verdict]) -> list[str]:
    """Return the names of the parameters in the cells of verdicts, for any form of a verdict
    report, in the order of their first appearance.
    """
    return list(dict.fromkeys(name for verdict in verdicts for name in verdict.cell))


def tally(verdicts: Iterable[Verdict]) -> dict[Opinion, int]:
    """Return the tally of verdicts for the texts of a verdict report, opinion -> number, best
    first; only opinions that occur.
    """
    counts = Counter(verdict.verdict for verdict in verdicts)
    return {opinion: counts[opinion] for opinion in OPINIONS if counts[opinion]}


def tally_line(verdicts: Sequence[Verdict]) -> str:
    """Return the tally of verdicts as a text, such as "46 of 48 agree · 1 same trend · 1 differs".

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
    """Return whether a verdict counts in the texts as one on a statement of ours, which no paper
    prints.
    """
    return verdict.verdict.startswith("ours")


def interpretation_labels(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the texts for the interpretations of verdicts: interpretation -> its letter (a, b, …);
    {} if there is only one.
    """
    found = dict.fromkeys(verdict.interpretation for verdict in verdicts)
    return {one: _label(index) for index, one in enumerate(found)} if len(found) > 1 else {}


def interpretation_tallies(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the texts of tallies by interpretation, if the verdicts have several."""
    return {
        one: tally_line([verdict for verdict in verdicts if verdict.interpretation == one])
        for one in interpretation_labels(verdicts)
    }


def _label(index: int) -> str:
    head, tail = divmod(index, 26)
    return (_label(head - 1) if head else "") + chr(ord("a") + tail)


def grouped(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    """Return the verdicts by heading, for any form of a verdict report: (paper, figure) -> its
    verdicts, in the order of their first appearance.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault((verdict.paper, verdict.figure), []).append(verdict)
    return groups
