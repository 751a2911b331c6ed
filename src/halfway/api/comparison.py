"""`halfway.compare(...)`: a comparison from Python; its results as frames, charts and a page."""

import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from halfway.api import arguments
from halfway.api.display import Counted, shown
from halfway.comparison import run_comparison
from halfway.comparison.defaults import MAX_REPLICATES, PAGE, REPLICATES
from halfway.comparison.evaluation import timelines
from halfway.comparison.evaluation.comparison_results import (
    COLUMNS,
    STUDY,
    Decision,
    Metric,
    Results,
)
from halfway.comparison.evaluation.decision import decide
from halfway.comparison.evaluation.metrics import LATENCY
from halfway.comparison.evaluation.timelines import OF_BINS
from halfway.comparison.request import Request, decision_rule, read_request
from halfway.comparison.run_comparison import Completed
from halfway.pipeline import pandas_frames
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.store.object_store import object_url
from halfway.pipeline.store.store import Store
from halfway.problem import Problem
from halfway.report.comparison.comparison_page import write_comparison_page
from halfway.report.comparison.decision_text import worded
from halfway.report.comparison.kept_map import map_of_comparison
from halfway.report.comparison.plots.sweep_plots import varied
from halfway.report.comparison.worded_results import with_words
from halfway.report.notebook.notebook_tables import comparison_html
from halfway.report.wording import count
from halfway.scenario.reading import ScenarioSource


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `halfway.compare` in Python: data, pandas frames, a chart and a page."""

    request: Request
    completed: Completed
    folder: Path  # holds the runs; the same comparison continues from there

    @property
    def results(self) -> Results:
        """All results of a comparison from Python, as plain data."""
        return self.completed.results

    def frame(self) -> "pandas_frames.DataFrame":
        """Return the cells of a comparison from Python as a pandas frame: point, system, metric,
        mean, interval, difference.
        """
        return pandas_frames.frame(self.results.rows(), [*STUDY, *self.results.points[0], *COLUMNS])

    def runs(self) -> "pandas_frames.DataFrame":
        """Return the runs of a comparison from Python as a pandas frame, by metric: point, system,
        replicate, seed, value.

        A failed run has one row, with its error and without metric and value.
        """
        columns = ("system", "replicate", "seed", "metric", "value", "error")
        return pandas_frames.frame(self._values(), [*self.results.points[0], *columns])

    def table(self, metric: str = "delivery-ratio") -> "pandas_frames.DataFrame":
        """Return one metric of a comparison from Python as a pandas frame: a row for each system,
        columns mean, low and high.

        low and high are the ends of the 95 % interval. With a sweep, each point has these three
        columns, and the header above them names the values of the point. Raises Problem for an
        unknown metric.
        """
        results, name = self.results, self._metric(metric).name
        fields = varied(results)
        columns: dict[tuple[Scalar, ...], list[float]] = {}
        for number, point in enumerate(results.points):
            means = [results.cell(number, system, name).mean for system in results.systems]
            place = tuple(point[field] for field in fields)
            columns[*place, "mean"] = [mean.value for mean in means]
            columns[*place, "low"] = [mean.low for mean in means]
            columns[*place, "high"] = [mean.high for mean in means]
        return pandas_frames.table(results.systems, "system", columns, [*fields, None])

    def plot(self, metric: str = "delivery-ratio") -> Any:
        """Return a metric of this comparison as an Altair chart: means with 95 % intervals, along a
        sweep if there is one.

        A notebook displays the chart. `chart.save("energy.svg")` writes it to a file. Raises
        Problem for an unknown metric.
        """
        from halfway.report.notebook.chart import metric_chart  # imports altair

        return metric_chart(self.results, self._metric(metric))

    def page(
        self, path: str | Path | None = None, *, maps: bool = True, show: bool = False
    ) -> Path:
        """Write the HTML page of the comparison, and return its path.

        path: the default is comparison.html in the folder of the study. maps: add a map that plays
        the first replicate of each system; the first such page simulates these replicates again.
        show: open the page in the browser. Raises Problem if the page cannot be written.
        """
        study = self.folder / self.results.study
        target = arguments.path_argument(study / PAGE if path is None else path, "path", PAGE)
        drawn = ""
        if maps:
            drawn = map_of_comparison(study, self.request, self.completed, lambda *_: None)
        write_comparison_page(self.results, drawn, target)
        if show:
            webbrowser.open(target.absolute().as_uri())
        return target

    def decision(
        self, need: Mapping[str, float | str] | None = None, minimise: str = "", *, point: int = 0
    ) -> Decision:
        """Return the decision of a comparison from Python: the system that meets the needs at the
        least cost, and the reasons against the other systems.

        need: metric -> its least value, or its greatest value for a cost, such as
        {"delivery-ratio": 0.95}. minimise: a cost. Without need and minimise, the needs of the
        comparison itself apply. point: the index of a point of the sweep. Raises Problem for a
        metric or bound that is not allowed.
        """
        results = self.results
        if not 0 <= point < len(results.points):
            last = len(results.points) - 1
            expected = f"0 to {last}" if last else "0, because the comparison has only one point"
            raise Problem(f"point = {point}: expected {expected}")
        if need is None and not minimise:
            return results.decisions[point]
        rule = decision_rule(arguments.needs_argument(need), minimise)
        store = Store(self.folder / "runs")
        asked = run_comparison.asked_before(store, results.study, rule, results.replicates)
        decision = decide(point, results.metrics, results.cells, rule, asked)
        return worded(decision, results.metrics, results.replicates)

    def __repr__(self) -> str:
        results = self.results
        systems = ", ".join(results.systems)
        systems = systems if len(systems) <= 160 else f"{systems[:157]}..."
        counts = [count(len(results.points), "point"), count(results.replicates, "replicate")]
        counts += [count(results.errors, "failed run")] if results.errors else []
        return (
            f"Comparison({results.title[:60]!r}: {systems}; {', '.join(counts)}; "
            f"folder {str(self.folder)[-100:]!r})"
        )

    def _repr_html_(self) -> str:
        return comparison_html(self.results, self.completed.first_error)

    def over_time(self) -> "pandas_frames.DataFrame":
        """Return the metrics over time of a comparison from Python as a pandas frame: point,
        system, metric, t0_s, t1_s, mean.
        """
        columns = [*self.results.points[0], *timelines.COLUMNS]
        return pandas_frames.frame(timelines.timeline_rows(self.results), columns)

    def _metric(self, name: str) -> Metric:
        """Return a metric of this comparison from Python by its name. Raises Problem for an unknown
        one.
        """
        metrics = {metric.name: metric for metric in self.results.metrics}
        if name not in metrics:
            near = get_close_matches(str(name), metrics, 1)
            remedy = f"use '{near[0]}'" if near else f"use one of {', '.join(metrics)}"
            raise Problem(f"metric = {name!r}: there is no such metric", remedy=remedy)
        return metrics[name]

    def _values(self) -> Iterator[dict[str, object]]:
        for run in self.completed.runs:
            known: dict[str, object] = {
                **self.results.points[run.point],
                "system": run.system,
                "replicate": run.replicate,
                "seed": run.seed,
            }
            if run.status != "ok":
                yield {**known, "error": run.error}
            for metric, values in run.observed.items():
                if metric not in (LATENCY, *OF_BINS):
                    yield from ({**known, "metric": metric, "value": value} for value in values)


def compare(
    scenario: ScenarioSource,
    systems: str | Sequence[str] | None = None,
    *,
    user_systems: str | Sequence[str] = (),
    replicates: int = REPLICATES,
    baseline: str | None = None,
    until: str | None = None,
    max_replicates: int = MAX_REPLICATES,
    set: Mapping[str, object] | None = None,
    sweep: Mapping[str, str | Sequence[object]] | None = None,
    need: Mapping[str, float | str] | None = None,
    minimise: str = "",
    seed: int | None = None,
    out: str | Path = "halfway-comparison",
    master: str | None = None,
    progress: bool | Counted | None = None,
) -> Comparison:
    """Compare systems on a scenario from Python, as the command `halfway compare` does.

    scenario: a TOML file, or a dict with the same fields (its paths are relative to the current
    folder), or a Scenario. systems: names, such as "gossip,drip" or a list (default: all).
    user_systems: files or modules with user systems, such as "mine.py". baseline: the system for
    differences. until: a stopping rule, such as "half-width=2%,energy"; max_replicates: its limit.
    set: fields to replace, such as {"workload.events": 20}. sweep: fields with several values, such
    as {"radio.success": [0.8, 1.0]}. need, minimise: as for `Comparison.decision`. seed: that of
    all runs (default: 2013). out: the folder of the runs; finished runs are not repeated. master:
    the address of a Spark master (default: the active session, or this machine). progress: False,
    True or a function of (done, total) (default: in notebooks and on a terminal). Raises Problem.
    """
    request = read_request(
        arguments.scenario_argument(scenario),
        arguments.systems_argument(systems),
        user_systems=arguments.texts_argument(user_systems, "user_systems"),
        baseline=arguments.text_argument(baseline, "baseline", "flooding"),
        replicates=arguments.count_argument(replicates, "replicates", REPLICATES),
        until=arguments.text_argument(until, "until", "half-width=2%"),
        max_replicates=arguments.count_argument(max_replicates, "max_replicates", MAX_REPLICATES),
        changes=arguments.changes_argument(set or {}),
        sweeps=arguments.sweep_argument(sweep or {}),
        needs=arguments.needs_argument(need),
        minimise=arguments.text_argument(minimise, "minimise", "energy") or "",
    )
    root = None if seed is None else arguments.count_argument(seed, "seed", 1, 2**64 - 1)
    folder, spark = _folder_argument(out), arguments.text_argument(master, "master", "local[2]")
    with shown(progress, "starting") as display:
        completed = run_comparison.compare(
            request, Store(folder / "runs"), spark, display.runs, root, compiling=display.compiled
        )
    return Comparison(request, with_words(request, completed), folder)


def _folder_argument(out: object) -> Path:
    """Return the folder of a comparison's results, which is on this machine."""
    folder = arguments.path_argument(out, "out", "halfway-comparison")
    if object_url(folder):
        remedy = "name a folder of this machine; `halfway compare --out` takes object stores"
        raise Problem("expected a folder of this machine", where="out", remedy=remedy)
    return folder
