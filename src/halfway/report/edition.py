"""Everything a finished run leaves in its folder: tables, plots, drawings and the page."""

from pathlib import Path

from halfway.report import plots, wording
from halfway.report.files import write_whole
from halfway.report.page import write_page
from halfway.report.publication import Publication
from halfway.report.tables import write_tables


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
