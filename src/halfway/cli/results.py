"""halfway results: what a result folder holds, whether it is whole, what failed and why."""

import sys
from typing import TYPE_CHECKING

import typer

from halfway.cli.options import AsJson, Master, RerunFailed, ResultFolder
from halfway.cli.screen import RUNS_FAILED, Interrupted, console, warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.pipeline.store.store import Store


def results(
    folder: ResultFolder,
    rerun_failed: RerunFailed = False,
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Look into a folder of results: what is there, is it whole, what failed and why.

    \b
    Every file is compared with what it was when it was written, and every run
    with its digest. Nothing is changed, unless --rerun-failed makes the failed
    runs again, from what is stored of them.

    \b
    halfway results halfway-results                  look
    halfway results halfway-results --json | jq .failures
    halfway results halfway-results --rerun-failed   after the cause is mended

    Exit status: 0 all is well, 1 some runs failed, 2 files are damaged.
    """
    from halfway.pipeline.audit import audit, audit_json, results_in
    from halfway.report.results_table import print_results

    store = results_in(folder)
    if rerun_failed:
        _rerun(store, master, quiet=as_json)
    found = audit(store)
    if as_json:
        typer.echo(audit_json(found))
    else:
        print_results(console(), found)
    if found.damage:
        first, many = found.damage[0], len(found.damage)
        files = "1 file is damaged:" if many == 1 else f"{many} files are damaged, the first:"
        raise Problem(
            f"{files} {first.file} {first.what}",
            where=found.folder,
            remedy="move the wave of a damaged file out of the folder; the command that made it "
            "makes its runs again",
        )
    if found.errors:
        raise typer.Exit(RUNS_FAILED)


def _rerun(store: "Store", master: str | None, *, quiet: bool) -> None:
    from halfway.pipeline.rerun import rerun_failed
    from halfway.report.progress import Told

    bar = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    try:
        with Told(sys.stderr, "starting Spark", bar=bar) as told:
            report = rerun_failed(store.folder, master, told)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the runs that were finished by then are kept") from None
    if report is None:
        warn("there is no failed run that could be made again")
    else:
        warn(f"{report.made} failed runs made again, {report.made - report.errors} now succeed")
