"""The page of a comparison: one HTML file that needs no network; only its map needs scripts."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from halfway.comparison.evaluation.comparison_results import Results
from halfway.comparison.replay.replay import Replay
from halfway.files import write_whole
from halfway.package import __version__
from halfway.pipeline.plan.run import Scalar
from halfway.report import wording
from halfway.report.comparison import comparison_tables
from halfway.report.comparison.decision_section import decision_section
from halfway.report.comparison.map.map_section import map_script, map_section
from halfway.report.comparison.metric_groups import shown_metrics
from halfway.report.comparison.node_section import node_section
from halfway.report.comparison.over_time import over_time_section
from halfway.report.comparison.plots import interval_plots, sweep_plots
from halfway.report.comparison.plots.system_marks import mark_numbers
from halfway.report.document import asset, document, header, prose, section


def write_comparison_page(
    results: Results, replays: Sequence[Replay] | str, path: Path, command: str = ""
) -> None:
    """Write the HTML page of a comparison to `path`, with a map if there are replays.

    replays: the replays, or the map section that was drawn from them ("": none). command: the
    command that makes the page. Raises Problem if the file cannot be written.
    """
    write_whole(path, comparison_page(results, replays, command))


def comparison_page(results: Results, replays: Sequence[Replay] | str, command: str = "") -> str:
    """Return the HTML page of a comparison as text; equal results and replays give equal text."""
    drawn = replays if isinstance(replays, str) else _map_and_nodes(results, replays)
    body = "".join([
        _head(results), _contents(results, drawn), "<main>", decision_section(results),
        _results(results), drawn,
        over_time_section(results, [_point(part) for part in results.points]),
        _distributions(results), _sweeps(results), _making(results, command), "</main>",
    ])  # fmt: skip
    scripts = [asset("comparison", "sort.js"), *([map_script()] if drawn else [])]
    script = "".join(f"(() => {{\n{part}\n}})();" for part in scripts)
    sheets = [("verdicts", "page.css"), ("comparison", "comparison.css")]
    sheets += [("comparison", "map/map.css")] if drawn else []
    style = "".join(asset(*sheet) for sheet in sheets)
    return document(results.title, style, body, f'"use strict";{script}')


def _map_and_nodes(results: Results, replays: Sequence[Replay]) -> str:
    places = mark_numbers(results.systems)
    played = map_section(replays, places, results.title)
    return f"{played}{node_section(replays, places)}"


def _head(results: Results) -> str:
    facts = {
        "systems": str(len(results.systems)),
        "replicates": str(results.replicates),
        "baseline": escape(results.baseline),
        **({"points": str(len(results.points))} if len(results.points) > 1 else {}),
        "version": f"Halfway {__version__}",
        "digest": f"<code>{escape(results.digest) or 'none'}</code>",
    }
    failed = wording.count(results.errors, "run")
    alarm = (
        f"{failed} failed. The result folder keeps failed runs, and no value includes a failed run."
        if results.errors
        else ""
    )
    byline = "All systems run on the same networks, with the same load and faults."
    return header("comparison of systems", results.title, byline, facts, alarm)


def _contents(results: Results, drawn: str) -> str:
    links = [("decision", "Which system to choose")] if results.decisions else []
    links += [("results", "Results")]
    links += [("map", "Replay of one run")] if drawn else []
    links += [("nodes", "Nodes of one run")] if 'id="nodes"' in drawn else []
    links += [("over-time", "Over time")] if results.timelines else []
    links += [("distributions", "Intervals and distributions")]
    links += [("sweeps", "Sweeps")] if sweep_plots.varied(results) else []
    links += [("making", "How this page was made")]
    items = "".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in links)
    return f'<nav aria-label="Parts" class="parts"><ul>{items}</ul></nav>'


def _point(parameters: dict[str, Scalar]) -> str:
    return ", ".join(f"{name} = {wording.scalar(value)}" for name, value in parameters.items())


def _results(results: Results) -> str:
    replicates = wording.count(results.replicates, "replicate")
    partial = any(0 < cell.replicates < results.replicates for cell in results.cells)
    few = " [k] means that only k replicates have a value." if partial else ""
    key = (
        f"Each value is the mean over {replicates}. The 95 % interval is below the value.{few} "
        f"★ {wording.STAR_LEGEND} If a system delivers too few notifications, its costs are "
        "not marked as better or worse."
    )
    count = len(results.notes)
    summary = f"<summary>Notes ({count})</summary>"
    notes = f'<details class="notes">{summary}{_list(results.notes)}</details>' if count else ""
    inner = (
        '<p class="choice"><label><input type="checkbox" id="paired"> '
        f"paired differences to {escape(results.baseline)}</label></p>"
        f"{_tables(results)}{comparison_tables.unsupported(results)}"
        f'<p class="note">{key}</p>{notes}'
        "<details><summary>How the numbers were made</summary>"
        f"{_list(results.methods)}</details>"
        "<details><summary>Definitions of the metrics</summary>"
        f"{comparison_tables.definitions(results.metrics)}</details>"
    )
    return section("results", "Results", inner)


def _tables(results: Results) -> str:
    """Return the tables of the page: one for a single point, or one for each metric and each point
    of a sweep.
    """
    if not sweep_plots.varied(results):
        return comparison_tables.tables(results, 0, _point(results.points[0]))
    of_metrics = "".join(
        comparison_tables.sweep_tables(results, metric) for metric in shown_metrics(results)
    )
    of_points = "".join(
        f'<details class="again"><summary>All metrics, {escape(_point(point))}</summary>'
        f"{comparison_tables.tables(results, place, _point(point))}</details>"
        for place, point in enumerate(results.points)
    )
    return of_metrics + of_points


def _list(texts: Sequence[str]) -> str:
    items = "".join(f"<li>{prose(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>"


def _distributions(results: Results) -> str:
    parts = []
    for place, parameters in enumerate(results.points):
        panels = [interval_plots.latencies(results, place)]
        panels += [interval_plots.intervals(results, place, metric) for metric in results.metrics]
        inner = f'<div class="panels">{"".join(panels)}</div>'
        name = _point(parameters)
        if len(results.points) > 1:
            is_open = " open" if place == 0 else ""
            summary = f"<summary>{escape(name)}</summary>"
            inner = f'<details class="again"{is_open}>{summary}{inner}</details>'
        parts.append(inner)
    note = "A dot is a replicate, a mark is a mean, and a line is a 95 % interval."
    inner = f'<p class="note">{note}</p>{"".join(parts)}'
    return section("distributions", "Intervals and distributions", inner)


def _sweeps(results: Results) -> str:
    if not sweep_plots.varied(results):
        return ""
    panels = "".join(
        one for metric in results.metrics for one in sweep_plots.panels(results, metric)
    )
    note = '<p class="note">Lines connect means. Bands are 95 % intervals.</p>'
    return section("sweeps", "Sweeps", f'{note}<div class="panels">{panels}</div>')


def _making(results: Results, command: str) -> str:
    scenario = json.dumps(results.scenario, indent=2, default=str, ensure_ascii=False)
    how = f"<pre><code>{escape(command)}</code></pre>" if command else ""
    inner = (
        f"{how}<p>The wall time was {wording.duration(results.wall_seconds)}. The same scenario, "
        "code and version of numba give the same digest on any machine, with any number of "
        "cores. The seeds "
        f"of all replicates derive from {results.seed}.</p>"
        "<details><summary>The scenario with its defaults</summary>"
        f"<pre><code>{escape(scenario)}</code></pre></details>"
    )
    return section("making", "How this page was made", inner)
