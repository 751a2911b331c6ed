"""`halfway compare`: systems compared on one scenario."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli import options
from halfway.cli.screen import RUNS_FAILED, assignments, console, interruptible, spinner, warn
from halfway.comparison.defaults import MAX_REPLICATES, REPLICATES
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.comparison.compare import Completed
    from halfway.comparison.request import Request

PAGE = "comparison.html"
_SWEEPING = ("workload.events=10,20", "give all values at once: FIELD=A,B,C")


def compare(
    scenario: options.ScenarioFile,
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
    as_json: options.AsJson = False,
) -> None:
    """Compare systems on a scenario: same networks, same workload, same faults.

    \b
    Prints which system to choose by --need and --minimise, and means with 95 %
    intervals. A star marks a system that is significantly better than every
    other that delivers as much. Writes to DIR a page (comparison.html) with
    plots and a map of one run of each system, tables (.csv, .jsonl, .json), and
    the runs. The same command resumes there and makes only missing runs.

    \b
    halfway compare examples/scenarios/sensor-field.toml
    halfway compare mesh.toml --systems gossip,flooding --replicates 30
    halfway compare mesh.toml --need delivery-ratio=0.95 --minimise energy
    halfway compare mesh.toml --until half-width=2%,energy
    halfway compare mesh.toml --sweep workload.events=10,20,40 --set seconds=90
    halfway compare mesh.toml --system my_protocol.py --baseline gossip
    docs/comparing.md: the metrics, the statistics, and how to add a protocol.
    """
    given, swept = assignments(changes, "--set"), assignments(sweep, "--sweep", *_SWEEPING)
    needs, names = assignments(need, "--need", "delivery-ratio=0.95"), _names(systems)
    with spinner("reading the scenario"):
        from halfway.comparison.request import read_request

        request = read_request(
            scenario, names, user_systems=system or [], baseline=baseline, replicates=replicates,
            until=until, max_replicates=most, changes=given, sweeps=swept,
            needs=needs, minimise=minimise,
        )  # fmt: skip
    _warn_of(request)
    _show(_completed(request, out, master, seed, mapped, as_json), out / PAGE, as_json)


def _names(systems: list[str] | None) -> list[str]:
    """The names in `--systems`; Problem if the option has none."""
    names = [name for some in systems or [] for name in some.split(",")]
    if systems and not any(name.strip() for name in names):
        remedy = "name systems, such as --systems gossip,flooding, or leave the option out"
        raise Problem("--systems: expected at least one name", remedy=remedy)
    return names


def _warn_of(request: "Request") -> None:
    """Warn of what `halfway compare` left out of the files, and of systems that cannot run."""
    for remark in request.remarks:
        warn(remark)
    for name, why in request.unsupported.items():
        warn(f"{name} cannot run here: {why}")


def _show(completed: "Completed", page: Path, as_json: bool) -> None:
    """Print the results of `halfway compare`; exit status RUNS_FAILED if runs failed."""
    results = completed.results
    if as_json:
        from halfway.report.comparison.files import cells_jsonl, decisions_jsonl

        typer.echo(cells_jsonl(results) + decisions_jsonl(results), nl=False)
    else:
        from halfway.report.comparison.terminal import print_results

        print_results(console(), results, page=str(page))
    if results.errors:
        warn(f"{results.errors} runs failed; the first: {completed.first_error}")
        raise typer.Exit(RUNS_FAILED)


def _completed(
    request: "Request", out: Path, master: str | None, seed: int | None, mapped: bool, quiet: bool
) -> "Completed":
    """Make the runs of `halfway compare`, show progress, and write the files to the folder."""
    from halfway.comparison.compare import compare as run
    from halfway.comparison.replay.recording import record_replays
    from halfway.pipeline.store.store import Store
    from halfway.report.comparison.files import write_results
    from halfway.report.comparison.page import write_comparison_page
    from halfway.report.progress import ProgressDisplay

    store = Store(out / "runs")
    bar = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    with interruptible(out), ProgressDisplay(sys.stderr, "starting", bar=bar) as display:
        compiling = partial(display.count, "compiling", "systems compiled")
        completed = run(request, store, master, display, seed, compiling=compiling)
        write_results(out, completed.results)
        recorded = []
        if mapped:
            tracing = partial(display.count, "tracing", "maps")
            recorded = record_replays(request, completed, tracing)
        display.phase("writing the page")
        command = shlex.join(["halfway", *sys.argv[1:]])
        write_comparison_page(completed.results, recorded, out / PAGE, command)
    return completed
