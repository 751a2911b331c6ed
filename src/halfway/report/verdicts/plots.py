"""The plots of reproduced figures: panels on one scale, legend, words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Drawing, Plot
from halfway.pipeline.statistics.summary import Summary
from halfway.report import wording
from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.plot_values import PALETTE, axis_order, reach_of, values_of

# Panels share a scale unless the highest exceeds the lowest this many times.
_FLAT = 4.0


@dataclass(frozen=True)
class Panel:
    """One panel of a reproduced figure's plot: its SVG, and the same values as text."""

    title: str
    svg: str
    words: str
    own_scale: bool  # the vertical axes of the panels differ


def selected(plot: Plot, summaries: Iterable[Summary]) -> list[Summary]:
    """Return the summaries that the plots of a reproduced figure show, ordered by x."""
    wanted = plot.where.items()
    axes = {plot.x, plot.panel}
    rows = [
        row
        for row in summaries
        if row.metric == plot.metric
        and wanted <= row.parameters.items()
        and axes <= row.parameters.keys()
    ]
    return sorted(rows, key=lambda row: axis_order(row.parameters[plot.x]))


def panels(plot: Plot, summaries: Iterable[Summary], kept: KeptPictures) -> list[Panel]:
    """Return the plots of a reproduced figure as SVG panels without a legend, in the colours of
    `legend`.

    kept: has the panels that an earlier report drew. The list is empty without data.
    """
    rows = selected(plot, summaries)
    names = values_of(rows, plot.panel)
    domains = _domains(plot, rows, names)
    differ = len(set(domains.values())) > 1

    def drawn(name: Scalar) -> str:
        from halfway.report.verdicts.panel_chart import chart_of, svg  # imports altair

        return svg(chart_of(plot, rows, name, domains[name], legend=False))

    return [
        Panel(
            title=_panel_title(plot, name),
            svg=kept.svg(__name__, ["panel", name, plot, *rows], partial(drawn, name)),
            words=_words(plot, [row for row in rows if row.parameters[plot.panel] == name]),
            own_scale=differ,
        )
        for name in names
    ]


def _panel_title(plot: Plot, value: Scalar) -> str:
    """Return the title of a panel of a reproduced figure; a number has its parameter's name before
    it.
    """
    text = wording.scalar(value)
    return text if isinstance(value, str) else f"{plot.panel} = {text}"


def whole(plot: Plot, summaries: Iterable[Summary], title: str, kept: KeptPictures) -> str:
    """Return a plot of a reproduced figure as a whole, one SVG on white: its panels side by side,
    title, legend.

    kept: has the plot if an earlier report drew it.
    """
    rows = selected(plot, summaries)

    def drawn() -> str:
        from halfway.report.verdicts.panel_chart import chart_of, side_by_side  # imports altair

        names = values_of(rows, plot.panel)
        domains = _domains(plot, rows, names)
        charts = [
            chart_of(plot, rows, name, domains[name], legend=True).properties(
                title=_panel_title(plot, name)
            )
            for name in names
        ]
        return side_by_side(charts, title)

    return kept.svg(__name__, ["whole", title, plot, *rows], drawn)


def picture_of(drawing: Drawing, kept: KeptPictures) -> str:
    """Return the picture of one run as SVG; `kept` has it if an earlier report drew it.

    Function and values of the drawing must determine the picture: a closure has neither.
    """
    draw: Any = drawing.svg if isinstance(drawing.svg, partial) else partial(drawing.svg)
    values = [draw.func.__qualname__, *draw.args, *sorted(draw.keywords.items())]
    return kept.svg(draw.func.__module__, values, draw)


def legend(plot: Plot, summaries: Iterable[Summary]) -> list[tuple[str, str]]:
    """Return the legend for the plots of a reproduced figure: (name, colour) of its series; empty
    if there is only one.
    """
    if plot.colour is None:
        return []
    values = values_of(selected(plot, summaries), plot.colour)
    return [
        (f"{plot.colour} = {wording.scalar(value)}", PALETTE[index % len(PALETTE)])
        for index, value in enumerate(values)
    ]


def _domains(
    plot: Plot, rows: Sequence[Summary], names: Sequence[Scalar]
) -> dict[Scalar, tuple[float, float]]:
    ends: dict[Scalar, tuple[float, float]] = {}
    for name in names:
        reach = [reach_of(plot, row) for row in rows if row.parameters[plot.panel] == name]
        printed = [value for _, panel, _, value in plot.published if panel == name]
        ends[name] = min([r[0] for r in reach] + printed), max([r[1] for r in reach] + printed)
    tops = [high for _, high in ends.values()]
    low, high = min((low for low, _ in ends.values()), default=0.0), max(tops, default=1.0)
    if plot.log:
        floor = max(low, high / 1e4, 1e-9)
        return dict.fromkeys(names, (floor / 1.15, high * 1.15))
    if high <= _FLAT * min(tops, default=high):
        return dict.fromkeys(names, (0.0, high * 1.05))
    return {name: (0.0, top * 1.05) for name, (_, top) in ends.items()}


def _words(plot: Plot, rows: Sequence[Summary]) -> str:
    """Return the text of a reproduced figure's panel for screen readers: every centre, in order."""
    statistic = "median" if plot.form == "boxplot" else plot.statistic
    values = [
        f"{wording.cell({k: v for k, v in row.parameters.items() if k in (plot.x, plot.colour)})}: "
        f"{wording.number(getattr(row, statistic))}"
        for row in rows
    ]
    return f"{plot.form} of {plot.y_title} by {plot.x_title}; {statistic} at " + "; ".join(values)
