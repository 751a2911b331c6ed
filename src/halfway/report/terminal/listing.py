"""The lists of papers, figures, systems and options, and the selection of figures by name."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.pipeline.reproduction.figures import Figure, Paper, Scale
from halfway.problem import Problem
from halfway.protocols import SYSTEMS
from halfway.report.terminal.plain_table import plain_table

_RUNS = ("quick runs", "paper runs")


def print_papers(console: Console, papers: Iterable[Paper]) -> None:
    """Print the list of papers with their figures and numbers of runs, then the list of systems."""
    for paper in papers:
        head = Text.assemble((paper.name, "bold"), f"  {paper.authors}, {paper.year}")
        console.print(Padding(head, (1, 0, 0, 0)))
        console.print(Padding(Text(paper.title, style="italic"), (0, 0, 1, 2)))
        console.print(_figures(paper))
    console.print(Padding(Text("systems", style="bold"), (1, 0, 1, 0)))
    table = plain_table("  system", "idea", "paper", numbers=(), is_list=True)
    for name, about in SYSTEMS.items():
        table.add_row(Text(f"  {name}"), Text(about.idea), Text(about.paper))
    console.print(table)
    console.print(Text("`halfway options SYSTEM` lists the options of a system."))


def ideas() -> dict[str, str]:
    """Return the list of systems: each name with the idea of the system, in one sentence."""
    return {name: about.idea for name, about in SYSTEMS.items()}


class OptionRow(NamedTuple):
    """One listed option of a system."""

    system: str
    option: str
    default: float | int | bool
    low: float | int | bool
    high: float | int | bool
    meaning: str
    auto: bool  # a scenario chooses the value; `default` holds without a scenario


def print_options(console: Console, options: Mapping[str, Sequence[OptionRow]]) -> None:
    """Print a table of options for each listed system: option, default, range, meaning."""
    for system, own in options.items():
        idea = f"  {SYSTEMS[system].idea}" if system in SYSTEMS else ""
        console.print(Padding(Text.assemble((system, "bold"), idea), (1, 0, 1, 0)))
        table = plain_table(
            "  option", "default", "range", "meaning", numbers=["default"], is_list=True
        )
        for row in own:
            default = "auto" if row.auto else _value(row.default)
            values = default, _range(row), row.meaning
            table.add_row(Text(f"  {row.option}"), *map(Text, values))
        console.print(table if own else Text("  no options"))
    for row in [row for own in options.values() for row in own][:1]:
        shown = f"--set options.{row.system}.{row.option}={_value(row.default)}"
        line = f"In a scenario: the table [options.{row.system}]. In a command: {shown}"
        console.print(Text(line), soft_wrap=True)


def options_json(options: Mapping[str, Sequence[OptionRow]]) -> str:
    """Return the listed options as one JSON object a line: all fields of a row."""
    rows = [row._asdict() for own in options.values() for row in own]
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def _value(value: float | int | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.10g}" if 1e-3 <= abs(value) < 1e7 else f"{value:g}"


def _range(row: OptionRow) -> str:
    if isinstance(row.default, bool):
        return "true, false"
    return f"{_value(row.low)} to {_value(row.high)}{' s' * row.option.endswith('_s')}"


def chosen(papers: Mapping[str, Paper], names: Sequence[str] = ()) -> list[tuple[Paper, Figure]]:
    """Select figures from the lists of papers by these names, each figure once.

    names: "PAPER/FIGURE" or "PAPER"; empty for all figures. Raises Problem for an unknown
    name, with the nearest name.
    """
    pairs = [(paper, figure) for paper in papers.values() for figure in paper.figures]
    if not names:
        return pairs
    named = {f"{paper.name}/{figure.name}": (paper, figure) for paper, figure in pairs}
    figures: dict[str, tuple[Paper, Figure]] = {}
    for name in names:
        matches = {full: pair for full, pair in named.items() if name in (full, pair[0].name)}
        if not matches:
            raise Problem(f"there is no paper or figure '{name}'", remedy=_nearest(name, named))
        figures |= matches
    return list(figures.values())


def _nearest(what: str, figures: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the nearest figure, and the command that lists all."""
    figures = list(figures)
    # "figure-6" or "fig6" means a figure of any paper.
    papers = {name.partition("/")[0]: name.partition("/")[0] for name in figures}
    last = papers | {name.rpartition("/")[2]: name for name in reversed(figures)}
    near = difflib.get_close_matches(what.rpartition("/")[2], last, 1, 0.5)
    guess = f"did you mean {last[near[0]]}? " if near else ""
    return f"{guess}`halfway list` shows all names"


def runs(figure: Figure, scale: Scale) -> int:
    """Return the number of runs that the list of papers shows for a figure at a scale, shared and
    finished ones included.
    """
    return len(figure.points(scale)) * figure.replicates[scale]


def _figures(paper: Paper) -> Table:
    table = plain_table("  figure", "title", *_RUNS, numbers=_RUNS, is_list=True)
    for figure in paper.figures:
        counts = (runs(figure, "quick"), runs(figure, "paper"))
        shown = [f"{count:,}" if count else "picture" for count in counts]
        table.add_row(Text(f"  {figure.name}"), Text(figure.title), *shown)
    return table
