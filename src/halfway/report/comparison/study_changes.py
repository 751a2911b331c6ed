"""The change from one study to another on the terminal and as JSON lines."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from halfway.comparison.evaluation.change import Change, changed_fields, changes
from halfway.comparison.evaluation.comparison_results import Results
from halfway.problem import Problem
from halfway.report import wording
from halfway.report.comparison.comparison_files import read_results
from halfway.report.comparison.terminal_results import Column, print_fitting

_UNCLEAR = "no clear change"
_STYLES = {"better": "green", "worse": "red"}


def print_changes(out: Console, before: Path, after: Path) -> None:
    """Print on the terminal what changed from the study in one folder to the study in another one.

    Raises Problem if a folder has no study, or if both have no system and point in common.
    """
    studies, changes = _compared(before, after)
    out.print(Text(f"from {before} to {after}", style="bold"))
    fields = changed_fields(*studies)
    for name, (old, new) in fields.items():
        out.print(Text(f"  {name}: {_written(old)} → {_written(new)}"))
    if not fields:
        out.print(Text("  the scenarios are equal"))
    out.print()
    metrics = {metric.name: metric for metric in studies[1].metrics}
    for name, metric in metrics.items():
        clear = [
            change for change in changes if change.metric == name and change.verdict != _UNCLEAR
        ]
        if clear:
            way = f", {metric.better} is better" if metric.better else ""
            print_fitting(out, f"{metric.heading}{way}", *_columns(clear))
    rest = sum(change.verdict == _UNCLEAR for change in changes)
    out.print(
        f"{wording.count(len(changes) - rest, 'value')} changed clearly, and {rest:,} did not. A "
        "change has a 95 % interval of its own (Welch's t), without a correction for several "
        "changes.",
        markup=False,
    )


def changes_jsonl(before: Path, after: Path) -> str:
    """Return the changes from one study to another as JSON lines. Raises Problem as
    `print_changes`.
    """
    rows = (one._asdict() for one in _compared(before, after)[1])
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)


def _compared(before: Path, after: Path) -> tuple[tuple[Results, Results], list[Change]]:
    studies = read_results(before), read_results(after)
    found = changes(*studies)
    if not found:
        what = f"no system is at the same point of a sweep as in {before}: expected one or more"
        remedy = "compare the same systems, or the same values of the sweep"
        raise Problem(what, where=str(after), remedy=remedy)
    return studies, found


def _columns(rows: Sequence[Change]) -> tuple[Sequence[Column], Sequence[Column]]:
    """Return the key columns and the other columns of a table of changes."""
    keys: list[Column] = [
        (field, [Text(wording.scalar(row.point[field])) for row in rows])
        for field in rows[0].point
        if len({str(row.point[field]) for row in rows}) > 1
    ]
    keys.append(("system", [Text(row.system) for row in rows]))
    signs = ["+" if row.change.value > 0.0 else "" for row in rows]
    return keys, [
        ("before", [Text(row.before.text) for row in rows]),
        ("after", [Text(row.after.text) for row in rows]),
        (
            "change",
            [Text(f"{sign}{row.change.text}") for sign, row in zip(signs, rows, strict=True)],
        ),
        ("", [Text(row.verdict, style=_STYLES.get(row.verdict, "")) for row in rows]),
    ]


def _written(value: object) -> str:
    return "–" if value is None else msgspec.json.encode(value).decode()
