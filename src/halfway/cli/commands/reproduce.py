"""`halfway reproduce`: the figures of a paper, published and measured."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal.account_option import accounted
from halfway.cli.terminal.options import (
    AccountFile,
    AsJson,
    Master,
    Out,
    Partitions,
    RootSeed,
    ScaleName,
    What,
)
from halfway.cli.terminal.screen import (
    RUNS_FAILED,
    command_line,
    console,
    elapsed_s,
    interruptible,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfway.pipeline.reproduction.figures import Figure, Paper, Scale
    from halfway.report.verdicts.verdict_report import VerdictReport


def reproduce(
    what: What = None,
    scale: ScaleName = "quick",
    out: Out = Path("halfway-results"),
    as_json: AsJson = False,
    master: Master = None,
    partitions: Partitions = None,
    seed: RootSeed = None,
    account: AccountFile = None,
) -> None:
    """Measure figures of the papers, and compare each measured value with the published value.

    \b
    The command prints the published values, and our measured values with 95 %
    confidence intervals. In DIR, it makes a folder with the name of the figures.
    This folder contains a page with the plots (index.html), verdicts.csv,
    verdicts.jsonl, summaries.csv and figures/. DIR/index.html lists all such pages.
    The verdict "differs" is a result, not an error. After an interrupt, the same
    command continues.

    \b
    halfway reproduce                                measures all figures, on few networks
    halfway reproduce directional-walks/figure-6 --scale paper
    halfway reproduce drip/figure-3a drip/figure-3b  shows both figures on one page
    halfway reproduce --json | jq 'select(.verdict == "differs")'
    """
    from halfway.papers import PAPERS
    from halfway.report.terminal.listing import chosen

    figures = chosen(PAPERS, what or ())  # a wrong name is reported before Spark is loaded
    from halfway.pipeline.store.object_store import output_folder, shown

    with output_folder(out) as folder, accounted(account, as_json) as log:
        study = _checked_study(folder, figures, scale, seed)
        from halfway.pipeline.reproduction import reproduction_run
        from halfway.report.terminal.progress import ProgressDisplay
        from halfway.report.verdicts.reproduction import verdict_report

        bar = not as_json and sys.stdout.isatty() and sys.stderr.isatty()
        with interruptible(out), ProgressDisplay(sys.stderr, "starting", bar=bar) as display:
            runs = folder / "runs"
            result = reproduction_run.reproduce(
                figures, scale, runs, master, display, partitions=partitions, seed=seed,
                event_log=log,
            )  # fmt: skip
            display.phase("writing the page")
            report = verdict_report(figures, scale, result, command_line(), elapsed_s())
            page = _write(folder, study, report)
    _print_result(report, shown(out, folder, page), as_json)
    _check_runs(report, out)


def _checked_study(
    folder: Path, figures: "Sequence[tuple[Paper, Figure]]", scale: "Scale", seed: int | None
) -> str:
    """Return the name of the study of `halfway reproduce`; its folder can be written to."""
    from halfway.papers import PAPERS
    from halfway.report.study_folders import check_output
    from halfway.report.verdicts.reproduction_folder import NAMES, study_of

    study = study_of(figures, scale, seed, sum(len(paper.figures) for paper in PAPERS.values()))
    check_output(folder, study, NAMES)
    return study


def _check_runs(report: "VerdictReport", out: Path) -> None:
    """End `halfway reproduce` with its exit status and a warning, if runs failed."""
    if report.errors:
        warn(
            f"{report.errors} runs ended in errors. {out / 'runs'} contains their messages. "
            f"The first: {' '.join(report.first_error.split())}"
        )
        raise typer.Exit(RUNS_FAILED)


def _write(out: Path, study: str, report: "VerdictReport") -> Path:
    """Write the study of `halfway reproduce`, and renew the list of studies."""
    from halfway.pipeline.store.manifest import timestamp
    from halfway.report.study_folders import StudyPage, begin_study, finish_study
    from halfway.report.verdicts.reproduction_folder import write_report
    from halfway.report.verdicts.verdict_wording import tally_line

    titles = [f"{paper.name}/{figure.name}" for paper, figure in report.figures]
    title = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
    described = StudyPage(
        study=study, kind="figures", title=f"{title} ({report.scale})", page="index.html",
        finished=timestamp(), summary=tally_line(report.verdicts), digest=report.digest,
        command=report.command, elapsed_s=report.elapsed, processor_s=report.processor,
    )  # fmt: skip
    begin_study(out, described)
    page = write_report(out / study, report)
    finish_study(out, described)
    return page


def _print_result(report: "VerdictReport", page: str, as_json: bool) -> None:
    from halfway.report.verdicts.terminal import print_figure, print_run
    from halfway.report.verdicts.verdict_files import verdicts_jsonl

    if as_json:
        typer.echo(verdicts_jsonl(report.verdicts), nl=False)
        return
    screen = console()
    for paper, figure in report.figures:
        print_figure(screen, paper, figure, report.of(paper, figure))
    print_run(screen, report, page)
