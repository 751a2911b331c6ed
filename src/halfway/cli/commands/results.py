"""`halfway results`: the content of a result folder, its integrity, and its failed runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal.options import Against, AsJson, Master, ResultFolder, RetryFailed
from halfway.cli.terminal.screen import RUNS_FAILED, Interrupted, console, warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.pipeline.store.store import Store


def results(
    folder: ResultFolder,
    retry_failed: RetryFailed = False,
    against: Against = None,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Check a folder of results, and list its contents, damaged files and failed runs.

    \b
    The command checks every file against its checksum, and every run against
    its digest. Without --retry-failed, the command changes no file. With
    --retry-failed, the command repeats the failed runs with their stored
    parameters.

    \b
    halfway results halfway-results                  checks the folder
    halfway results halfway-results --json | jq .failures
    halfway results halfway-results --retry-failed   repeats the failed runs
    halfway results halfway-comparison/mesh-2 --against halfway-comparison/mesh

    With --against, DIR and STUDY are result folders of two comparisons. The command
    prints the scenario fields and the means that differ between STUDY and DIR.

    Exit status: 0 if the folder is intact, 1 if some runs failed, 2 if some files
    are damaged.
    """
    if against is not None:
        _print_changes(against, folder, as_json)
        return
    from halfway.pipeline.audit import audit, audit_json, results_in
    from halfway.pipeline.store.object_store import finished_folder, output_folder
    from halfway.report.terminal.results_report import print_results

    with (output_folder if retry_failed else finished_folder)(folder) as place:
        store = results_in(place)
        if retry_failed:
            _retry(store, master, quiet=as_json)
        audited = audit(store)
    if as_json:
        typer.echo(audit_json(audited))
    else:
        print_results(console(), audited)
    if audited.damage:
        first, many = audited.damage[0], len(audited.damage)
        files = "1 file is damaged:" if many == 1 else f"{many} files are damaged, the first:"
        remedy = "move the batch of a damaged file out of the folder, and repeat the command"
        raise Problem(f"{files} {first.file} {first.what}", where=audited.folder, remedy=remedy)
    if audited.errors:
        raise typer.Exit(RUNS_FAILED)


def _print_changes(before: Path, after: Path, as_json: bool) -> None:
    """Print for `halfway results` what changed between two studies."""
    from halfway.report.comparison.study_changes import changes_jsonl, print_changes

    if as_json:
        typer.echo(changes_jsonl(before, after), nl=False)
    else:
        print_changes(console(), before, after)


def _retry(store: "Store", master: str | None, *, quiet: bool) -> None:
    from halfway.pipeline.retry import retry_failed
    from halfway.report.terminal.progress import ProgressDisplay

    bar = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    try:
        with ProgressDisplay(sys.stderr, "starting", bar=bar) as display:
            report = retry_failed(store.folder, master, display)
    except KeyboardInterrupt:
        raise Interrupted("interrupted: finished runs are kept") from None
    if report is None:
        warn("no failed run can be repeated")
    else:
        succeeded = report.made - report.errors
        warn(f"{report.made} failed runs were repeated, and {succeeded} of these runs succeed now")
