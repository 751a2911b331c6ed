"""A result folder on a terminal: what is there, whether it is whole, what failed and why."""

from collections.abc import Iterable, Sequence
from itertools import islice

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.pipeline.audit import Audit, Failure, Measured, Study

_INDENT = (0, 0, 0, 2)
_MOST = 10  # errors, and damaged files, that are told one by one; --json has them all
_LONGEST = 160  # characters of a run's parameters: a whole scenario may stand in them
_NUMBERS = {"points", "replicates", "runs", "made", "failed"}


def print_results(out: Console, found: Audit) -> None:
    """The folder in a few lines, its studies and measurements, then all that is wrong with it."""
    waves = f"{found.waves:,} {'wave' if found.waves == 1 else 'waves'}"
    when = f"{found.first} … {found.last}" if found.waves else "nothing was ever finished"
    rows = [
        ("results", f"{found.folder} (made by halfway {found.halfway})"),
        ("runs", f"{found.runs:,}, {found.errors:,} failed, {waves}, {found.bytes:,} bytes"),
        ("finished", when),
        ("digest", found.digest or "none: files are damaged"),
    ]
    for word, text in rows:
        out.print(Text.assemble((f"{word:<10}", "dim"), text), soft_wrap=True)
    if found.studies:
        out.print(_studies(found.studies))
    if found.measured:
        out.print(_measured(found.measured))
    _print_failures(out, found.failures)
    _print_rest(out, found)


def _studies(studies: Iterable[Study]) -> Table:
    table = _table("study", "asked", "points", "replicates", "runs", "made", "failed")
    for study in studies:
        counts = (study.points, study.replicates, study.runs, study.made, study.errors)
        style = "yellow" if study.made < study.runs or study.errors else None
        table.add_row(study.name, study.when, *(f"{n:,}" for n in counts), style=style)
    return table


def _measured(measured: Iterable[Measured]) -> Table:
    table = _table("measurement", "version", "points", "replicates", "runs", "failed")
    for row in measured:
        counts = (row.points, row.replicates, row.runs, row.errors)
        table.add_row(row.measurement, row.halfway, *(f"{n:,}" for n in counts))
    return table


def _seed(failure: Failure) -> int:
    """The seed that makes a run again: of a comparison, that of `halfway simulate`."""
    from halfway.comparison.plan import MEASUREMENT, seed_of  # imports all systems

    ours = failure.measurement == MEASUREMENT
    return seed_of(failure.network_seed) if ours else failure.dice_seed


def _print_failures(out: Console, failures: Sequence[Failure]) -> None:
    for failure in islice(failures, _MOST):
        runs = "1 run" if failure.runs == 1 else f"{failure.runs:,} runs"
        out.print(Text.assemble(("failed", "red bold"), f"  {runs}: {failure.error}"))
        first = (
            f"first {failure.measurement} {_cut(failure.parameters)} "
            f"replicate {failure.replicate}, seed {_seed(failure)}"
        )
        out.print(Padding(Text(first, style="dim"), _INDENT))
        if failure.cannot_rerun:
            why = f"--rerun-failed cannot make it again: {failure.cannot_rerun}"
            out.print(Padding(Text(why), _INDENT))
    if (left := len(failures) - _MOST) > 0:
        out.print(Text(f"{left:,} more errors: --json has them all", style="dim"))


def _print_rest(out: Console, found: Audit) -> None:
    if found.unfinished:
        waves = ", ".join(found.unfinished)
        out.print(
            f"not counted: waves/{waves}, unfinished ({found.writer} was interrupted, or is "
            "writing now); the same command makes them again"
        )
    for damage in islice(found.damage, _MOST):
        out.print(Text.assemble(("damaged", "red bold"), f"  {damage.file} {damage.what}"))
    if (left := len(found.damage) - _MOST) > 0:
        out.print(Text(f"{left:,} more damaged files: --json has them all", style="dim"))
    short = [study for study in found.studies if study.made < study.runs]
    if short:
        lacking = sum(study.runs - study.made for study in short)
        names = ", ".join(study.name for study in short[:3]) + (" …" if len(short) > 3 else "")
        out.print(f"incomplete: {names}: {lacking:,} runs are still to be made")
    if not (found.damage or found.errors or short):
        out.print(Text("whole: every file and every run is what its digest says", style="green"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        numbers = name in _NUMBERS
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    return table
