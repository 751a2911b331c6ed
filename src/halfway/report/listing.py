"""The list of papers and figures: printed by `halfway list`, and selected by name."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.pipeline.study import Figure, Paper, Scale
from halfway.problem import Problem
from halfway.protocols import SYSTEMS


def print_papers(console: Console, papers: Iterable[Paper]) -> None:
    """Print the list of papers with their figures and numbers of runs, then the systems."""
    papers = tuple(papers)
    for paper in papers:
        head = Text.assemble((paper.name, "bold"), f"  {paper.authors}, {paper.year}")
        console.print(Padding(head, (1, 0, 0, 0)))
        console.print(Padding(Text(paper.title, style="italic"), (0, 0, 1, 2)))
        console.print(_figures(paper))
    shown = f"systems of these figures: {', '.join(systems(papers))}"
    console.print(Padding(Text(shown), (1, 0, 0, 0)))
    console.print(Text(f"systems of halfway simulate: {', '.join(SYSTEMS)}"))


def chosen(papers: Mapping[str, Paper], names: Sequence[str] = ()) -> list[tuple[Paper, Figure]]:
    """The listed figures with these names ("PAPER/FIGURE" or "PAPER"), each once; () selects all.

    Raises Problem, with the nearest name, for an unknown name.
    """
    pairs = [(paper, figure) for paper in papers.values() for figure in paper.figures]
    if not names:
        return pairs
    named = {f"{paper.name}/{figure.name}": (paper, figure) for paper, figure in pairs}
    found: dict[str, tuple[Paper, Figure]] = {}
    for name in names:
        matches = {full: pair for full, pair in named.items() if name in (full, pair[0].name)}
        if not matches:
            raise Problem(f"there is no paper or figure '{name}'", remedy=_nearest(name, named))
        found |= matches
    return list(found.values())


def _nearest(what: str, figures: Iterable[str]) -> str:
    """The remedy for a name not in the list: the nearest figure, and the command that lists."""
    figures = list(figures)
    # "figure-6" or "fig6" means a figure of any paper.
    papers = {name.partition("/")[0]: name.partition("/")[0] for name in figures}
    last = papers | {name.rpartition("/")[2]: name for name in reversed(figures)}
    near = difflib.get_close_matches(what.rpartition("/")[2], last, 1, 0.5)
    guess = f"did you mean {last[near[0]]}? " if near else ""
    return f"{guess}`halfway list` shows them all"


def systems(papers: Iterable[Paper]) -> list[str]:
    """The systems of all listed figures, in the order of the papers."""
    figures = [figure for paper in papers for figure in paper.figures]
    points = [point.parameters for figure in figures for point in figure.points("quick")]
    return list(dict.fromkeys(str(point["system"]) for point in points if "system" in point))


def runs(figure: Figure, scale: Scale) -> int:
    """The number of runs of a listed figure at a scale, shared and finished ones included."""
    return len(figure.points(scale)) * figure.replicates[scale]


def _figures(paper: Paper) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("  figure", no_wrap=True)
    table.add_column("title", overflow="fold")
    table.add_column("quick runs", justify="right")
    table.add_column("paper runs", justify="right")
    for figure in paper.figures:
        counts = (runs(figure, "quick"), runs(figure, "paper"))
        shown = [f"{count:,}" if count else "picture" for count in counts]
        table.add_row(Text(f"  {figure.name}"), Text(figure.title), *shown)
    return table
