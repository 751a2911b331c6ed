"""The results of a comparison on the terminal: a decision, tables that fit, notes."""

from collections.abc import Sequence
from textwrap import fill

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.comparison.evaluation.comparison_results import (
    Decision,
    Metric,
    ResultCell,
    Results,
)
from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report import wording
from halfway.report.comparison.decision_text import VERDICT_COLUMNS, limit_of, question_of
from halfway.report.comparison.metric_groups import shown_groups, shown_metrics
from halfway.report.comparison.plots.frame import cell_of
from halfway.report.comparison.plots.sweep_plots import varied

_FRAME = 4  # lines of a table beside its rows
_HEADING = 15  # characters, after which a heading is broken
_INDENT = (0, 0, 0, 2)
_STYLES = {"chosen": "bold green", "fails": "red"}
_NAMED = 2  # names in a cell of a table
Column = tuple[str, Sequence[Text]]  # heading and cells


def print_results(out: Console, results: Results, *, page: str = "") -> None:
    """Print the results of a comparison on the terminal: decision, tables, unsupported systems,
    notes, page path.
    """
    out.print(Text(results.title, style="bold"))
    if len(results.decisions) == 1:
        _print_decision(out, results.decisions[0])
    elif results.decisions:
        _print_decisions(out, results)
    out.print()
    if varied(results):
        _print_sweep(out, results)
    else:
        for title, metrics in shown_groups(results):
            _print_group(out, results, title, metrics)
    for system, why in results.unsupported.items():
        out.print(Text.assemble((f"{system} ", "bold"), f"cannot run here: {why}"))
    if results.unsupported:
        out.print()
    _print_legend(out, results)
    for note in results.notes:
        out.print(Text.assemble(("note: ", "dim"), note))
    done = f"{wording.duration(results.wall_seconds)}, comparison digest {results.digest}"
    out.print(f"{done}{f', {page}' if page else ''}", soft_wrap=True)
    if out.is_terminal and len(results.decisions) == 1:
        # The tables are longer than most windows: the last line repeats the first one.
        out.print(_sentence(results.decisions[0]))


def _print_decision(out: Console, decision: Decision) -> None:
    """Print the system that a comparison's decision chooses on the terminal, and the reasons
    against the others.
    """
    out.print(_sentence(decision))
    for ranked in decision.systems:
        style = _STYLES.get(ranked.verdict, "")
        line = Text.assemble((f"{ranked.system}: {ranked.verdict}", style), f", {ranked.reason}")
        out.print(Padding(line, _INDENT))


def _sentence(decision: Decision) -> Text:
    first, colon, rest = decision.sentence.partition(": ")
    return Text.assemble((f"{first}{colon}", "bold"), rest)


def _print_decisions(out: Console, results: Results) -> None:
    """Print on the terminal a comparison's decision at each point of a sweep, with one row per
    point and one column per verdict.
    """
    metrics = {metric.name: metric for metric in results.metrics}
    columns: list[Column] = [
        (heading, [_named(decision, verdicts) for decision in results.decisions])
        for heading, verdicts in VERDICT_COLUMNS
    ]
    points = [results.points[decision.point] for decision in results.decisions]
    keys: list[Column] = [
        (field.replace(".", ".\n"), [Text(wording.scalar(point[field])) for point in points])
        for field in varied(results)
    ]
    question = question_of(results.decisions[0], metrics)
    print_fitting(out, f"Which system to choose: {question}", keys, columns)
    if limit := limit_of(results.decisions):
        out.print(Text(limit))


def _named(decision: Decision, verdicts: Sequence[str]) -> Text:
    """Return the systems of a terminal's decision with one of these
    verdicts: two names, or their number.

    The chosen system is always named.
    """
    names = [ranked.system for ranked in decision.systems if ranked.verdict in verdicts]
    style = "bold green" if names == [decision.chosen] else ""
    text = ", ".join(names) if len(names) <= _NAMED else wording.count(len(names), "system")
    return Text(text or NO_VALUE, style=style)


def _print_legend(out: Console, results: Results) -> None:
    partial = any(0 < cell.replicates < results.replicates for cell in results.cells)
    few = "[k] means that only k replicates have a value. " if partial else ""
    out.print(
        f"A value is a mean over {wording.count(results.replicates, 'replicate')}, ± the longer "
        "side of its 95 % interval. If the sides differ, both ends are in brackets. "
        f"{few}* {wording.STAR_LEGEND} {NO_VALUE} means no value.",
        markup=False,
    )


def _print_group(out: Console, results: Results, title: str, metrics: Sequence[Metric]) -> None:
    """Print on the terminal the tables of one group of a comparison's metrics, with one row per
    system.
    """
    columns: list[Column] = [
        (metric.heading, [_shown(out, results, 0, system, metric) for system in results.systems])
        for metric in metrics
    ]
    labels = [
        Text(system, style="bold" if system == results.baseline else "")
        for system in results.systems
    ]
    print_fitting(out, title, [("system", labels)], columns)


def _print_sweep(out: Console, results: Results) -> None:
    """Print on the terminal a table for each metric of a sweep, with one row per point and one
    column per system.
    """
    fields = varied(results)
    keys: list[Column] = [
        (
            field.replace(".", ".\n"),
            [Text(wording.scalar(point[field])) for point in results.points],
        )
        for field in fields
    ]
    for metric in shown_metrics(results):
        columns: list[Column] = []
        for system in results.systems:
            cells = [_shown(out, results, k, system, metric) for k in range(len(results.points))]
            columns.append((system, cells))
        folded = [(system, [_on_two_lines(cell) for cell in cells]) for system, cells in columns]
        way = f", {metric.better} is better" if metric.better else ""
        forms = [_parts(out, f"{metric.heading}{way}", keys, form) for form in (columns, folded)]
        heights = [
            sum(lines * len(results.points) + _FRAME for _ in parts)
            for lines, parts in zip((1, 2), forms, strict=True)
        ]
        _print_parts(out, forms[heights[1] < heights[0]], keys)


def print_fitting(
    out: Console, title: str, keys: Sequence[Column], columns: Sequence[Column]
) -> None:
    """Print a table of comparison results on the terminal, split into several if it is too wide.

    Each part repeats the key columns. No number and no name is cut: a column that does not fit
    beside the keys becomes a list.
    """
    _print_parts(out, _parts(out, title, keys, columns), keys)


def _parts(
    out: Console, title: str, keys: Sequence[Column], columns: Sequence[Column]
) -> list[tuple[Table, Sequence[Column]]]:
    """Return the parts of a table that the terminal has room for, each with its columns."""
    rest = list(columns)
    parts: list[tuple[Table, Sequence[Column]]] = []
    while rest:
        count = len(rest)
        while count > 1 and not _fits(out, _table(title, keys, rest[:count])):
            count -= 1
        parts.append((_table(title, keys, rest[:count]), rest[:count]))
        rest = rest[count:]
    return parts


def _print_parts(
    out: Console, parts: Sequence[tuple[Table, Sequence[Column]]], keys: Sequence[Column]
) -> None:
    for table, columns in parts:
        if _fits(out, table):
            out.print(table)
        else:
            _print_list(out, str(table.title), keys, columns[0])
        out.print()


def _table(title: str, keys: Sequence[Column], columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    # A title of a table is broken to the table's width, so it stands in the first heading's place.
    table.title, table.title_justify = title, "left"
    for heading, _ in keys:
        table.add_column(heading, no_wrap=True)
    for heading, _ in columns:
        broken = fill(heading, _HEADING, break_on_hyphens=False, break_long_words=False)
        table.add_column(broken, justify="right", no_wrap=True)
    for cells in zip(*(cells for _, cells in (*keys, *columns)), strict=True):
        table.add_row(*cells)
    return table


def _fits(out: Console, table: Table) -> bool:
    wide = out.options.update(width=10_000)
    return table.__rich_measure__(out, wide).maximum <= out.width


def _print_list(out: Console, title: str, keys: Sequence[Column], column: Column) -> None:
    """Print on the terminal one column of a comparison's table as a list, each value below
    its key.
    """
    heading, cells = column
    out.print(Text(f"{title}: {heading}", style="italic"))
    for row, cell in enumerate(cells):
        key = ", ".join(names[row].plain for _, names in keys)
        out.print(Text(key), soft_wrap=True)
        for line in cell.split("\n"):
            out.print(Text("  ") + line, soft_wrap=True)


def _shown(out: Console, results: Results, point: int, system: str, metric: Metric) -> Text:
    """Return a result in a terminal table: * if best, [k] if only k replicates have a value."""
    cell: ResultCell | None = cell_of(results, point, system, metric.name)
    if cell is None or not cell.replicates:
        return Text(NO_VALUE)
    star = ("*", "bold green") if cell.best else ""
    few = f" [{cell.replicates}]" if cell.replicates < results.replicates else ""
    # A stream without ± would write +- after the columns were measured.
    mean = cell.mean.text.replace("±", "+-") if out.options.ascii_only else cell.mean.text
    return Text.assemble(star, mean, (few, "dim"))


def _on_two_lines(cell: Text) -> Text:
    """Return a terminal table's cell with its interval below the mean, in half of the width."""
    mean, _, interval = cell.plain.partition(" ")
    if not interval:
        return cell
    first = Text(mean, style="bold green" if mean.startswith("*") else "")
    return Text.assemble(first, "\n", (interval, "dim"))
