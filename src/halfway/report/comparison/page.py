"""The page of a comparison: one HTML file, which asks for nothing and reads without a script."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import halfway
from halfway.comparison.replay.replay import Replay
from halfway.comparison.results import Compared
from halfway.files import write_whole
from halfway.pipeline.plan.run import Scalar
from halfway.report import wording
from halfway.report.comparison import plots, sweeps, tables
from halfway.report.comparison.map_section import map_section
from halfway.report.document import document

_SCRIPTS = (
    "decode.js", "stage.js", "scene.js", "view.js", "pulses.js", "walks.js", "regions.js",
    "way.js", "player.js", "story.js", "main.js",
)  # fmt: skip


def write_comparison_page(
    compared: Compared, replays: Sequence[Replay], path: Path, command: str = ""
) -> None:
    """Write the page of a comparison to `path`, with a map of the given runs if there are some.

    command: what makes the same page again. Raises Problem if the file cannot be written.
    """
    write_whole(path, comparison_page(compared, replays, command))


def comparison_page(compared: Compared, replays: Sequence[Replay], command: str = "") -> str:
    """The whole document as text; the same for the same comparison and replays."""
    places = {system: place for place, system in enumerate(compared.systems)}
    played = map_section(replays, places)
    body = "".join([
        _head(compared), _contents(compared, bool(played)), "<main>", _results(compared), played,
        _distributions(compared), _sweeps(compared), _making(compared, command), "</main>",
    ])  # fmt: skip
    script = "\n".join(_asset(name) for name in _SCRIPTS) if played else ""
    style = f"{_shared_style()}{_asset('comparison.css')}"
    return document(compared.title, style, body, f'"use strict";(() => {{\n{script}\n}})();')


def _asset(name: str) -> str:
    return files("halfway.report.comparison").joinpath(name).read_text(encoding="utf-8")


def _shared_style() -> str:
    return files("halfway.report.verdicts").joinpath("page.css").read_text(encoding="utf-8")


def _head(compared: Compared) -> str:
    facts = {
        "systems": str(len(compared.systems)),
        "replicates": str(compared.replicates),
        "baseline": escape(compared.baseline),
        **({"points": str(len(compared.points))} if len(compared.points) > 1 else {}),
        "version": f"Halfway {halfway.__version__}",
        "digest": f"<code>{escape(compared.digest) or 'none'}</code>",
    }
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    errors = (
        f'<p class="alarm">{wording.count(compared.errors, "run")} ended in errors; they are kept, '
        "and are behind no value.</p>"
        if compared.errors
        else ""
    )
    return (
        '<header><p class="brand">Halfway · systems side by side</p>'
        f"<h1>{escape(compared.title)}</h1>"
        '<p class="byline">The same networks, load and faults for every system.</p>'
        f'{errors}<dl class="facts">{listed}</dl></header>'
    )


def _contents(compared: Compared, played: bool) -> str:
    links = [("results", "Results")]
    links += [("map", "One run, played again")] if played else []
    links += [("distributions", "Intervals and distributions")]
    links += [("sweeps", "Sweeps")] if sweeps.varied(compared) else []
    links += [("making", "How this page was made")]
    items = "".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in links)
    return f'<nav aria-label="Parts" class="parts"><ul>{items}</ul></nav>'


def _point(parameters: dict[str, Scalar]) -> str:
    return ", ".join(f"{name} = {wording.scalar(value)}" for name, value in parameters.items())


def _results(compared: Compared) -> str:
    captions = [_point(point) or "Means over the replicates" for point in compared.points]
    shown = "".join(
        tables.table(compared, place, caption) for place, caption in enumerate(captions)
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in compared.notes)
    reading = (
        f"Each value is the mean over {wording.count(compared.replicates, 'replicate')} with its "
        "95 % interval below it. ★ marks a system that is better beyond chance than every other "
        "one that delivers as much; where none is marked, these replicates do not tell which is "
        "best. A paired difference is called better or worse at 95 %, each alone."
    )
    return (
        '<section id="results" aria-labelledby="results-title">'
        '<h2 id="results-title">Results</h2>'
        '<p class="choice"><label><input type="checkbox" id="paired"> '
        f"paired differences to {escape(compared.baseline)}</label></p>"
        f'{shown}<p class="note">{reading}</p>'
        + (f'<h3>Models and readings</h3><ul class="readings">{notes}</ul>' if notes else "")
        + "<details><summary>How each number is counted</summary>"
        f"{tables.counted(compared.metrics)}</details></section>"
    )


def _distributions(compared: Compared) -> str:
    parts = []
    for place, parameters in enumerate(compared.points):
        panels = [plots.latencies(compared, place)]
        panels += [plots.intervals(compared, place, metric) for metric in compared.metrics]
        inner = f'<div class="panels">{"".join(panels)}</div>'
        name = _point(parameters)
        if len(compared.points) > 1:
            is_open = " open" if place == 0 else ""
            inner = f"<details{is_open}><summary>{escape(name)}</summary>{inner}</details>"
        parts.append(inner)
    return (
        '<section id="distributions" aria-labelledby="distributions-title">'
        '<h2 id="distributions-title">Intervals and distributions</h2>'
        '<p class="note">A small dot is one replicate, the mark the mean, the line its 95 % '
        f"interval.</p>{''.join(parts)}</section>"
    )


def _sweeps(compared: Compared) -> str:
    if not sweeps.varied(compared):
        return ""
    panels = "".join(
        panel for metric in compared.metrics for panel in sweeps.panels(compared, metric)
    )
    return (
        '<section id="sweeps" aria-labelledby="sweeps-title"><h2 id="sweeps-title">Sweeps</h2>'
        '<p class="note">Lines join means, bands are their 95 % intervals.</p>'
        f'<div class="panels">{panels}</div></section>'
    )


def _making(compared: Compared, command: str) -> str:
    scenario = json.dumps(compared.scenario, indent=2, default=str, ensure_ascii=False)
    how = f"<pre><code>{escape(command)}</code></pre>" if command else ""
    return (
        '<section id="making" aria-labelledby="making-title">'
        '<h2 id="making-title">How this page was made</h2>'
        f"{how}<p>{wording.duration(compared.wall_seconds)} on the clock. The same scenario and "
        "the same code, numba's version included, give the same digest on any machine, with any "
        f"number of cores; the seeds of all replicates follow from {compared.seed}.</p>"
        "<details><summary>The scenario as it was read</summary>"
        f"<pre><code>{escape(scenario)}</code></pre></details></section>"
    )
