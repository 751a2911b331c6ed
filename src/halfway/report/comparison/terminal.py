"""A comparison for a terminal and for other programs: tables, CSV, JSON lines."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfway.comparison.estimates import margin
from halfway.comparison.results import Cell, Compared, Interval, Metric
from halfway.comparison.tidy import COLUMNS, tidy
from halfway.files import write_whole
from halfway.report import wording

# The tables of a terminal, each narrow enough for 80 columns.
_GROUPS = (
    ("does it arrive", ("delivery-ratio", "stretch", "recovery", "recovered")),
    ("when", ("latency-median", "latency-p95", "latency-p99")),
    ("at what cost, a notification; a node; before the first event",
     ("messages", "bytes", "state", "set-up")),
    ("and to whom", ("energy", "energy-hottest", "load-max", "load-gini")),
)  # fmt: skip


def print_comparison(out: Console, compared: Compared, *, page: str = "") -> None:
    """The tables of every point, who cannot run and why, notes, and where everything is."""
    out.print(Text(compared.title, style="bold"))
    for number, point in enumerate(compared.points):
        if point:
            out.print(Text(f"\n{wording.cell(point)}", style="bold"))
        for heading, names in _GROUPS:
            shown = [metric for metric in compared.metrics if metric.name in names]
            _print_group(out, compared, number, heading, shown)
    for system, why in compared.unsupported.items():
        out.print(Text.assemble((f"{system} ", "bold"), f"does not run here: {why}"))
    if compared.unsupported:
        out.print()
    partial = any(0 < cell.networks < compared.replicates for cell in compared.cells)
    out.print(
        f"mean ± the longer side of its 95 % interval, {compared.replicates} replicates"
        f"{', or as many as stand in [ ]' if partial else ''}; "
        "* really better than every other that delivers as much; – no value",
        markup=False,
    )
    for note in compared.notes[1:]:
        out.print(Text.assemble(("note: ", "dim"), note))
    done = f"{wording.duration(compared.wall_seconds)}, digest {compared.digest}"
    out.print(f"{done}{f', {page}' if page else ''}", soft_wrap=True)


def _print_group(
    out: Console, compared: Compared, point: int, heading: str, metrics: Sequence[Metric]
) -> None:
    cells = {(cell.system, cell.metric): cell for cell in compared.cells if cell.point == point}
    told = [
        metric
        for metric in metrics
        if any(cells[system, metric.name].networks for system in compared.systems)
    ]
    if not told:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=heading, title_justify="left")
    table.add_column("system", no_wrap=True)
    for metric in told:
        unit = f" {metric.unit}" if metric.unit and metric.unit != metric.label else ""
        table.add_column(f"{metric.label}{unit}", justify="right", no_wrap=True)
    for system in compared.systems:
        row = [Text(system, style="bold" if system == compared.baseline else "")]
        shown = (_shown(cells[system, metric.name], compared.replicates) for metric in told)
        table.add_row(*row, *shown)
    out.print(table)


def _shown(cell: Cell, replicates: int) -> Text:
    """Mean ± half width to the digits that the interval leaves; a star where it is best, and how
    many replicates have a value where not all do."""
    if not cell.networks:
        return Text(wording.NOTHING)
    star = ("*", "bold green") if cell.best else ""
    few = f" [{cell.networks}]" if cell.networks < replicates else ""
    return Text.assemble(star, with_margin(cell.mean), (few, "dim"))


def with_margin(interval: Interval) -> str:
    """Such as `0.957 ± 0.012`: as many digits as two of the margin have."""
    half = margin(interval)
    if math.isnan(half) or half <= 1e-9 * max(abs(interval.value), 1e-300):
        known = f"{interval.value:,.{wording.decimals(interval.value)}f}"
        return known if math.isnan(half) else f"{known} ± 0"
    places = min(max(0, 1 - math.floor(math.log10(half))), 9)
    return f"{interval.value:,.{places}f} ± {half:,.{places}f}"


def cells_csv(compared: Compared) -> str:
    """One row a cell, what the sweep varies and `COLUMNS`; what is not there is empty."""
    varies = list(compared.points[0])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*varies, *COLUMNS])
    for row in tidy(compared):
        writer.writerow([_plain(row[name]) for name in (*varies, *COLUMNS)])
    return text.getvalue()


def cells_jsonl(compared: Compared) -> str:
    """One JSON object a cell; what is not there is null."""
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in tidy(compared))


def write_comparison(folder: Path, compared: Compared) -> tuple[Path, ...]:
    """Write comparison.csv, comparison.jsonl and comparison.json (all of `Compared`).

    Raises Problem if one cannot be written; a file of that name that was there stays whole.
    """
    contents = {
        "comparison.csv": cells_csv(compared),
        "comparison.jsonl": cells_jsonl(compared),
        "comparison.json": msgspec.json.encode(compared).decode() + "\n",
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return tuple(folder / name for name in contents)


def _plain(value: object) -> object:
    return "" if isinstance(value, float) and not math.isfinite(value) else value
