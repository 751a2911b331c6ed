"""The account of a sweep on the terminal, and as a table of every stage."""

import csv
import io
from collections.abc import Iterable

import msgspec
from rich.console import Console

from halfway.pipeline.spark.sweep_account import Stage, SweepAccount
from halfway.report.terminal.plain_table import plain_table

_SUMS = ("wall_s", "python_s", "rest_s", "launch_s", "lost_s", "idle_s")
_COLUMNS = ("wall", "Python", "rest", "launch", "lost", "idle")


def account_csv(account: SweepAccount) -> str:
    """Return the account of a sweep as the text of a CSV table: every stage, one row each, with the
    fields of `Stage`.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(Stage.__struct_fields__)
    for stage in account.stages:
        whole = msgspec.structs.astuple(stage)
        rows.writerow([f"{word:.3f}" if isinstance(word, float) else word for word in whole])
    return text.getvalue()


def print_account(console: Console, account: SweepAccount) -> None:
    """Print the account of a sweep on the terminal: its stages in seconds. A stage of all batches
    is one row.
    """
    groups: dict[tuple[str, str], list[Stage]] = {}
    for stage in account.stages:
        job = "batches" if stage.job.startswith("batch ") else stage.job
        groups.setdefault((job, stage.part), []).append(stage)
    table = plain_table(
        "jobs",
        "stage",
        "stages",
        "tasks",
        *_COLUMNS,
        numbers={"stages", "tasks", *_COLUMNS},
        is_list=True,
    )
    for (job, part), stages in groups.items():
        tasks = sum(stage.tasks + stage.failed for stage in stages)
        table.add_row(job, part, str(len(stages)), f"{tasks:,}", *_sums(stages))
    table.add_row("sum", "", str(len(account.stages)), "", *_sums(account.stages))
    console.print(
        "time of each part in seconds; all times but the wall time are sums over "
        f"{account.cores} cores"
    )
    console.print(table)
    console.print(
        f"without a job: {account.before_s:.1f} s before the first one, "
        f"{account.between_s:.1f} s between jobs"
    )


def _sums(stages: Iterable[Stage]) -> list[str]:
    """Return the sums of stages of an account."""
    rows = list(stages)
    return [f"{sum(getattr(one, name) for one in rows):.1f}" for name in _SUMS]
