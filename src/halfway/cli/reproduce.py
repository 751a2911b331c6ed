"""`halfway reproduce`: the figures of a paper, published and measured."""

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.options import AsJson, Master, Out, Partitions, RootSeed, ScaleName, What
from halfway.cli.screen import RUNS_FAILED, console, interruptible, warn

if TYPE_CHECKING:
    from halfway.report.verdicts.verdict_report import VerdictReport


def reproduce(
    what: What = None,
    scale: ScaleName = "quick",
    out: Out = Path("halfway-results"),
    as_json: AsJson = False,
    master: Master = None,
    partitions: Partitions = None,
    seed: RootSeed = None,
) -> None:
    """Measure a paper's figures and judge each cell against the published value.

    \b
    Prints published and measured values with 95 % intervals. Writes to DIR a
    page with the plots (index.html), verdicts.csv, verdicts.jsonl,
    summaries.csv and figures/. The verdict "differs" is a result, not an
    error. You may interrupt the command: run again, it resumes.

    \b
    halfway reproduce                                everything, quickly
    halfway reproduce directional-walks/figure-6 --scale paper
    halfway reproduce drip/figure-3a drip/figure-3b  several, on one page
    halfway reproduce --json | jq 'select(.verdict == "differs")'
    """
    from halfway.papers import PAPERS
    from halfway.report.listing import chosen

    figures = chosen(PAPERS, what or ())  # a wrong name is reported before Spark is loaded
    from halfway.report.verdicts.output_folder import check_folder, write_report

    check_folder(out)
    from halfway.pipeline.reproduce import reproduce as run
    from halfway.report.progress import ProgressDisplay
    from halfway.report.verdicts.reproduction import verdict_report

    begun = time.monotonic()
    bar = not as_json and sys.stdout.isatty() and sys.stderr.isatty()
    with interruptible(out), ProgressDisplay(sys.stderr, "starting", bar=bar) as display:
        runs = out / "runs"
        result = run(figures, scale, runs, master, display, partitions=partitions, seed=seed)
        display.phase("writing the page")
        command = shlex.join(["halfway", *sys.argv[1:]])
        report = verdict_report(figures, scale, result, command, time.monotonic() - begun)
        page = write_report(out, report)
    _print_result(report, page, as_json)
    if report.errors:
        warn(
            f"{report.errors} runs ended in errors and are kept with their messages in "
            f"{out / 'runs'}; the first: {' '.join(report.first_error.split())}"
        )
        raise typer.Exit(RUNS_FAILED)


def _print_result(report: "VerdictReport", page: Path, as_json: bool) -> None:
    from halfway.report.verdicts.tables import verdicts_jsonl
    from halfway.report.verdicts.terminal import print_figure, print_run

    if as_json:
        typer.echo(verdicts_jsonl(report.verdicts), nl=False)
        return
    screen = console()
    for paper, figure in report.figures:
        print_figure(screen, paper, figure, report.of(paper, figure))
    print_run(screen, report, page)
