"""The run of a comparison: plan, sweep, estimates, and more replicates until the intervals are
narrow.
"""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from halfway.comparison.compile_ahead import CompileProgress, compile_first
from halfway.comparison.evaluation import cell_statistics
from halfway.comparison.evaluation.cell_statistics import FinishedRun, timelines_of_runs
from halfway.comparison.evaluation.comparison_results import DecisionRule, ResultCell, Results
from halfway.comparison.evaluation.decision import decide
from halfway.comparison.evaluation.metrics import metrics_for
from halfway.comparison.plan import plain_of, point_of
from halfway.comparison.request import Request
from halfway.comparison.study_name import identity, recorded_name, study_name
from halfway.comparison.trial import try_first
from halfway.pipeline.plan.run import Point, scenario_seed
from halfway.pipeline.plan.sweep_plan import ROOT_SEED, canonical, plan
from halfway.pipeline.spark.on_demand import OnDemand, local_cores
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import StudyPlan, record_question
from halfway.pipeline.sweep import Progress, failed, sweep

_GROWTH = 1.5


class Completed(NamedTuple):
    """A completed comparison: its results without texts, and the runs behind them."""

    results: Results
    runs: Sequence[FinishedRun]
    first_error: str  # error of the failed runs, in one line
    made: int  # runs of this command; all others were finished before


def compare(
    request: Request, store: Store, master: str | None = None, progress: Progress | None = None,
    seed: int | None = None, *, compiling: CompileProgress | None = None,
    partitions: int | None = None, event_log: Path | None = None,
) -> Completed:  # fmt: skip
    """Run a comparison: make the runs that the store lacks, and compute the results.

    master: the address of a Spark master. progress: receives the numbers of finished and of all
    runs. seed: all seeds of the runs derive from it (None: ROOT_SEED). compiling: receives the
    progress of compiling systems that never ran on this machine. partitions: tasks of a batch.
    event_log: the folder for Spark's log, which `sweep_account.account_of` reads. Raises Problem if
    the store or the master does not work; finished runs are kept.
    """
    begun = perf_counter()
    root, replicates, made = ROOT_SEED if seed is None else seed, request.replicates, 0
    study = study_name(request, store, root)
    every = [(point, system) for point in request.points for system in request.systems]
    points = [point_of(point.scenario, system) for point, system in every]
    metrics = metrics_for([point.scenario for point in request.points])
    with OnDemand(master, event_log) as spark:
        while True:
            table = plan(points, replicates, root)
            _compile(request, store, table, master, compiling)
            report = sweep(
                spark, store, table, progress, partitions=partitions, retry_errors=True,
                studies={recorded_name(study): _study(request, root, points, table)},
            )  # fmt: skip
            made += report.made
            runs = _finished_runs(request, store, table)
            cells = cell_statistics.cells_of_runs(runs, metrics, request.baseline, replicates)
            wide = cell_statistics.too_wide(request.until, cells)
            if not wide or replicates >= request.max_replicates:
                break
            replicates = min(_more(replicates), request.max_replicates)
    errors, _ = failed(store, table)
    asked = asked_before(store, study, request.decision, replicates)
    results = _results(request, runs, cells, replicates, errors, asked)
    seconds = perf_counter() - begun
    results = msgspec.structs.replace(results, wall_seconds=seconds, seed=root, study=study)
    return Completed(results, runs, _first_error(results, runs), made)


def asked_before(store: Store, study: str, rule: DecisionRule, replicates: int) -> tuple[int, ...]:
    """Return the replicates of a study's earlier decisions on the same question, and record this
    one, because each decision on a question spends a part of the allowed error.

    A single replicate decides nothing. Raises Problem if the result folder cannot be written to.
    """
    if replicates < 2:
        return ()
    with store.adding():
        return record_question(store.studies, recorded_name(study), rule.question, replicates)


def _results(
    request: Request,
    runs: Sequence[FinishedRun],
    cells: Sequence[ResultCell],
    replicates: int,
    errors: int,
    asked: Sequence[int],
) -> Results:
    """Return the results of a comparison that has run, but for its texts, time, seed and study."""
    names = tuple(system.name for system in request.systems)
    scenarios = [point.scenario for point in request.points]
    rule, places, metrics = request.decision, range(len(scenarios)), metrics_for(scenarios)
    return Results(
        title=request.scenario.title, scenario=plain_of(request.scenario), systems=names,
        baseline=request.baseline, points=tuple(dict(point.varies) for point in request.points),
        replicates=replicates, metrics=metrics, cells=tuple(cells),
        curves=tuple(cell_statistics.curves_of_runs(runs)), unsupported=dict(request.unsupported),
        notes=(), methods=(), errors=errors,
        digest=cell_statistics.digest_of_runs(runs), wall_seconds=0.0,
        decisions=tuple(decide(at, metrics, cells, rule, asked) for at in places),
        timelines=tuple(timelines_of_runs(runs, [scenario.seconds for scenario in scenarios])),
    )  # fmt: skip


def _more(replicates: int) -> int:
    """Return the number of replicates that the stopping rule of a comparison adds next."""
    return max(replicates + 1, int(replicates * _GROWTH))


def _compile(
    request: Request,
    store: Store,
    table: pa.Table,
    master: str | None,
    progress: CompileProgress | None,
) -> None:
    """Try a comparison's user protocols, and compile its systems, if a run is missing."""
    if pc.all(store.has(table["key"], errors=False), min_count=0).as_py():
        return
    try_first(request.points[0].scenario, request.systems)
    if cores := local_cores(master):
        compile_first(request.points, request.systems, cores, progress)


def _first_error(results: Results, runs: Sequence[FinishedRun]) -> str:
    """Return the first failed run of a comparison with its reason in one line, or ""."""
    for run in runs:
        if run.status != "ok":
            seed = f"replicate {run.replicate}, seed {run.seed}"
            return f"{results.title}: {run.system}, {seed}: {' '.join(run.error.split())}"
    return ""


def _study(request: Request, root: int, points: Sequence[Point], table: pa.Table) -> StudyPlan:
    """Return the comparison as a study of the result folder: its plan, and the point of
    each run.
    """
    keys: dict[str, list[str]] = {}
    for key, parameters in zip(
        table["key"].to_pylist(), table["parameters"].to_pylist(), strict=True
    ):
        keys.setdefault(parameters, []).append(key)
    names = [
        ", ".join(f"{field} = {value}" for field, value in point.varies.items())
        for point in request.points
        for _ in request.systems
    ]
    runs = [
        (key, name)
        for point, name in zip(points, names, strict=True)
        for key in keys[canonical(point.parameters)]
    ]
    own = dict.fromkeys(runs)
    return StudyPlan(table, request.scenario.title, identity(request, root), tuple(own))


def _finished_runs(request: Request, store: Store, table: pa.Table) -> list[FinishedRun]:
    """Return the comparison's planned runs in the store, by point, system and replicate.

    The plan says what each run is, so only the results are read. Raises Problem for a result that
    does not match its digest.
    """
    # A run belongs to every point that varies only an option of another system.
    places: dict[str, list[tuple[int, str]]] = {}
    for number, point in enumerate(request.points):
        for system in request.systems:
            parameters = canonical(point_of(point.scenario, system).parameters)
            places.setdefault(parameters, []).append((number, system.name))
    planned = {row["key"]: row for row in table.to_pylist()}
    rows = store.rows("key", "status", "error", "digest", "observations").to_pylist()
    runs = [
        FinishedRun(
            *place,
            plan_row["replicate"],
            scenario_seed(plan_row["network_seed"]),
            row["status"],
            row["error"],
            row["digest"],
            {observed["metric"]: tuple(observed["values"]) for observed in row["observations"]},
        )
        for row in rows
        if (plan_row := planned.get(row["key"])) is not None
        for place in places[plan_row["parameters"]]
    ]
    order = {system.name: at for at, system in enumerate(request.systems)}
    return sorted(runs, key=lambda run: (run.point, order[run.system], run.replicate))
