"""HTML tables of a comparison and of one run, for the cells of a notebook."""

from collections.abc import Iterable, Sequence
from html import escape

from halfway.comparison.evaluation.comparison_results import Metric, Results
from halfway.comparison.evaluation.metrics import member_metrics
from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report import wording
from halfway.report.comparison.metric_groups import shown_metrics
from halfway.report.comparison.plots.frame import cell_of
from halfway.report.comparison.plots.sweep_plots import varied
from halfway.sim.metrics.outcome import Outcome

# Columns of a cell's table; `found.frame()` and the page have all metrics.
_METRICS = (
    "delivery-ratio", "latency-p50", "messages-per-notification", "detected-share", "detection-all",
    "query-accuracy", "view-completeness", "requests-served", "messages-per-member", "energy",
    "max-node-load",
)  # fmt: skip
_MOST_ROWS = 40


def comparison_html(results: Results, first_error: str = "") -> str:
    """Return the table of a comparison in a notebook: a row for each point and system."""
    metrics = shown_metrics(results, _METRICS)
    fields = varied(results)
    rows = [
        [wording.scalar(point.get(field, "")) for field in fields]
        + [system, *(_text(results, number, system, metric) for metric in metrics)]
        for number, point in enumerate(results.points)
        for system in results.systems
    ]
    heads = [*fields, "system", *(metric.heading for metric in metrics)]
    lines = [
        f"Mean over {wording.count(results.replicates, 'replicate')}, with the 95 % interval. "
        f"★ {wording.STAR_LEGEND}"
    ]
    if len(rows) > _MOST_ROWS:
        lines.append(f"{len(rows) - _MOST_ROWS:,} more rows: call frame().")
    if results.errors:
        lines.append(f"{wording.count(results.errors, 'run')} failed. The first: {first_error}")
    lines += [f"{name} cannot run here: {why}" for name, why in results.unsupported.items()]
    lines += [f"Note: {note}" for note in results.notes]
    return _table(results.title, heads, rows[:_MOST_ROWS], len(fields) + 1, lines)


def outcome_html(outcome: Outcome) -> str:
    """Return the table of one run in a notebook."""
    events = [
        ["delivery ratio", wording.number(outcome.delivery_ratio)],
        ["notifications", f"{outcome.delivered:,} of {outcome.expected:,}"],
        ["latency p50 [s]", wording.number(outcome.latency_s.median)],
        ["latency p95 [s]", wording.number(outcome.latency_s.p95)],
        ["messages / notification", wording.number(outcome.sent_per_notification)],
    ]
    rows = [
        *(events if outcome.detection is None else []),
        *([metric.heading, wording.number(value)] for metric, value in member_metrics(outcome)),
        ["energy [J]", wording.number(outcome.energy_j)],
        ["max node load", wording.number(outcome.load.max)],
    ]
    title = f"{outcome.system}: {outcome.nodes:,} nodes, {outcome.seconds:g} s, seed {outcome.seed}"
    shortfalls = [f"{name}: {count:,}" for name, count in outcome.shortfalls.items()]
    return _table(title, ["metric", "value"], rows, 1, shortfalls)


def _text(results: Results, point: int, system: str, metric: Metric) -> str:
    """Return the text of one mean in a notebook's table."""
    cell = cell_of(results, point, system, metric.name)
    if cell is None or not cell.replicates:
        return NO_VALUE
    return f"{'★ ' if cell.best else ''}{cell.mean.text}"


def _table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    texts: int,
    lines: Sequence[str],
) -> str:
    """Return the HTML table of a notebook; all cells are escaped, and `texts` columns are to the
    left.
    """
    left, right = ' style="text-align:left"', ' style="text-align:right"'
    sides = [left if place < texts else right for place in range(len(heads))]
    head = "".join(
        f"<th{side}>{escape(text)}</th>" for side, text in zip(sides, heads, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{side}>{escape(text)}</td>" for side, text in zip(sides, row, strict=True))
        + "</tr>"
        for row in rows
    )
    below = "".join(f"<p><small>{escape(line)}</small></p>" for line in lines)
    return (
        f"<div><table><caption{left}>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}</div>"
    )
