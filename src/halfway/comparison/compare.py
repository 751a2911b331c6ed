"""From a scenario to what was found: plan, sweep, estimate; more replicates until it is tight."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa

from halfway.comparison import MOST_ADDED, REPLICATES
from halfway.comparison.caveats import caveats
from halfway.comparison.compile_ahead import compile_first
from halfway.comparison.finding import Ran, cells_of_runs, curves_of_runs, digest_of_runs
from halfway.comparison.metrics import METRICS
from halfway.comparison.notes import notes_of
from halfway.comparison.points import Contender, plain_of, point_of, seed_of
from halfway.comparison.results import Compared
from halfway.comparison.stopping import Until, loose, stopped
from halfway.pipeline.plan.plan import ROOT_SEED, canonical, plan
from halfway.pipeline.spark.session import local_cores, session_when_needed
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import Progress, failed, sweep
from halfway.scenario.schema import Scenario
from halfway.scenario.sweep import ScenarioPoint

_GROWTH = 1.5


class Question(NamedTuple):
    """What is to be compared; `unfit` holds the systems that were found not to run there."""

    scenario: Scenario  # as the file has it
    points: Sequence[ScenarioPoint]
    contenders: Sequence[Contender]
    baseline: str
    unsupported: Mapping[str, str]  # name -> why
    replicates: int = REPLICATES
    until: Until | None = None
    most: int = MOST_ADDED


class Answer(NamedTuple):
    """What was found, and the runs behind it."""

    compared: Compared
    runs: Sequence[Ran]
    first_error: str  # of the runs that failed, in one line
    made: int  # runs made now; the rest was finished before


def compare(
    question: Question,
    store: Store,
    master: str | None = None,
    progress: Progress | None = None,
    seed: int | None = None,
    *,
    compiling: Progress | None = None,
    partitions: int | None = None,
) -> Answer:
    """Make the runs that the store lacks, and find what they say.

    compiling: hears how many systems are compiled, of those that never ran on this machine.
    Raises Problem for a store or a master that does not work; what was finished by then is kept.
    """
    begun = perf_counter()
    root, replicates, made = ROOT_SEED if seed is None else seed, question.replicates, 0
    with session_when_needed(master) as spark:
        while True:
            table = _planned(question, replicates, root)
            # A comparison that is finished needs no Spark to be told again.
            if not set(table["key"].to_pylist()) <= store.finished_keys(errors=False):
                if cores := local_cores(master):
                    compile_first(
                        question.points, question.contenders, cores, compiling or _unheard
                    )
                report = sweep(
                    spark(), store, table, progress, partitions=partitions, retry_errors=True,
                    asked={f"compare {question.scenario.title}": table},
                )  # fmt: skip
                made += report.made
            runs = _ran(question, store, table)
            cells = cells_of_runs(runs, METRICS, question.baseline, replicates)
            if not loose(question.until, cells) or replicates >= question.most:
                break
            replicates = min(max(replicates + 1, int(replicates * _GROWTH)), question.most)
    errors, first = failed(store, table)
    ended = stopped(question.until, cells, question.replicates, replicates)
    names = tuple(one.name for one in question.contenders)
    warned = caveats([point.scenario for point in question.points], names, runs)
    compared = Compared(
        title=question.scenario.title,
        scenario=plain_of(question.scenario),
        systems=names,
        baseline=question.baseline,
        points=tuple(dict(point.varies) for point in question.points),
        replicates=replicates,
        metrics=METRICS,
        cells=tuple(cells),
        curves=tuple(curves_of_runs(runs)),
        unsupported=dict(question.unsupported),
        notes=notes_of(question.scenario, ended, cells, replicates) + warned,
        errors=errors,
        digest=digest_of_runs(runs),
        wall_seconds=perf_counter() - begun,
        seed=root,
    )
    return Answer(compared, runs, first, made)


def _unheard(_done: int, _total: int) -> None:
    pass


def _planned(question: Question, replicates: int, seed: int) -> pa.Table:
    """Every system at every point; all systems of a point before the next point."""
    points = [
        point_of(point.scenario, contender)
        for point in question.points
        for contender in question.contenders
    ]
    return plan(points, replicates, seed)


def _ran(question: Question, store: Store, table: pa.Table) -> list[Ran]:
    """The planned runs as the store has them: by point, system and replicate."""
    # A run stands at every point that varies no more than an option of another system.
    places: dict[str, list[tuple[int, str]]] = {}
    for number, point in enumerate(question.points):
        for contender in question.contenders:
            parameters = canonical(point_of(point.scenario, contender).parameters)
            places.setdefault(parameters, []).append((number, contender.name))
    planned = set(table["key"].to_pylist())
    columns = ("parameters", "replicate", "network_seed", "status", "error", "digest")
    rows = store.rows("key", *columns, "observations").to_pylist()
    found = [
        Ran(
            *place, row["replicate"], seed_of(row["network_seed"]),
            row["status"], row["error"], row["digest"],
            {one["metric"]: tuple(one["values"]) for one in row["observations"]},
        )
        for row in rows
        if row["key"] in planned
        for place in places[row["parameters"]]
    ]  # fmt: skip
    order = {contender.name: at for at, contender in enumerate(question.contenders)}
    return sorted(found, key=lambda ran: (ran.point, order[ran.system], ran.replicate))
