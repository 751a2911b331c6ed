"""Verdict tables on a terminal: they fold at 80 columns and do not depend on colour."""

import os
from collections.abc import Sequence
from itertools import islice
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from halfway.pipeline.reproduction.figures import Figure, Paper
from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.report import wording
from halfway.report.verdicts import terminal_table, verdict_wording
from halfway.report.verdicts.verdict_report import VerdictReport

_INDENT = (0, 0, 0, 2)
_PIPED = 100  # columns of output to a file
_MOST_REASONS = 8  # printed under a table


def console(stream: TextIO) -> Console:
    """Return a terminal console for verdict tables, without markup: texts may contain brackets."""
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED
    return Console(file=stream, width=width, markup=False, highlight=False)


def print_figure(out: Console, paper: Paper, figure: Figure, verdicts: Sequence[Verdict]) -> None:
    """Print a figure to the terminal: verdict table, reasons to differ, interpretations, tally."""
    name = (f"  {paper.name}/{figure.name}", "dim")
    heading = Text.assemble((verdict_wording.heading(figure), "bold"), name)
    out.print(Padding(heading, (1, 0, 0, 0)))
    if not verdicts:
        out.print(Padding(Text("no judged values: see the picture on the page"), _INDENT))
    else:
        out.print(terminal_table.verdict_table(verdicts, out.width))
        _print_reasons(out, verdicts)
        _print_interpretations(out, verdicts)
    for interpretation in figure.interpretations:
        out.print(Padding(Text.assemble(("interpretation: ", "dim"), interpretation), _INDENT))
    if verdicts:
        line = tally_text(verdicts)
        if (networks := terminal_table.networks_behind(verdicts)) is not None:
            line.append(f" · {networks} networks per value", style="dim")
        out.print(Padding(line, _INDENT))


def tally_text(verdicts: Sequence[Verdict]) -> Text:
    """Return the tally line of verdicts for a terminal, with the number that agrees in colour."""
    line = Text(verdict_wording.tally_line(verdicts))
    first, *_ = line.plain.split(" · ")
    if "agree" in first:
        line.stylize(f"{terminal_table.STYLE['agrees']} bold", 0, len(first))
    return line


def print_run(out: Console, report: VerdictReport, page: str) -> None:
    """Print a reproduction's end to the terminal: tallies, digest, times, and the page's place."""
    out.print()
    widest = max((len(figure.name) for _, figure in report.figures), default=0) + 2
    for paper, figure in report.figures:
        # No sum over figures: a rejected interpretation that differs does not affect the others.
        if judged := report.of(paper, figure):
            out.print(Text.assemble((f"{figure.name:<{widest}}", "dim"), tally_text(judged)))
    spent = wording.duration(report.elapsed)
    parts = [f"{phase} {share:.0%}" for phase, _, share in wording.shares(report.seconds)]
    shared = ", time of all cores: " + " · ".join(parts) if parts else ", all runs were finished"
    facts = (("digest", report.digest), ("wall time", spent + shared), ("page", page))
    for label, text in facts:
        if text:
            out.print(Text.assemble((f"{label:<10}", "dim"), text), soft_wrap=True)


def _print_reasons(out: Console, verdicts: Sequence[Verdict]) -> None:
    reasons: dict[tuple[Opinion, str], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.verdict not in verdict_wording.QUIET and verdict.reason:
            reasons.setdefault((verdict.verdict, verdict.reason), []).append(verdict)
    for (opinion, reason), rows in islice(reasons.items(), _MOST_REASONS):
        first = f"{wording.cell(rows[0].cell)} {rows[0].metric}".strip()
        where = first if len(rows) == 1 else f"{first} and {len(rows) - 1} more"
        line = Text.assemble(
            terminal_table.verdict_text(opinion), f"  {where}: ", (reason, "italic")
        )
        out.print(Padding(line, _INDENT))
    if (left := len(reasons) - _MOST_REASONS) > 0:
        rest = f"{wording.count(left, 'more reason')}: verdicts.csv and the page have all"
        out.print(Padding(Text(rest, style="dim"), _INDENT))


def _print_interpretations(out: Console, verdicts: Sequence[Verdict]) -> None:
    labels = verdict_wording.interpretation_labels(verdicts)
    tallies = verdict_wording.interpretation_tallies(verdicts)
    for text, label in (labels or {verdicts[0].interpretation: ""}).items():
        if text or label:
            prefix = f"interpretation [{label}]: " if label else "interpretation: "
            line = Text(prefix, style="dim")
            line.append(text, style="not dim")
            if label:
                line.append(f" ({tallies[text]})")
            out.print(Padding(line, _INDENT))
