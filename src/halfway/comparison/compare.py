"""The run of a comparison: plan, sweep, estimate; more replicates until intervals are narrow."""

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa

from halfway.comparison import statistics
from halfway.comparison.compile_ahead import compile_first
from halfway.comparison.decision import decide
from halfway.comparison.metrics import METRICS
from halfway.comparison.notes import methods_of, notes_of
from halfway.comparison.plan import plain_of, point_of, seed_of
from halfway.comparison.request import Request
from halfway.comparison.results import ResultCell, Results
from halfway.comparison.statistics import FinishedRun
from halfway.pipeline.plan.plan import ROOT_SEED, canonical, plan
from halfway.pipeline.spark.session import local_cores, session_when_needed
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import Progress, failed, sweep

_GROWTH = 1.5


class Completed(NamedTuple):
    """A completed comparison: its results, and the runs behind them."""

    results: Results
    runs: Sequence[FinishedRun]
    first_error: str  # of the failed runs, in one line
    made: int  # runs made now; the others were finished before


def compare(
    request: Request,
    store: Store,
    master: str | None = None,
    progress: Progress | None = None,
    seed: int | None = None,
    *,
    compiling: Progress | None = None,
    partitions: int | None = None,
) -> Completed:
    """Run a comparison: make the runs that the store lacks, and compute the results.

    compiling: receives the progress of compiling systems that never ran on this machine.
    Raises Problem if the store or the master does not work; finished runs are kept.
    """
    begun = perf_counter()
    root, replicates, made = ROOT_SEED if seed is None else seed, request.replicates, 0
    with session_when_needed(master) as spark:
        while True:
            table = _planned_runs(request, replicates, root)
            # A finished comparison needs no Spark.
            if not set(table["key"].to_pylist()) <= store.finished_keys(errors=False):
                if cores := local_cores(master):
                    compile_first(request.points, request.systems, cores, compiling)
                report = sweep(
                    spark(), store, table, progress, partitions=partitions, retry_errors=True,
                    studies={f"compare {request.scenario.title}": table},
                )  # fmt: skip
                made += report.made
            runs = _finished_runs(request, store, table)
            cells = statistics.cells_of_runs(runs, METRICS, request.baseline, replicates)
            wide = statistics.too_wide(request.until, cells)
            if not wide or replicates >= request.max_replicates:
                break
            replicates = min(_more(replicates), request.max_replicates)
    errors, first = failed(store, table)
    names = tuple(one.name for one in request.systems)
    rule, places = request.decision, range(len(request.points))
    results = Results(
        title=request.scenario.title, scenario=plain_of(request.scenario), systems=names,
        baseline=request.baseline, points=tuple(dict(point.varies) for point in request.points),
        replicates=replicates, metrics=METRICS, cells=tuple(cells),
        curves=tuple(statistics.curves_of_runs(runs)), unsupported=dict(request.unsupported),
        notes=_notes(request, runs, cells, replicates),
        methods=methods_of(request.scenario, replicates, request.replicates), errors=errors,
        digest=statistics.digest_of_runs(runs), wall_seconds=perf_counter() - begun,
        seed=root, decisions=tuple(decide(at, METRICS, cells, rule) for at in places),
    )  # fmt: skip
    return Completed(results, runs, first, made)


def _notes(
    request: Request, runs: Sequence[FinishedRun], cells: Sequence[ResultCell], replicates: int
) -> tuple[str, ...]:
    """The notes under a comparison's tables."""
    scenarios = [point.scenario for point in request.points]
    systems = [one.system() for one in request.systems]
    return notes_of(
        scenarios, systems, runs, cells, replicates, request.until, request.remarks
    )  # fmt: skip


def _more(replicates: int) -> int:
    """The number of replicates that a stopping rule makes next."""
    return max(replicates + 1, int(replicates * _GROWTH))


def _planned_runs(request: Request, replicates: int, root: int) -> pa.Table:
    """The runs that a comparison plans: all systems of a point before the next point."""
    every = [(point, one) for point in request.points for one in request.systems]
    return plan([point_of(point.scenario, one) for point, one in every], replicates, root)


def _finished_runs(request: Request, store: Store, table: pa.Table) -> list[FinishedRun]:
    """The comparison's planned runs in the store, by point, system and replicate."""
    # A run belongs to every point that varies only an option of another system.
    places: dict[str, list[tuple[int, str]]] = {}
    for number, point in enumerate(request.points):
        for one in request.systems:
            parameters = canonical(point_of(point.scenario, one).parameters)
            places.setdefault(parameters, []).append((number, one.name))
    planned = set(table["key"].to_pylist())
    columns = ("parameters", "replicate", "network_seed", "status", "error", "digest")
    rows = store.rows("key", *columns, "observations").to_pylist()
    runs = [
        FinishedRun(
            *place, row["replicate"], seed_of(row["network_seed"]),
            row["status"], row["error"], row["digest"],
            {one["metric"]: tuple(one["values"]) for one in row["observations"]},
        )
        for row in rows
        if row["key"] in planned
        for place in places[row["parameters"]]
    ]  # fmt: skip
    order = {one.name: at for at, one in enumerate(request.systems)}
    return sorted(runs, key=lambda run: (run.point, order[run.system], run.replicate))
