"""Charts of a comparison's metric for a notebook. Loads altair: import it late."""

import math
import re
from numbers import Real
from typing import Any

import altair

from halfway.comparison.evaluation.comparison_results import Metric, Results
from halfway.report import wording
from halfway.report.comparison.plots.frame import cell_of
from halfway.report.comparison.plots.sweep_plots import varied
from halfway.report.comparison.plots.system_marks import colour, mark_numbers
from halfway.report.document import asset

alt: Any = altair  # its generated types need too many annotations
_WIDTH, _HEIGHT, _ROW = 420, 280, 26


def metric_chart(results: Results, metric: Metric) -> Any:
    """Return the chart of one metric of a comparison: means with 95 % intervals.

    Without a sweep, each system has a row. A sweep's first field is the lower axis, and each
    setting of its other fields has a panel.
    """
    fields = varied(results)
    base = alt.Chart(alt.InlineData(values=_values(results, metric, fields)), title=results.title)
    base = base.encode(color=_colour(results))
    if not fields:
        order = list(results.systems)
        rows = base.encode(y=alt.Y("system:N", sort=order, title=None))
        ends = rows.mark_rule(strokeWidth=2).encode(x=_axis("X", "low", metric), x2="high:Q")
        size = {"width": _WIDTH, "height": _ROW * len(order)}
        return (ends + _points(rows).encode(x=_axis("X", "mean", metric))).properties(**size)
    numeric = all(_is_number(point[fields[0]]) for point in results.points)
    across = alt.X("across:Q" if numeric else "across:N", title=fields[0], sort=None)
    if numeric:
        across = across.scale(zero=False)
    base = base.encode(x=across)
    ends = base.mark_rule().encode(y=_axis("Y", "low", metric), y2="high:Q")
    means = base.encode(y=_axis("Y", "mean", metric))
    layers = (means.mark_line() + ends + _points(means)).properties(width=_WIDTH, height=_HEIGHT)
    if len(fields) == 1:
        return layers
    return layers.facet(alt.Facet("panel:N", title=None, sort=None), columns=2)


def _values(results: Results, metric: Metric, fields: list[str]) -> list[dict[str, object]]:
    """Return the rows of a comparison's chart: a mean, the ends of its interval, and its place."""
    rows: list[dict[str, object]] = []
    for number, point in enumerate(results.points):
        others = {field: point[field] for field in fields[1:]}
        where = {"across": point[fields[0]], "panel": wording.cell(others)} if fields else {}
        for system in results.systems:
            cell = cell_of(results, number, system, metric.name)
            if cell is None or not math.isfinite(cell.mean.value):
                continue
            mean, ends = cell.mean, (cell.mean.low, cell.mean.high)
            low, high = ends if all(map(math.isfinite, ends)) else (mean.value, mean.value)
            known = {"system": system, "mean": mean.value, "low": low, "high": high}
            rows.append({**where, **known, "value": mean.text})
    return rows


def _points(base: Any) -> Any:
    """Return the means of a chart, with the point's text under the pointer."""
    shown = [alt.Tooltip("system:N"), alt.Tooltip("value:N")]
    return base.mark_point(filled=True, size=60, opacity=1).encode(tooltip=shown)


def _axis(channel: str, field: str, metric: Metric) -> Any:
    """Return a value axis of a chart. The axis of a cost need not contain 0."""
    return getattr(alt, channel)(f"{field}:Q", title=metric.heading).scale(zero=False)


def _colour(results: Results) -> Any:
    """Return the colours of systems in a chart, which are the colours of the page."""
    numbers = mark_numbers(results.systems)
    page = dict(reversed(re.findall(r"--(s\d+):(#\w{6})", asset("comparison", "comparison.css"))))
    scale = alt.Scale(domain=[*numbers], range=[page[colour(one)] for one in numbers.values()])
    return alt.Color("system:N", scale=scale, title=None)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
