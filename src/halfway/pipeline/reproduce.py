"""From declared figures to verdicts: plan, simulate, measure, judge. Prints nothing."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import broadcast

from halfway.pipeline.plan.plan import ROOT_SEED, plan, together
from halfway.pipeline.spark.failure import told_plainly
from halfway.pipeline.spark.session import session
from halfway.pipeline.store.digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.study import Figure, Paper, Scale, Summaries
from halfway.pipeline.summarise import summaries
from halfway.pipeline.sweep import Progress, SweepReport, sweep
from halfway.pipeline.verdict import Verdict
from halfway.problem import Problem

Studied = tuple[Paper, Figure]
Name = tuple[str, str]  # of a paper and its figure


@dataclasses.dataclass(frozen=True)
class Result:
    """What a reproduction ends in. Figures are named by (paper, figure)."""

    verdicts: list[Verdict]
    summaries: dict[Name, Summaries]
    readings: dict[Name, tuple[str, ...]]
    report: SweepReport
    digest: str  # canonical, of the runs of these figures; empty if they have none


def reproduce(
    figures: Sequence[Studied],
    scale: Scale,
    store: Store | Path | str,
    master: str | None = None,
    progress: Progress | None = None,
    *,
    partitions: int | None = None,
    seed: int | None = None,
) -> Result:
    """Make what runs are missing, and judge the figures in their order.

    progress hears (runs done, runs in all) about five times a second, from this thread. Raises
    Problem for a store or a master that does not work, and where so many runs failed that a figure
    cannot be judged. Another seed (default: `ROOT_SEED`) draws other networks, pairs and dice.
    """
    root = ROOT_SEED if seed is None else seed
    store = store if isinstance(store, Store) else Store(store)
    plans = {
        (paper.name, figure.name): plan(figure.points(scale), figure.replicates[scale], root)
        for paper, figure in figures
    }
    counts = {(paper.name, figure.name): figure.replicates[scale] for paper, figure in figures}
    whole = together(list(plans.values()))
    asked = {f"{'/'.join(name)} ({scale})": table for name, table in plans.items() if len(table)}
    if not whole.num_rows:  # drawings alone
        nothing = SweepReport(0, 0, 0, "", 0.0, 1, {}, 0.0, 0.0)
        empty = {name: Summaries([]) for name in plans}
        return Result([], empty, _readings(figures), nothing, "")
    with session(master) as spark:
        # The cause of an error may be mended by now, and the key tells if the result may differ.
        report = sweep(
            spark, store, whole, progress, partitions=partitions, retry_errors=True, asked=asked
        )
        found = _measured(spark, store, plans, counts)
    return Result(
        verdicts=[v for studied in figures for v in _judged(studied, found, report)],
        summaries=found,
        readings=_readings(figures),
        report=report,
        digest=digest(store, set(whole["key"].to_pylist())),
    )


def _readings(figures: Sequence[Studied]) -> dict[Name, tuple[str, ...]]:
    return {(paper.name, figure.name): figure.readings for paper, figure in figures}


def _measured(
    spark: SparkSession, store: Store, plans: dict[Name, pa.Table], counts: dict[Name, int]
) -> dict[Name, Summaries]:
    """Summaries of each figure over its own points and replicates; a shared one is made once."""
    wanted = []
    for count in sorted(set(counts.values())):
        keys = together([table for name, table in plans.items() if counts[name] == count])["key"]
        number = pa.array([count] * len(keys), pa.int32())
        wanted.append(pa.table({"key": keys, "replicates": number}))
    chosen = broadcast(spark.createDataFrame(pa.concat_tables(wanted)))
    with told_plainly(store.folder):
        found = summaries(store.runs(spark).join(chosen, "key"))
    studied = {}
    for name, table in plans.items():
        columns = (table[column].to_pylist() for column in ("measurement", "parameters"))
        points = dict.fromkeys(zip(*columns, strict=True))
        rows = [row for point in points for row in found.get((*point, counts[name]), [])]
        studied[name] = Summaries(rows)
    return studied


def _judged(studied: Studied, found: dict[Name, Summaries], report: SweepReport) -> list[Verdict]:
    paper, figure = studied
    try:
        return list(figure.judge(found[paper.name, figure.name]))
    except KeyError as missing:
        if not report.errors:
            raise  # the declaration asks for a point that it does not plan
        raise Problem(
            f"{report.errors} runs failed, the first: {report.first_error}",
            where=f"{paper.name}/{figure.name}",
            remedy="mend the cause and run it again",
        ) from missing
