"""`halfway compare`: systems compared on one scenario."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal import options
from halfway.cli.terminal.account_option import accounted
from halfway.cli.terminal.requested import Asked, requested
from halfway.cli.terminal.screen import (
    RUNS_FAILED,
    command_line,
    console,
    elapsed_s,
    interruptible,
    warn,
)
from halfway.comparison.defaults import MAX_REPLICATES, PAGE, REPLICATES

if TYPE_CHECKING:
    from halfway.comparison.evaluation.comparison_results import Results
    from halfway.comparison.request import Request
    from halfway.comparison.run_comparison import Completed
    from halfway.report.study_folders import StudyPage

_NAMES = (PAGE, "comparison.csv", "comparison-over-time.csv", "comparison.jsonl", "comparison.json")


def compare(
    scenario: options.ScenarioFile,
    *,
    systems: options.Systems = None,
    system: options.OwnSystems = None,
    replicates: options.Replicates = REPLICATES,
    baseline: options.Baseline = None,
    until: options.UntilTight = None,
    most: options.Most = MAX_REPLICATES,
    changes: options.Changed = None,
    sweep: options.Swept = None,
    need: options.Needed = None,
    minimise: options.Minimised = "",
    seed: options.RootSeed = None,
    out: options.Out = Path("halfway-comparison"),
    master: options.Master = None,
    mapped: options.Mapped = True,
    account: options.AccountFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare systems on a scenario, with the same networks, workload and faults for each system.

    \b
    The command names the system that meets --need at the least cost (--minimise).
    It prints the means of the metrics with 95 % confidence intervals. A star marks
    a value that is significantly better than the values of all other systems with
    a similar delivery ratio. The command writes a page and tables to DIR/TITLE (the
    title of the scenario). The page, comparison.html, has plots, and a map of one
    run of each system. The tables are .csv, .jsonl and .json files. DIR/index.html
    lists all comparisons in DIR. After an interrupt, the same command continues.

    \b
    halfway compare examples/scenarios/sensor-field.toml
    halfway compare mesh.toml --systems gossip,flooding --replicates 30
    halfway compare mesh.toml --need delivery-ratio=0.95 --minimise energy
    halfway compare mesh.toml --until half-width=2%,energy
    halfway compare mesh.toml --sweep workload.events=10,20,40 --set seconds=90
    halfway compare mesh.toml --system my_protocol.py --baseline gossip
    docs/comparing.md describes the metrics, the statistics, and how to add a protocol.
    """
    asked = Asked(
        systems, system, replicates, changes, sweep, baseline, until, most, need, minimise
    )
    request = requested(scenario, asked)
    _warn_of(request)
    from halfway.pipeline.store.object_store import output_folder, shown

    with output_folder(out) as folder, accounted(account, as_json) as log:
        completed, page = _completed(request, folder, master, seed, mapped, as_json, log)
    _show(completed, shown(out, folder, page), as_json)


def _warn_of(request: "Request") -> None:
    """Warn of content that `halfway compare` skipped in files, and of systems that cannot run."""
    for remark in request.remarks:
        warn(remark)
    for name, why in request.unsupported.items():
        warn(f"{name} cannot run here: {why}")


def _show(completed: "Completed", page: str, as_json: bool) -> None:
    """Print the results of `halfway compare`; exit status RUNS_FAILED if runs failed."""
    results = completed.results
    if as_json:
        from halfway.report.comparison.comparison_files import cells_jsonl, decisions_jsonl

        typer.echo(cells_jsonl(results) + decisions_jsonl(results), nl=False)
    else:
        from halfway.report.comparison.terminal_results import print_results

        print_results(console(), results, page=page)
    if results.errors:
        from halfway.report.wording import count

        warn(f"{count(results.errors, 'run')} failed; the first: {completed.first_error}")
        raise typer.Exit(RUNS_FAILED)


def _completed(
    request: "Request",
    out: Path,
    master: str | None,
    seed: int | None,
    mapped: bool,
    quiet: bool,
    event_log: Path | None,
) -> "tuple[Completed, Path]":
    """Make the runs of `halfway compare`, show progress, and write the files of its study."""
    from halfway.comparison import run_comparison
    from halfway.comparison.study_name import study_name
    from halfway.pipeline.store.store import Store
    from halfway.report.comparison.comparison_files import write_results
    from halfway.report.comparison.comparison_page import write_comparison_page
    from halfway.report.comparison.worded_results import with_words
    from halfway.report.study_folders import begin_study, check_output, finish_study
    from halfway.report.terminal.progress import ProgressDisplay

    store = Store(out / "runs")
    folder = check_output(out, study_name(request, store, seed), _NAMES)
    bar = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    with interruptible(out), ProgressDisplay(sys.stderr, "starting", bar=bar) as display:
        completed = run_comparison.compare(
            request, store, master, display, seed, compiling=display.compiling, event_log=event_log
        )
        completed = with_words(request, completed)
        begin_study(out, _described(completed.results))
        write_results(folder, completed.results)  # kept if the map is interrupted
        tracing = partial(display.count, "tracing", "maps")
        drawn = _map(folder, request, completed, tracing) if mapped else ""
        display.phase("writing the page")
        results = completed.results.lasting(elapsed_s())
        write_results(folder, results)
        write_comparison_page(results, drawn, folder / PAGE, command_line())
        finish_study(out, _described(results))
    return completed._replace(results=results), folder / PAGE


def _map(
    folder: Path, request: "Request", completed: "Completed", tracing: Callable[[int, int], None]
) -> str:
    """Return the map of `halfway compare` for the page of its study."""
    from halfway.report.comparison.kept_map import map_of_comparison

    return map_of_comparison(folder, request, completed, tracing)


def _described(results: "Results") -> "StudyPage":
    """Return the entry of a comparison by `halfway compare` in the list of studies."""
    from halfway.pipeline.store.manifest import timestamp
    from halfway.report.study_folders import StudyPage
    from halfway.report.wording import count

    systems = count(len(results.systems), "system")
    replicates = count(results.replicates, "replicate")
    points = f", {count(len(results.points), 'point')}" if len(results.points) > 1 else ""
    return StudyPage(
        study=results.study,
        kind="comparison",
        title=results.title,
        page=PAGE,
        finished=timestamp(),
        summary=f"{systems}, {replicates}{points}",
        digest=results.digest,
        command=command_line(),
    )
