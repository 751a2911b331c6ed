"""The chart of one panel of a reproduced figure: axes, boxes, bars, curves. Loads altair: late."""

import math
from collections.abc import Sequence
from typing import Any

import altair
import vl_convert

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Plot
from halfway.pipeline.statistics.summary import Summary
from halfway.report import wording
from halfway.report.colours import INK, PAPER
from halfway.report.verdicts.plot_values import PALETTE, reach_of, values_of

alt: Any = altair  # its generated types need too many annotations
_GRID = "#8a94a0"
_WIDTH, _HEIGHT = 350, 240


def _record(plot: Plot, row: Summary, floor: float) -> dict[str, Any]:
    low, high = reach_of(plot, row)
    centre = row.median if plot.form == "boxplot" else getattr(row, plot.statistic)
    colour = row.parameters.get(plot.colour, "") if plot.colour else ""
    return {
        "x": _abscissa(plot, row.parameters[plot.x]),
        "colour": wording.scalar(colour),
        "low": max(low, floor),
        "high": high,
        "bottom": max(row.lower_quartile, floor),
        "top": row.upper_quartile,
        "centre": max(centre, floor),
        "tip": _tip(plot, row),
    }


def _abscissa(plot: Plot, value: Scalar) -> Scalar:
    """Return a value for the horizontal axis of a reproduced figure: a number for curves, else
    text.
    """
    return value if plot.form == "curves" else wording.scalar(value)


def _tip(plot: Plot, row: Summary) -> str:
    shown = (plot.x, plot.panel, plot.colour)
    where = wording.cell({k: v for k, v in row.parameters.items() if k in shown})
    if plot.form == "boxplot":
        box = f"{wording.number(row.lower_quartile)} to {wording.number(row.upper_quartile)}"
        return (
            f"{where}: median {wording.number(row.median)}, half of all within {box}, "
            f"mean {wording.number(row.mean)}, up to {wording.number(row.maximum)}"
        )
    return f"{where}: {plot.statistic} {wording.number(getattr(row, plot.statistic))}"


def _published(plot: Plot, name: Scalar) -> list[dict[str, Any]]:
    return [
        {
            "x": _abscissa(plot, x),
            "colour": wording.scalar("" if colour is None else colour),
            "centre": value,
            "tip": f"published {wording.number(value)}",
        }
        for x, panel, colour, value in plot.published
        if panel == name
    ]


def chart_of(
    plot: Plot, rows: Sequence[Summary], name: Scalar, domain: tuple[float, float], legend: bool
) -> Any:
    """Return the altair chart of one panel of a reproduced figure, the panel `name`.

    rows: the summaries of all panels, whose series share the colours. domain: lowest and highest
    value of the vertical axis.
    """
    here = [row for row in rows if row.parameters[plot.panel] == name]
    series = [wording.scalar(v) for v in values_of(rows, plot.colour)] if plot.colour else [""]
    colours = [PALETTE[index % len(PALETTE)] for index in range(len(series))]
    shade = alt.Color(
        "colour:N",
        scale=alt.Scale(domain=series, range=colours),
        legend=alt.Legend(title=plot.colour) if legend and plot.colour else None,
    )
    place = _place(plot, series, [row.parameters[plot.x] for row in rows])
    y = _height(plot, domain)
    records = [_record(plot, row, domain[0]) for row in here]
    base = alt.Chart(alt.Data(values=records), width=_WIDTH, height=_HEIGHT).encode(**place)
    if plot.form == "boxplot":
        layers = _boxes(base, shade, y)
    elif plot.form == "curves":
        layers = _curves(base, shade, y)
    else:
        layers = _bars(base, shade, y, plot, domain[0])
    if printed := _published(plot, name):
        marks = alt.Chart(alt.Data(values=printed)).mark_point(
            shape="diamond", size=44, fill=PAPER, stroke=INK, strokeWidth=1.6, opacity=1
        )
        layers.append(marks.encode(**place, y=y("centre:Q")))
    return alt.layer(*layers)


def _place(plot: Plot, series: Sequence[str], xs: Sequence[Scalar]) -> dict[str, Any]:
    """Return the horizontal channels of a reproduced figure's marks."""
    if plot.form == "curves":
        ticks: dict[str, Any] = {"tickCount": 8, "format": "~g"}
        if plot.log_x:
            numbers = [float(x) for x in xs]
            ticks = {"values": _powers(min(numbers), max(numbers)), "format": ".0e"}
        axis = alt.Axis(grid=False, **ticks)
        kind = "log" if plot.log_x else "linear"
        scale = alt.Scale(type=kind, zero=False, nice=False, padding=12)
        return {"x": alt.X("x:Q", title=plot.x_title, scale=scale, axis=axis)}
    return {
        "x": alt.X("x:O", title=plot.x_title, sort=None, axis=alt.Axis(labelAngle=0)),
        "xOffset": alt.XOffset("colour:N", sort=series),
        "description": "tip:N",
    }


def _height(plot: Plot, domain: tuple[float, float]) -> Any:
    """Return a function from a field to its y channel, on the scale of a reproduced
    figure's panel.
    """
    scale = alt.Scale(type="log" if plot.log else "linear", domain=list(domain), nice=False)
    # The axis has the title: Vega would join the titles of the channels of all layers.
    ticks = {"values": _powers(*domain), "format": "~g"} if plot.log else {"tickCount": 6}
    axis = alt.Axis(title=plot.y_title, **ticks)
    return lambda name: alt.Y(name, scale=scale, axis=axis)


def _powers(low: float, high: float) -> list[float]:
    """Return ticks 1, 10, 100 … of a reproduced figure's axis; on a short range also 2, 5, 20 …"""
    steps = (1.0,) if high > 1000 * low else (1.0, 2.0, 5.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [mark for mark in marks if low <= mark <= high]


def _boxes(base: Any, shade: Any, y: Any) -> list[Any]:
    return [
        base.mark_rule(strokeWidth=1.4).encode(y=y("low:Q"), y2="high:Q", color=shade),
        base.mark_bar(fillOpacity=0.35, strokeWidth=1.4, opacity=1).encode(
            y=y("bottom:Q"), y2="top:Q", fill=shade, stroke=shade
        ),
        base.mark_tick(thickness=2.2, color=INK).encode(y=y("centre:Q")),
    ]


def _curves(base: Any, shade: Any, y: Any) -> list[Any]:
    centre = base.encode(y=y("centre:Q"), color=shade)
    return [
        base.mark_area(opacity=0.15).encode(y=y("low:Q"), y2="high:Q", color=shade),
        centre.mark_line(strokeWidth=1.8),
        # Only points have a text, as a line would be split into one line for each text.
        centre.mark_point(size=40, filled=True, opacity=1).encode(description="tip:N"),
    ]


def _bars(base: Any, shade: Any, y: Any, plot: Plot, floor: float) -> list[Any]:
    centre = base.encode(y=y("centre:Q"), color=shade)
    if plot.log:  # without a zero the length of a bar has no meaning
        body = centre.mark_point(size=60, filled=True, opacity=1)
    else:
        body = centre.mark_bar(opacity=0.75).encode(y2=alt.datum(floor))
    if plot.statistic == "maximum":
        return [body]
    return [body, base.mark_rule(strokeWidth=1.4, color=INK).encode(y=y("low:Q"), y2="high:Q")]


def side_by_side(charts: Sequence[Any], title: str) -> str:
    """Join the altair charts of single panels side by side into one SVG on white, with a title
    above.
    """
    return svg(alt.hconcat(*charts).properties(title=title, background=PAPER))


def svg(chart: Any) -> str:
    """Return the altair chart of one panel, or of joined panels, as SVG text."""
    axis = {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": _GRID,
        "tickColor": _GRID,
        "gridColor": _GRID,
        "gridOpacity": 0.25,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    words = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12}
    bands = {"bandPaddingInner": 0.25, "bandPaddingOuter": 0.15}
    bands["bandWithNestedOffsetPaddingInner"] = 0.3
    spec = chart.to_dict()
    spec["config"] = {
        "font": "Helvetica, Arial, sans-serif",
        "background": None,
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"grid": False},
        "scale": bands,
        "legend": words,
        "title": {"color": INK, "fontSize": 13, "anchor": "start", "offset": 14},
    }
    return str(vl_convert.vegalite_to_svg(spec))
