"""`halfway.simulate(...)`: one system on a scenario from Python, and the metrics of this run."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

from halfway.adapters.registry import named
from halfway.adapters.user_protocol import read_user_system, user_system
from halfway.api.arguments import (
    changes_argument,
    count_argument,
    path_argument,
    scenario_argument,
    text_argument,
)
from halfway.comparison.evaluation.metrics import METRICS, metrics_of
from halfway.pipeline import pandas_frames
from halfway.report.notebook.notebook_tables import outcome_html
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import ScenarioSource, read_scenario
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.trace.writer import check_target


@dataclass(frozen=True, repr=False)
class SimulatedRun(Outcome):
    """The result of `halfway.simulate`: the outcome of one run, also as a table."""

    def table(self) -> "pandas_frames.DataFrame":
        """Return the metrics of a run simulated from Python as a pandas frame, one row for each
        metric of a comparison: value, unit, definition.

        The frame has no row for a metric without a value.
        """
        metrics = metrics_of(self)
        rows = [
            {
                "metric": metric.name,
                "value": metrics[metric.name],
                "unit": metric.unit,
                "definition": metric.definition,
            }
            for metric in METRICS
            if isfinite(metrics.get(metric.name, nan))
        ]
        return pandas_frames.frame(rows, ("metric", "value", "unit", "definition")).set_index(
            "metric"
        )

    def __repr__(self) -> str:
        return (
            f"SimulatedRun({self.system!r}, nodes={self.nodes}, seconds={self.seconds:g}, "
            f"seed={self.seed}, delivery_ratio={self.delivery_ratio:.4g}, "
            f"latency_p50_s={self.latency_s.median:.4g}, energy_j={self.energy_j:.4g})"
        )

    def _repr_html_(self) -> str:
        return outcome_html(self)


def simulate(
    scenario: ScenarioSource,
    system: str | None = None,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    trace: str | Path | None = None,
    **fields: object,
) -> SimulatedRun:
    """Simulate one system on a scenario from Python, as the command `halfway simulate` does.

    scenario: a TOML file, or a dict with the same fields (its paths are relative to the current
    folder), or a Scenario; system: a name, or the file of a protocol such as "mine.py" (default:
    the scenario's); set: fields to replace, such as {"workload.events": 20}; trace: a Parquet file
    for all records; fields: more fields to replace, such as seconds=30.
    Raises Problem for errors that you can fix.
    """
    changed: dict[str, Any] = {**changes_argument(set or {}), **changes_argument(fields)}
    if seed is not None:
        changed["seed"] = str(count_argument(seed, "seed", 1))
    name = text_argument(system, "system", "flooding")
    own = user_system(read_user_system(name)) if name and name.endswith(".py") else None
    if name and own is None:
        named(name, "system")  # an unknown name is reported before the scenario is read
    source = scenario_argument(scenario)
    read = read_scenario(source, changed, {} if own is None else {own.name: own})
    file = None if trace is None else path_argument(trace, "trace", "run.parquet")
    if file is not None:
        check_target(file)
    outcome = simulation_of(read, system=own or name, trace=file).run()
    return SimulatedRun(**vars(outcome))
