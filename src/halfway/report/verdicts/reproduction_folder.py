"""The study folder of `halfway reproduce`: its name, tables, plots, drawings and page."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from halfway.files import write_whole
from halfway.pipeline.reproduction.figures import Figure, Paper, Scale
from halfway.report.verdicts import plots, verdict_wording
from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.verdict_files import write_tables
from halfway.report.verdicts.verdict_page import write_page
from halfway.report.verdicts.verdict_report import VerdictReport

NAMES = ("index.html", "verdicts.csv", "verdicts.jsonl", "summaries.csv", "figures")
_LONGEST = 60  # characters of the names of figures in the folder's name


def study_of(
    figures: Sequence[tuple[Paper, Figure]], scale: Scale, seed: int | None, every: int
) -> str:
    """Return the name of the study folder of `halfway reproduce` for these figures, given the
    number of all figures.

    Another scale or another seed is another study.
    """
    papers = list(dict.fromkeys(paper.name for paper, _ in figures))
    names = [f"{paper.name}-{figure.name}" for paper, figure in figures]
    if len(figures) == every:
        name = "all-figures"
    elif len(papers) == 1 and len(figures) == len(figures[0][0].figures):
        name = papers[0]
    else:
        name = "-".join(names)
    if len(name) > _LONGEST:
        digest = hashlib.sha256(" ".join(names).encode()).hexdigest()[:8]
        name = f"{len(figures)}-figures-{digest}"
    name += "" if scale == "quick" else f"-{scale}"
    return name if seed is None else f"{name}-seed-{seed}"


def write_report(folder: Path, report: VerdictReport) -> Path:
    """Write the study folder of `halfway reproduce`: index.html, verdicts.{csv,jsonl},
    summaries.csv, figures/*.svg, .pictures.

    Returns the path of the page. Raises Problem if a file cannot be written; each file is then
    either the old one or the new one.
    """
    write_tables(folder, report.verdicts, report.all_summaries())
    kept = KeptPictures(folder)
    _write_figures(folder / "figures", report, kept)
    page = folder / "index.html"
    write_page(page, report, kept)
    kept.save()
    return page


def _write_figures(folder: Path, report: VerdictReport, kept: KeptPictures) -> None:
    for paper, figure in report.figures:
        name = f"{paper.name}-{figure.name}"
        summaries = report.summarised(paper, figure)
        if figure.drawing is not None:
            write_whole(folder / f"{name}.svg", plots.picture_of(figure.drawing, kept))
        for number, plot in enumerate(figure.plots, start=1):
            if plots.selected(plot, summaries):
                suffix = f"-{number}" if len(figure.plots) > 1 else ""
                svg = plots.whole(plot, summaries, verdict_wording.heading(figure), kept)
                write_whole(folder / f"{name}{suffix}.svg", svg)
