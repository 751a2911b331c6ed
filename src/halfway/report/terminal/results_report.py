"""The output of `halfway results`: contents, integrity and failed runs of a result folder."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from halfway.pipeline.audit import Audit, Failure, Measured, Study
from halfway.report import wording
from halfway.report.terminal.plain_table import plain_table

_INDENT = (0, 0, 0, 2)
_MOST = 10  # errors, and damaged files, listed one by one; --json has all
_LONGEST = 160  # characters of a run's parameters, which may hold a whole scenario
_NUMBERS = ("points", "replicates", "runs", "made", "failed")


def print_results(out: Console, audited: Audit) -> None:
    """Print a result folder: summary, studies, measurements; failures, damage, missing runs."""
    batches = f"{audited.batches:,} {'batch' if audited.batches == 1 else 'batches'}"
    when = f"{audited.first} … {audited.last}" if audited.batches else "no finished batch"
    rows = [
        ("results", f"{audited.folder} (made by halfway {audited.halfway})"),
        (
            "runs",
            f"{audited.runs:,}, {audited.errors:,} failed, {batches}, {audited.bytes:,} bytes",
        ),
        ("finished", when),
        ("folder digest", audited.digest or "none: files are damaged"),
    ]
    for label, text in rows:
        out.print(Text.assemble((f"{label:<15}", "dim"), text), soft_wrap=True)
    if audited.studies:
        out.print(_studies(audited.studies))
    if audited.measured:
        out.print(_measured(audited.measured))
    _print_failures(out, audited.failures)
    _print_rest(out, audited)


def _studies(studies: Iterable[Study]) -> Table:
    table = plain_table(
        "study", "requested", "points", "replicates", "runs", "made", "failed", numbers=_NUMBERS
    )
    for study in studies:
        counts = (study.points, study.replicates, study.runs, study.made, study.errors)
        style = "yellow" if study.made < study.runs or study.errors else None
        table.add_row(study.name, study.when, *(f"{n:,}" for n in counts), style=style)
    return table


def _measured(measured: Iterable[Measured]) -> Table:
    table = plain_table(
        "measurement", "version", "points", "replicates", "runs", "failed", numbers=_NUMBERS
    )
    for row in measured:
        counts = (row.points, row.replicates, row.runs, row.errors)
        table.add_row(row.measurement, row.halfway, *(f"{n:,}" for n in counts))
    return table


def _print_failures(out: Console, failures: Sequence[Failure]) -> None:
    for failure in failures[:_MOST]:
        runs = wording.count(failure.runs, "run")
        out.print(Text.assemble(("failed", "red bold"), f"  {runs}: {failure.error}"))
        out.print(Padding(Text(_first(failure), style="dim"), _INDENT))
        if why := failure.cannot_retry:
            out.print(Padding(Text(f"--retry-failed cannot repeat this run: {why}"), _INDENT))
    if (left := len(failures) - _MOST) > 0:
        out.print(Text(f"{left:,} more errors: --json lists all", style="dim"))


def _first(failure: Failure) -> str:
    """Return the first run of a failure in the results: title, system, replicate and seed."""
    if failure.seed:
        names = [failure.title, failure.system]
        run = f"replicate {failure.replicate}, seed {failure.seed}"
    else:
        names = [failure.title or failure.measurement, _cut(failure.parameters)]
        run = f"replicate {failure.replicate}, random seed {failure.random_seed}"
    return f"first: {', '.join([*filter(None, names), run])}"


def _print_rest(out: Console, audit: Audit) -> None:
    if audit.unfinished:
        batches = ", ".join(audit.unfinished)
        out.print(
            f"not counted: batches/{batches} are unfinished, because {audit.writer} was "
            "interrupted or is still writing. The same command repeats unfinished batches."
        )
    for damage in audit.damage[:_MOST]:
        out.print(Text.assemble(("damaged", "red bold"), f"  {damage.file} {damage.what}"))
    if (left := len(audit.damage) - _MOST) > 0:
        out.print(Text(f"{left:,} more damaged files: --json lists all", style="dim"))
    if audit.unchecked:
        batches = ", ".join(audit.unchecked)
        out.print(
            f"no manifest: batches/{batches}: files cannot be compared with their checksums, only "
            "runs with their digests"
        )
    incomplete = [study for study in audit.studies if study.made < study.runs]
    if incomplete:
        missing = sum(study.runs - study.made for study in incomplete)
        names = ", ".join(study.name for study in incomplete[:3])
        more = " …" if len(incomplete) > 3 else ""
        out.print(f"incomplete: {names}{more}: {wording.count(missing, 'run')} missing")
    if not (audit.damage or audit.errors or audit.unchecked or incomplete):
        out.print(Text("intact: every file and every run matches its digest", style="green"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
