"""Verdict tables for a terminal: they fold at 80 columns and read without colour."""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from halfway.pipeline.study import Figure, Paper
from halfway.pipeline.verdict import Opinion, Verdict
from halfway.report import wording
from halfway.report.verdicts.publication import Publication
from halfway.report.verdicts.verdict_table import (
    STYLE,
    networks_behind,
    verdict_table,
    verdict_text,
)

_INDENT = (0, 0, 0, 2)
_PIPED = 100  # a file has no width of its own: what most editors show
_MOST_REASONS = 8  # a table whose every row differs need not be told twice


def console(stream: TextIO) -> Console:
    """A console for tables; no markup, so that a bracket in a reading stays one."""
    wide = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED
    return Console(file=stream, width=wide, markup=False, highlight=False)


def print_figure(out: Console, paper: Paper, figure: Figure, verdicts: Sequence[Verdict]) -> None:
    """One figure: its table, the reasons of all that does not agree, its readings, its tally."""
    heading = Text.assemble(
        (wording.heading(figure), "bold"), (f"  {paper.name}/{figure.name}", "dim")
    )
    out.print(Padding(heading, (1, 0, 0, 0)))
    if not verdicts:
        out.print(Padding(Text("nothing judged: look at the picture on the page"), _INDENT))
    else:
        marks = wording.reading_marks(verdicts)
        out.print(verdict_table(verdicts, out.width))
        _print_reasons(out, verdicts)
        _print_marks(out, verdicts, marks)
    for reading in figure.readings:
        out.print(Padding(Text.assemble(("reading: ", "dim"), reading), _INDENT))
    if verdicts:
        line = tally_text(verdicts)
        if (networks := networks_behind(verdicts)) is not None:
            line.append(f" · {networks} networks behind each value", style="dim")
        out.print(Padding(line, _INDENT))


def tally_text(verdicts: Sequence[Verdict]) -> Text:
    """The tally line, the part that agrees in its colour."""
    line = Text(wording.tally_line(verdicts))
    first, *_ = line.plain.split(" · ")
    line.stylize(f"{STYLE['agrees']} bold", 0, len(first))
    return line


def print_run(out: Console, publication: Publication, page: Path) -> None:
    """The whole run in a few lines: tallies, digest, what the time went to, where the page is."""
    out.print()
    widest = max((len(figure.name) for _, figure in publication.figures), default=0) + 2
    for paper, figure in publication.figures:
        # No sum over figures: a rejected reading that differs is no failure of the others.
        if judged := publication.of(paper, figure):
            out.print(Text.assemble((f"{figure.name:<{widest}}", "dim"), tally_text(judged)))
    spent = f"{wording.duration(publication.elapsed)} on the clock"
    parts = [f"{phase} {share:.0%}" for phase, _, share in wording.shares(publication.seconds)]
    shared = ", cores' time: " + " · ".join(parts) if parts else ", nothing was left to run"
    for word, text in (
        ("digest", publication.digest),
        ("time", spent + shared),
        ("page", str(page)),
    ):
        if not text:
            continue
        out.print(Text.assemble((f"{word:<10}", "dim"), text), soft_wrap=True)


def _print_reasons(out: Console, verdicts: Sequence[Verdict]) -> None:
    reasons: dict[tuple[Opinion, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.verdict != "agrees" and verdict.reason:
            reasons.setdefault((verdict.verdict, verdict.reason), []).append(verdict)
    for (opinion, reason), rows in islice(reasons.items(), _MOST_REASONS):
        first = f"{wording.cell(rows[0].cell)} {rows[0].metric}".strip()
        where = first if len(rows) == 1 else f"{first} and {len(rows) - 1} more"
        line = Text.assemble(verdict_text(opinion), f"  {where}: ", (reason, "italic"))
        out.print(Padding(line, _INDENT))
    if (left := len(reasons) - _MOST_REASONS) > 0:
        rest = f"{wording.count(left, 'more reason')}: verdicts.csv and the page have them all"
        out.print(Padding(Text(rest, style="dim"), _INDENT))


def _print_marks(out: Console, verdicts: Sequence[Verdict], marks: Mapping[str, str]) -> None:
    tallies = wording.reading_tallies(verdicts)
    for reading, letter in (marks or {verdicts[0].reading: ""}).items():
        if reading or letter:
            line = Text(f"reading [{letter}]: " if letter else "reading: ", style="dim")
            line.append(reading, style="not dim")
            if letter:
                line.append(f" ({tallies[reading]})")
            out.print(Padding(line, _INDENT))
