"""Everything a finished run leaves in its folder: tables, plots, drawings and the page."""

from pathlib import Path

from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report import wording
from halfway.report.verdicts import plots
from halfway.report.verdicts.page import write_page
from halfway.report.verdicts.publication import Publication
from halfway.report.verdicts.tables import write_tables

_OURS = ("index.html", "verdicts.csv", "verdicts.jsonl", "summaries.csv", "figures")


def claim(folder: Path) -> None:
    """Make sure that results may go there, before anything takes time.

    Raises Problem for a file in its place, a folder that cannot be written to, and a folder that
    has files of our names without being ours: nothing that was there is lost.
    """
    where, remedy = str(folder), "name a folder of its own with --out"
    if folder.exists() and not folder.is_dir():
        raise Problem("is a file, not a folder", where=where, remedy=remedy)
    taken = [name for name in _OURS if (folder / name).exists()]
    if taken and not (folder / "runs").is_dir():
        raise Problem(f"holds {taken[0]}, which is not ours", where=where, remedy=remedy)
    write_whole(folder / ".writable", "")
    (folder / ".writable").unlink(missing_ok=True)


def publish(folder: Path, publication: Publication) -> Path:
    """Write index.html, verdicts.csv, verdicts.jsonl, summaries.csv and figures/*.svg; the page.

    Raises Problem if one cannot be written; each file there is then the old one or the new one.
    """
    write_tables(folder, publication.verdicts, publication.all_summaries())
    _write_figures(folder / "figures", publication)
    page = folder / "index.html"
    write_page(page, publication)
    return page


def _write_figures(folder: Path, publication: Publication) -> None:
    for paper, figure in publication.figures:
        name = f"{paper.name}-{figure.name}"
        summaries = publication.summarised(paper, figure)
        if figure.drawing is not None:
            write_whole(folder / f"{name}.svg", figure.drawing.svg())
        for number, plot in enumerate(figure.plots, start=1):
            if plots.selected(plot, summaries):
                suffix = f"-{number}" if len(figure.plots) > 1 else ""
                svg = plots.whole(plot, summaries, wording.heading(figure))
                write_whole(folder / f"{name}{suffix}.svg", svg)
