"""The results of a comparison as terminal tables, CSV, JSON lines and JSON."""

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfway.comparison.results import COLUMNS, STUDY, MeanInterval, Metric, ResultCell, Results
from halfway.comparison.statistics import margin
from halfway.report import wording
from halfway.report.output_files import csv_text, write_all

# Each table fits into 80 columns; its headings are broken to this width.
_GROUPS = (
    ("delivery", ("delivery-ratio", "stretch", "recovery-time", "recovery-rate")),
    ("latency", ("latency-p50", "latency-p95", "latency-p99")),
    ("cost",
     ("messages-per-notification", "bytes-per-notification", "state-per-node", "set-up-messages")),
    ("energy and load", ("energy", "max-node-energy", "max-node-load", "load-gini")),
)  # fmt: skip
_HEADING = 15


def print_results(out: Console, results: Results, *, page: str = "") -> None:
    """Print a comparison: terminal tables of all points, unsupported systems, notes, page path."""
    out.print(Text(results.title, style="bold"))
    for number, point in enumerate(results.points):
        if point:
            out.print(Text(f"\n{wording.cell(point)}", style="bold"))
        for title, names in _GROUPS:
            metrics = [metric for metric in results.metrics if metric.name in names]
            _print_group(out, results, number, title, metrics)
    for system, why in results.unsupported.items():
        out.print(Text.assemble((f"{system} ", "bold"), f"cannot run here: {why}"))
    if results.unsupported:
        out.print()
    partial = any(0 < cell.networks < results.replicates for cell in results.cells)
    out.print(
        f"A value is a mean ± the longer side of its 95 % interval, over {results.replicates} "
        f"replicates. {'[k] means that only k replicates have a value. ' if partial else ''}"
        "* marks a system that is significantly better than every other system of comparable "
        "delivery. – means no value.",
        markup=False,
    )
    for note in results.notes:
        out.print(Text.assemble(("note: ", "dim"), note))
    done = f"{wording.duration(results.wall_seconds)}, comparison digest {results.digest}"
    out.print(f"{done}{f', {page}' if page else ''}", soft_wrap=True)


def _print_group(
    out: Console, results: Results, point: int, title: str, metrics: Sequence[Metric]
) -> None:
    cells = {(cell.system, cell.metric): cell for cell in results.cells if cell.point == point}
    shown = [
        metric
        for metric in metrics
        if any(cells[system, metric.name].networks for system in results.systems)
    ]
    if not shown:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column("system", no_wrap=True)
    for metric in shown:
        heading = fill(metric.heading, _HEADING, break_on_hyphens=False)
        table.add_column(heading, justify="right", no_wrap=True)
    for system in results.systems:
        name = Text(system, style="bold" if system == results.baseline else "")
        values = (_shown(cells[system, metric.name], results.replicates) for metric in shown)
        table.add_row(name, *values)
    out.print(table)


def _shown(cell: ResultCell, replicates: int) -> Text:
    """A comparison's mean ± margin in a table: * if best, [k] if only k replicates have it."""
    if not cell.networks:
        return Text(wording.NOTHING)
    star = ("*", "bold green") if cell.best else ""
    few = f" [{cell.networks}]" if cell.networks < replicates else ""
    return Text.assemble(star, with_margin(cell.mean), (few, "dim"))


def with_margin(interval: MeanInterval) -> str:
    """A comparison's mean such as `0.957 ± 0.012`: two significant digits of the margin."""
    half = margin(interval)
    if math.isnan(half) or half <= 1e-9 * max(abs(interval.value), 1e-300):
        known = f"{interval.value:,.{wording.decimals(interval.value)}f}"
        return known if math.isnan(half) else f"{known} ± 0"
    places = min(max(0, 1 - math.floor(math.log10(half))), 9)
    return f"{interval.value:,.{places}f} ± {half:,.{places}f}"


def cells_csv(results: Results) -> str:
    """A comparison's cells as CSV: `STUDY`, swept fields, `COLUMNS`; missing values are empty."""
    return csv_text([*STUDY, *results.points[0], *COLUMNS], results.rows())


def cells_jsonl(results: Results) -> str:
    """A comparison's cells as JSON lines, one object a cell; missing values are null."""
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in results.rows())


def write_results(folder: Path, results: Results) -> tuple[Path, ...]:
    """Write a comparison's comparison.csv, comparison.jsonl and comparison.json (all of `Results`).

    Raises Problem if a file cannot be written; an existing file of that name then stays as it was.
    """
    return write_all(folder, {
        "comparison.csv": cells_csv(results),
        "comparison.jsonl": cells_jsonl(results),
        "comparison.json": msgspec.json.encode(results).decode() + "\n",
    })  # fmt: skip
