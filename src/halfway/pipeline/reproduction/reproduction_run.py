"""The reproduction of declared figures: plan, simulate, summarise, judge. The module prints
nothing.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from halfway.pipeline.plan.sweep_plan import ROOT_SEED, plan, together
from halfway.pipeline.reproduction.figures import Figure, Paper, Scale, Summaries
from halfway.pipeline.reproduction.summarise import is_small, summaries, summaries_here
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.spark.simulate_rows import PROCESSOR
from halfway.pipeline.statistics.estimates import bounded
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import StudyPlan
from halfway.pipeline.sweep import Progress, SweepReport, sweep
from halfway.problem import Problem

Studied = tuple[Paper, Figure]
FigureName = tuple[str, str]  # of a paper and its figure
MetricBounds = Mapping[str, tuple[float, float]]  # of metrics of a paper
Planned = dict[FigureName, tuple[pa.Table, int]]  # and the number of replicates


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a reproduction. Figures are identified by (paper, figure)."""

    verdicts: list[Verdict]
    summaries: dict[FigureName, Summaries]
    interpretations: dict[FigureName, tuple[str, ...]]
    report: SweepReport
    digest: str  # canonical, of the runs of these figures; empty if they have none
    processor_s: float = 0.0  # of all these runs, also of earlier commands


def reproduce(
    figures: Sequence[Studied],
    scale: Scale,
    store: Store | Path | str,
    master: str | None = None,
    progress: Progress | None = None,
    *,
    partitions: int | None = None,
    seed: int | None = None,
    event_log: Path | None = None,
) -> Result:
    """Reproduce declared figures: make the missing runs, and judge the figures in their order.

    progress: called with (finished runs, all runs) about five times a second, from this thread.
    seed: of networks, pairs and random numbers (default: `ROOT_SEED`).
    event_log: the folder for Spark's log, which `account.account_of` reads. Raises Problem for a
    store or a master that does not work, and if too many runs failed to judge a figure.
    """
    root = ROOT_SEED if seed is None else seed
    store = store if isinstance(store, Store) else Store(store)
    plans, studies = _planned(figures, scale, root)
    interpretations = {
        (paper.name, figure.name): figure.interpretations for paper, figure in figures
    }
    whole = together([table for table, _ in plans.values()])
    if not whole.num_rows:  # the figures are drawings only
        nothing = SweepReport(0, 0, 0, "", 0.0, 1, {}, 0.0, 0.0)
        return Result([], {name: Summaries([]) for name in plans}, interpretations, nothing, "")
    with OnDemand(master, event_log) as spark:
        # The cause of an error may be fixed since.
        report = sweep(
            spark, store, whole, progress, partitions=partitions, retry_errors=True, studies=studies
        )
        bounds = {paper.name: paper.bounds for paper, _ in figures}
        measured = _measured(spark, store, plans, bounds)
    verdicts = [v for studied in figures for v in _judged(studied, measured, report)]
    keys = set(whole["key"].to_pylist())
    return Result(
        verdicts, measured, interpretations, report, digest(store, keys), _processor_s(store, keys)
    )


def _planned(
    figures: Sequence[Studied], scale: Scale, root: int
) -> tuple[Planned, dict[str, StudyPlan]]:
    """Return the runs of each figure of a reproduction, and the studies for the result folder: one
    for each figure with runs.
    """
    plans: Planned = {}
    studies: dict[str, StudyPlan] = {}
    for paper, figure in figures:
        count = figure.replicates[scale]
        table = plan(figure.points(scale), count, root)
        plans[paper.name, figure.name] = table, count
        if len(table):
            studies[f"{paper.name}/{figure.name} ({scale})"] = StudyPlan(table, figure.title)
    return plans, studies


def _measured(
    spark: OnDemand, store: Store, plans: Planned, bounds: dict[str, MetricBounds]
) -> dict[FigureName, Summaries]:
    """Return the summaries of each figure of a reproduction over its own points and replicates.

    A summary that several figures share is made once.
    """
    wanted = {
        count: together([table for table, own in plans.values() if own == count])["key"].to_pylist()
        for count in sorted({count for _, count in plans.values()})
    }
    if not spark.opened and is_small(store):
        of_points = summaries_here(store, wanted)
    else:
        from halfway.pipeline.spark.failure import spark_errors  # imports Spark

        session = spark.get()
        with spark_errors(store.folder):
            of_points = summaries(session, store, wanted)
    measured = {}
    for name, (table, count) in plans.items():
        columns = (table[column].to_pylist() for column in ("measurement", "parameters"))
        points = dict.fromkeys(zip(*columns, strict=True))
        rows = [row for point in points for row in of_points.get((*point, count), [])]
        own = bounds[name[0]]
        measured[name] = Summaries(
            [bounded(row, own[row.metric]) if row.metric in own else row for row in rows]
        )
    return measured


def _processor_s(store: Store, keys: set[str]) -> float:
    """Return the processor seconds that a reproduction's runs took.

    A run of an earlier version counts its wall time, which is not less.
    """
    rows = store.rows("key", "seconds")
    wanted = pc.is_in(rows["key"], value_set=pa.array(list(keys), pa.string()))
    times = map(dict, rows["seconds"].filter(wanted).to_pylist())
    return math.fsum(seconds.get(PROCESSOR, seconds.get("total", 0.0)) for seconds in times)


def _judged(
    studied: Studied, summaries: dict[FigureName, Summaries], report: SweepReport
) -> list[Verdict]:
    paper, figure = studied
    try:
        return list(figure.judge(summaries[paper.name, figure.name]))
    except KeyError as missing:
        if not report.errors:
            raise  # the figure judges a point that it does not plan
        raise Problem(
            f"{report.errors} runs failed, the first: {report.first_error}",
            where=f"{paper.name}/{figure.name}",
            remedy="fix the cause and run the command again",
        ) from missing
