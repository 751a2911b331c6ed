"""The output folder of `halfway reproduce`: tables, plots, drawings and the page."""

from pathlib import Path

from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report import wording
from halfway.report.verdicts import plots
from halfway.report.verdicts.page import write_page
from halfway.report.verdicts.tables import write_tables
from halfway.report.verdicts.verdict_report import VerdictReport

_NAMES = ("index.html", "verdicts.csv", "verdicts.jsonl", "summaries.csv", "figures")


def check_folder(folder: Path) -> None:
    """Check the output folder of `halfway reproduce` before the runs start.

    Raises Problem for a file, a folder that cannot be written to, and a folder with foreign files
    of our names, so that no file is overwritten.
    """
    where, remedy = str(folder), "name another folder with --out"
    if folder.exists() and not folder.is_dir():
        raise Problem("this is a file: expected a folder", where=where, remedy=remedy)
    taken = [name for name in _NAMES if (folder / name).exists()]
    if taken and not (folder / "runs").is_dir():
        raise Problem(
            f"the folder contains {taken[0]}, which is not from halfway", where=where, remedy=remedy
        )
    write_whole(folder / ".writable", "")
    (folder / ".writable").unlink(missing_ok=True)


def write_report(folder: Path, report: VerdictReport) -> Path:
    """Write the output folder: index.html, verdicts.{csv,jsonl}, summaries.csv, figures/*.svg.

    Returns the path of the page. Raises Problem if a file cannot be written; each file is then
    either the old one or the new one.
    """
    write_tables(folder, report.verdicts, report.all_summaries())
    _write_figures(folder / "figures", report)
    page = folder / "index.html"
    write_page(page, report)
    return page


def _write_figures(folder: Path, report: VerdictReport) -> None:
    for paper, figure in report.figures:
        name = f"{paper.name}-{figure.name}"
        summaries = report.summarised(paper, figure)
        if figure.drawing is not None:
            write_whole(folder / f"{name}.svg", figure.drawing.svg())
        for number, plot in enumerate(figure.plots, start=1):
            if plots.selected(plot, summaries):
                suffix = f"-{number}" if len(figure.plots) > 1 else ""
                svg = plots.whole(plot, summaries, wording.heading(figure))
                write_whole(folder / f"{name}{suffix}.svg", svg)
