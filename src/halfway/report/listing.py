"""What there is to reproduce: as `halfway list` prints it, and found again by its name."""

import difflib
from collections.abc import Iterable, Mapping

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.pipeline.study import Figure, Paper, Scale
from halfway.problem import Problem

# The systems of `halfway.sim.table`, which is not imported here: it loads the compiler.
SIMULATED = (
    "flooding",
    "gossip",
    "anti-entropy",
    "rumor",
    "directional-walk",
    "random-walk",
    "walk-overlay",
    "cell-hash",
    "voronoi-brokers",
    "broker-tree",
    "underlay-tree",
)


def print_papers(console: Console, papers: Iterable[Paper]) -> None:
    """Every paper with its figures and how many runs each takes, then the systems in them."""
    papers = tuple(papers)
    for paper in papers:
        head = Text.assemble((paper.name, "bold"), f"  {paper.authors}, {paper.year}")
        console.print(Padding(head, (1, 0, 0, 0)))
        console.print(Padding(Text(paper.title, style="italic"), (0, 0, 1, 2)))
        console.print(_figures(paper))
    shown = f"systems of these figures: {', '.join(systems(papers))}"
    console.print(Padding(Text(shown), (1, 0, 0, 0)))
    console.print(Text(f"systems of halfway simulate: {', '.join(SIMULATED)}"))


def chosen(papers: Mapping[str, Paper], what: str) -> list[tuple[Paper, Figure]]:
    """The figures that "PAPER/FIGURE", "PAPER" or "" (everything) names.

    Raises Problem, with the nearest name and all the others, if there is none.
    """
    pairs = [(paper, figure) for paper in papers.values() for figure in paper.figures]
    found = [
        (paper, figure)
        for paper, figure in pairs
        if what in ("", paper.name, f"{paper.name}/{figure.name}")
    ]
    if found:
        return found
    names = [*papers, *(f"{paper.name}/{figure.name}" for paper, figure in pairs)]
    # Someone who types "figure-6" or "fig6" means a figure, of whichever paper.
    last = {name.rpartition("/")[2]: name for name in reversed(names)}
    near = difflib.get_close_matches(what.rpartition("/")[2], last, 1, 0.5)
    guess = f"did you mean {last[near[0]]}? " if near else ""
    raise Problem(
        f"there is no paper or figure '{what}'", remedy=f"{guess}there are {', '.join(names)}"
    )


def systems(papers: Iterable[Paper]) -> list[str]:
    """Every system that some point of some figure runs, in the order of the papers."""
    found = dict.fromkeys(
        str(point.parameters["system"])
        for paper in papers
        for figure in paper.figures
        for point in figure.points("quick")
        if "system" in point.parameters
    )
    return list(found)


def runs(figure: Figure, scale: Scale) -> int:
    """How many runs a figure takes at a scale, if none is shared with another or finished."""
    return len(figure.points(scale)) * figure.replicates[scale]


def _figures(paper: Paper) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("  figure", no_wrap=True)
    table.add_column("what it shows", overflow="fold")
    table.add_column("quick runs", justify="right")
    table.add_column("paper runs", justify="right")
    for figure in paper.figures:
        counts = (runs(figure, "quick"), runs(figure, "paper"))
        shown = [f"{count:,}" if count else "picture" for count in counts]
        table.add_row(Text(f"  {figure.name}"), Text(figure.title), *shown)
    return table
