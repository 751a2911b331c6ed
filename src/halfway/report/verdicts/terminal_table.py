"""The verdict table for a terminal; on a narrow terminal, names fold, but numbers and verdicts
do not.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from rich import box
from rich.table import Table
from rich.text import Text

from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.report import wording
from halfway.report.verdicts import verdict_wording

STYLE: dict[Opinion, str] = {
    "agrees": "green",
    "same trend": "cyan",
    "opposite trend": "yellow",
    "differs": "bold red",
    "impossible as printed": "magenta",
    "not comparable": "dim",
    "ours holds": "blue",
    "ours fails": "yellow",
    "ours open": "dim",
}
_WIDE = 90  # columns of a terminal from which columns get padding
_TITLES = ("cell", "metric", "published", "measured", "95 % interval", "nets", "verdict")
# Columns that may fold, and their minimum widths; only a very long word is split.
_FOLDABLE = {"cell": 9, "metric": 13, "published": 9}
_LONGEST_WORD = 20


def verdict_table(verdicts: Sequence[Verdict], width: int) -> Table:
    """Return a verdict table for a terminal that fits into `width` columns, from about 76."""
    rows = _rows(verdicts)
    counted = networks_behind(verdicts) is None
    titles = [title for title in _TITLES if counted or title != "nets"]
    pad = int(width >= _WIDE)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, pad, 0, 0))
    for title, wide in zip(titles, _widths(titles, rows, width, 1 + pad), strict=True):
        right = title not in ("cell", "metric", "verdict")
        table.add_column(title, justify="right" if right else "left", overflow="fold", width=wide)
    for row in rows:
        table.add_row(*row)
    return table


def verdict_text(opinion: Opinion) -> Text:
    """Return an opinion in a verdict table for a terminal: symbol and name, in its colour."""
    return Text(f"{verdict_wording.SYMBOL[opinion]} {opinion}", style=STYLE[opinion])


def networks_behind(verdicts: Sequence[Verdict]) -> int | None:
    """Return the number of networks per value if it is the same in a whole verdict table for a
    terminal, else None.
    """
    counts = {verdict.replicates for verdict in verdicts}
    return counts.pop() if len(counts) == 1 else None


def _rows(verdicts: Sequence[Verdict]) -> list[list[Text]]:
    headed, marks = _has_headings(verdicts), verdict_wording.interpretation_labels(verdicts)
    counted = networks_behind(verdicts) is None
    rows: list[list[Text]] = []
    before: Verdict | None = None
    for verdict in verdicts:
        words = wording.words(verdict.cell)
        if headed and words != (wording.words(before.cell) if before else ""):
            rows.append([Text(words, style="bold")])
        same = before is not None and before.cell == verdict.cell
        cell = wording.numbers(verdict.cell) if headed else wording.cell(verdict.cell)
        rows.append([Text("" if same else cell), *_values(verdict, marks, counted)])
        before = verdict
    return rows


def _has_headings(verdicts: Sequence[Verdict]) -> bool:
    """Return whether a verdict table has headings: rows of equal text (a system's name) form
    blocks.
    """
    words = [wording.words(verdict.cell) for verdict in verdicts]
    blocks = 1 + sum(a != b for a, b in pairwise(words))
    return any(words) and blocks * 2 <= len(words)


def _values(verdict: Verdict, marks: Mapping[str, str], counted: bool) -> list[Text]:
    judged = verdict_text(verdict.verdict)
    judged.plain = judged.plain.replace("impossible ", "impossible\n  ")
    metric = Text(verdict.metric)
    if marks:
        metric.append(f" [{marks[verdict.interpretation]}]", style="dim")
    return [
        metric,
        Text(wording.number(verdict.published)),
        Text(wording.number(verdict.measured)),
        Text(wording.interval(verdict)),
        *([Text(str(verdict.replicates))] if counted else []),
        judged,
    ]


def _widths(
    titles: Sequence[str], rows: Sequence[Sequence[Text]], width: int, gap: int
) -> list[int]:
    # rich would shrink all columns, numbers and verdicts too.
    wide = [len(title) for title in titles]
    words = list(wide)
    for row in rows:
        for column, text in enumerate(row):
            wide[column] = max(wide[column], *(line.cell_len for line in text.split()), 0)
            words[column] = max(words[column], *map(len, text.plain.split()), 0)
    least = [
        max(_FOLDABLE[title], min(word, _LONGEST_WORD)) if title in _FOLDABLE else full
        for title, full, word in zip(titles, wide, words, strict=True)
    ]
    for _ in range(sum(wide) + gap * (len(titles) - 1) - width):
        spare, column = max((full - least[at], at) for at, full in enumerate(wide))
        wide[column] -= spare > 0
    return wide
