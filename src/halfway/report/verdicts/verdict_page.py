"""The verdict page: one self-contained HTML file, readable without JavaScript."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from halfway.files import write_whole
from halfway.pipeline.reproduction.figures import Figure, Paper, Plot
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.summary import Summary
from halfway.report import wording
from halfway.report.colours import INK, PAPER
from halfway.report.document import asset, document, header, section
from halfway.report.embedded import embedded
from halfway.report.verdicts import plots, verdict_wording
from halfway.report.verdicts.html_table import SLUG, table
from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.plot_values import PALETTE
from halfway.report.verdicts.verdict_report import VerdictReport

# The first colour of the palette is too dark for a dark page, where the style sheet replaces it.
_SERIES = {PALETTE[0]: "var(--series-1)"}
_THEME = {INK: "currentColor", PAPER: "var(--card)", **_SERIES}
_PLOT_NOTE = {
    "boxplot": "A box shows the quartiles and the median. Whiskers reach to the last value within "
    "1.5 box lengths. The plot does not draw outliers.",
    "bars": "A bar shows the {statistic} over all units. A line shows the 95 % interval of the "
    "{statistic}, with networks as clusters.",
    "curves": "A line joins the {statistic} over all units. A band shows the 95 % interval of the "
    "{statistic}, with networks as clusters.",
    "maximum": "A bar shows the largest value of all units.",
}


def write_page(path: Path, report: VerdictReport, kept: KeptPictures) -> None:
    """Write the verdict page of a report to `path`. Raises Problem if it cannot be written."""
    write_whole(path, page(report, kept))


def page(report: VerdictReport, kept: KeptPictures) -> str:
    """Return the verdict page as the text of an HTML document, with the pictures that are kept."""
    papers = report.papers()
    title = papers[0].title if len(papers) == 1 else "Published and measured values"
    shown = "".join(_paper(report, paper, len(papers) > 1, kept) for paper in papers)
    main = f"<main>{shown}{_making(report)}</main>"
    body = f"{_head(report, papers, title)}{_contents(report)}{main}"
    return document(title, asset("verdicts", "page.css"), body, asset("verdicts", "page.js"))


def _head(report: VerdictReport, papers: Sequence[Paper], title: str) -> str:
    byline = "; ".join(f"{paper.authors} ({paper.year})" for paper in papers)
    if len(papers) == 1:
        byline = f"{papers[0].authors}, {papers[0].year}"
    facts = {
        "scale": report.scale,
        "networks per point": wording.span(
            figure.replicates[report.scale] for _, figure in report.figures
        ),
        "version": f"Halfway {report.version}",
        "digest": f"<code>{escape(report.digest) or 'none'}</code>",
    }
    failed = wording.count(report.errors, "run")
    alarm = f"{failed} failed, and no value includes a failed run." if report.errors else ""
    brand = "published and measured values"
    return header(brand, title, byline, facts, alarm, _tally(report.verdicts))


def _tally(verdicts: Sequence[Verdict]) -> str:
    """Return the verdict page's tally: a sentence, a bar, and buttons that a script turns into
    filters.
    """
    counts = verdict_wording.tally(verdicts)
    if not counts:
        return ""
    bar, chips = "", ""
    for opinion, count in counts.items():
        slug = SLUG[opinion]
        bar += f'<span class="{slug}" style="flex-grow:{count}"></span>'
        chips += (
            f'<button type="button" class="chip {slug}" data-only="{slug}" aria-pressed="false">'
            f"{verdict_wording.SYMBOL[opinion]} {opinion} <b>{count}</b></button>"
        )
    return (
        f'<p class="tally">{wording.count(len(verdicts), "judged value")}; '
        "each figure has a tally of its own</p>"
        f'<div class="bar" aria-hidden="true">{bar}</div>'
        '<div class="filter" role="group" aria-label="Show only rows with this verdict" hidden>'
        f'<span>show only</span>{chips}<span class="shown" role="status"></span></div>'
    )


def _anchor(paper: Paper, figure: Figure) -> str:
    return f"{paper.name}-{figure.name}"


def _contents(report: VerdictReport) -> str:
    links = ""
    for paper, figure in report.figures:
        verdicts = report.of(paper, figure)
        short = verdict_wording.tally_line(verdicts) if verdicts else "picture only"
        link = f'<a href="#{_anchor(paper, figure)}">{escape(verdict_wording.heading(figure))}</a>'
        links += f"<li>{link}<span>{short}</span></li>"
    return f'<nav aria-label="Figures"><ul>{links}</ul></nav>'


def _paper(report: VerdictReport, paper: Paper, several: bool, kept: KeptPictures) -> str:
    heading = (
        f'<h2 class="paper">{escape(paper.title)}</h2>'
        f'<p class="byline">{escape(paper.authors)}, {paper.year}</p>'
    )
    own = [figure for owner, figure in report.figures if owner.name == paper.name]
    figures = "".join(_figure(report, paper, figure, kept) for figure in own)
    return heading + figures if several else figures


def _figure(report: VerdictReport, paper: Paper, figure: Figure, kept: KeptPictures) -> str:
    verdicts = report.of(paper, figure)
    summaries = report.summarised(paper, figure)
    anchor = _anchor(paper, figure)
    name = f"<small><code>{escape(paper.name)}/{escape(figure.name)}</code></small>"
    parts = []
    if drawing := figure.drawing:
        svg = embedded(plots.picture_of(drawing, kept), f"{anchor}-drawing", drawing.caption)
        caption = f"<figcaption>{escape(drawing.caption)}</figcaption>"
        parts.append(f'<figure class="drawing">{svg}{caption}</figure>')
    parts += [
        _plot(f"{anchor}-{index}", plot, summaries, kept) for index, plot in enumerate(figure.plots)
    ]
    if verdicts:
        parts.append(table(verdicts, verdict_wording.heading(figure)))
    parts.append(_interpretations(figure, verdicts))
    return section(anchor, f"{escape(verdict_wording.heading(figure))} {name}", "".join(parts))


def _plot(name: str, plot: Plot, summaries: Sequence[Summary], kept: KeptPictures) -> str:
    panels = plots.panels(plot, summaries, kept)
    if not panels:
        return ""
    pictures = "".join(
        f'<div class="panel"><h3>{escape(panel.title)}</h3>'
        f"{embedded(panel.svg, f'{name}-{index}', f'{panel.title}: {panel.words}', _THEME)}</div>"
        for index, panel in enumerate(panels)
    )
    keys = "".join(
        f'<li><i style="background:{_SERIES.get(colour, colour)}"></i>{escape(text)}</li>'
        for text, colour in plots.legend(plot, summaries)
    )
    printed = '<li><i class="diamond"></i>published</li>' if plot.published else ""
    legend = f'<ul class="legend">{keys}{printed}</ul>' if keys or printed else ""
    largest = plot.form == "bars" and plot.statistic == "maximum"
    note = _PLOT_NOTE["maximum" if largest else plot.form].format(statistic=plot.statistic)
    if panels[0].own_scale:
        note += " Each panel has its own vertical scale."
    return (
        f'<figure class="plot">{legend}<div class="panels">{pictures}</div>'
        f"<figcaption>{note}</figcaption></figure>"
    )


def _interpretations(figure: Figure, verdicts: Sequence[Verdict]) -> str:
    labels = verdict_wording.interpretation_labels(verdicts)
    lines = [
        f"<b>[{labels[interpretation]}]</b> {escape(interpretation)} <small>{tally}</small>"
        for interpretation, tally in verdict_wording.interpretation_tallies(verdicts).items()
    ]
    if verdicts and not labels and verdicts[0].interpretation:
        lines.append(escape(verdicts[0].interpretation))
    lines += [
        escape(interpretation)
        for interpretation in figure.interpretations
        if interpretation not in labels
    ]
    items = "".join(f"<li>{line}</li>" for line in dict.fromkeys(lines))
    heading = "Interpretation of the paper"
    return f'<h3>{heading}</h3><ul class="interpretations">{items}</ul>' if items else ""


def _making(report: VerdictReport) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(phase)}</th><td>{wording.duration(spent)}</td>'
        f"<td>{share:.0%}</td></tr>"
        for phase, spent, share in wording.shares(report.seconds)
    )
    times = (
        '<table class="times"><caption>Time of all cores by phase</caption><thead><tr>'
        '<th scope="col">phase</th><th scope="col">time</th><th scope="col">share</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )
    inner = (
        f"<pre><code>{escape(report.command)}</code></pre>"
        f"<p>The wall time was {wording.duration(report.elapsed)}. "
        "The same command, code and version of numba give the same digest on any machine, with any "
        "number of cores. "
        "The rows of all tables are in <code>verdicts.csv</code>, <code>verdicts.jsonl</code> and "
        "<code>summaries.csv</code> in the folder of this page.</p>"
        f"{times if rows else ''}"
    )
    return section("making", "How this page was made", inner)
