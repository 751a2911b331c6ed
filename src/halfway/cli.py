"""The command line: it parses, calls and prints. Everything heavy is imported by the command.

Exit status: 0 done (a verdict may well be "differs"), 1 some runs ended in errors, 2 misuse or
something that the user can mend, 70 a mistake of ours, 130 interrupted.
"""

import os
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import halfway
from halfway.options import (
    AsJson,
    BothWays,
    Changed,
    From,
    Largest,
    Master,
    NetworkName,
    Out,
    Over,
    Partitions,
    PlotFile,
    Positions,
    Quality,
    QualityBack,
    Radius,
    RootSeed,
    ScaleName,
    ScenarioFile,
    ScenarioSeed,
    Seed,
    Steps,
    SystemName,
    To,
    TraceFile,
    WalkReading,
    WalkSystem,
    What,
)
from halfway.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

    from halfway.report.publication import Publication
    from halfway.sim.walks import Meeting
    from halfway.world.network import Network

# Commands import what they need when they run: `halfway --help` must not wait for a compiler.

MENDABLE, RUNS_FAILED, OURS, INTERRUPTED = 2, 1, 70, 130


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status. No traceback for what a user can mend."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ✓ shows a ? and goes on
    given = None if arguments is None else list(arguments)
    try:
        status = app(args=given, prog_name="halfway", standalone_mode=False)
    except SystemExit:  # the parser's way to say that our reader has seen enough
        return _explained(BrokenPipeError())
    except (Exception, KeyboardInterrupt) as error:  # nothing gets past here as a traceback
        return _explained(error)
    return status if isinstance(status, int) else 0


def _explained(error: BaseException) -> int:
    """One line on stderr about what went wrong; the exit status that it deserves."""
    match error:
        case Problem():
            line, status = str(error), MENDABLE
        case BrokenPipeError():  # whoever reads our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            line, status = where + (error.strerror or str(error)).lower(), MENDABLE
        case KeyboardInterrupt() | typer.Abort():
            line, status = "interrupted", INTERRUPTED
        case _ if hasattr(error, "format_message"):  # the parser's own: misuse, with what it saw
            said = error.format_message().replace("Value error, ", "").rstrip(".")
            line, status = f"{said} (--help shows what there is)", MENDABLE
        case _:
            if os.environ.get("HALFWAY_TRACEBACK"):
                traceback.print_exception(error)
            first = (str(error).strip().splitlines() or ["no message"])[0]
            hint = "this is a mistake of Halfway; HALFWAY_TRACEBACK=1 shows where"
            line, status = f"{type(error).__name__}: {first} ({hint})", OURS
    _warn(" ".join(line.split()))
    return status


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"halfway {halfway.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _halfway(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and end.")
    ] = False,
) -> None:
    """Publish/subscribe for networks in which nobody is the broker.

    Published designs, each implemented once, measured beside their printed numbers.

    \b
    halfway list                                 what there is
    halfway reproduce directional-walks/figure-6 one figure, in a minute or so
    halfway reproduce --scale paper              everything, as many networks
    halfway walk mesh.graphml --plot walk.png    two walks on your own network
    halfway simulate scenario.toml               any system, message by message
    """
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())


@app.command("list")
def list_papers() -> None:
    """Show the papers, their figures, and how many runs each takes.

    The names are those that [bold]halfway reproduce[/bold] takes.
    """
    from halfway.papers import PAPERS
    from halfway.report.listing import print_papers

    print_papers(_console(), PAPERS.values())


@app.command()
def reproduce(
    what: What = "",
    scale: ScaleName = "quick",
    out: Out = Path("halfway-results"),
    as_json: AsJson = False,
    master: Master = None,
    partitions: Partitions = None,
    seed: RootSeed = None,
) -> None:
    """Measure what a paper printed, and judge cell by cell whether it comes out.

    \b
    Prints published beside measured with 95 % intervals, and leaves in DIR a
    page with the plots (index.html), verdicts.csv, verdicts.jsonl,
    summaries.csv and figures/. A verdict that differs is a result, not an
    error. Interrupt it at any time: the same command goes on from there.

    \b
    halfway reproduce                                everything, quickly
    halfway reproduce directional-walks/figure-6 --scale paper
    halfway reproduce --json | jq 'select(.verdict == "differs")'
    """
    from halfway.papers import PAPERS
    from halfway.report.listing import chosen

    figures = chosen(PAPERS, what)  # a slip of the finger is told before Spark is loaded
    from halfway.report.edition import claim, publish

    claim(out)
    from halfway.pipeline.reproduce import reproduce as run
    from halfway.report.progress import Told
    from halfway.report.publication import publication_of

    begun = time.monotonic()
    quiet = as_json or not (sys.stdout.isatty() and sys.stderr.isatty())
    with _interruptible(out), Told(sys.stderr, "starting Spark", bar=not quiet) as told:
        result = run(figures, scale, out / "runs", master, told, partitions=partitions, seed=seed)
        told.phase("writing the page")
        command = shlex.join(["halfway", *sys.argv[1:]])
        publication = publication_of(figures, scale, result, command, time.monotonic() - begun)
        page = publish(out, publication)
    _print_result(publication, page, as_json)
    if publication.errors:
        _warn(
            f"{publication.errors} runs ended in errors and are kept with their messages in "
            f"{out / 'runs'}; the first: {' '.join(publication.first_error.split())}"
        )
        raise typer.Exit(RUNS_FAILED)


@app.command()
def walk(
    network: NetworkName,
    source: From = None,
    target: To = None,
    system: WalkSystem = "directional-walk",
    reading: WalkReading = "heard",
    k: Steps = 1,
    seed: Seed = 1,
    plot: PlotFile = None,
    largest: Largest = False,
    positions: Positions = None,
    radius: Radius = None,
    quality: Quality = None,
    quality_back: QualityBack = None,
    over: Over = None,
    both_ways: BothWays = True,
    as_json: AsJson = False,
) -> None:
    """Let a publisher's and a subscriber's walk set out on a network until they meet.

    \b
    Prints their steps, where they meet, the loop-erased path between them, and
    how much longer that is than a shortest path. A and B are the file's own
    ids; what is not given is drawn by the seed.

    \b
    halfway walk unit-disk:n=3000,r=0.04,seed=7 --plot walk.png
    halfway walk mesh.graphml --from alice --to bob
    halfway walk links.csv --quality pdr --over 0.9 --largest
    halfway walk links.csv --positions motes.csv --plot walk.svg
    """
    from halfway.report.ground import ends, named_network
    from halfway.report.walk import lines, walked, walked_json
    from halfway.sim.walks import walk_pair
    from halfway.world.paths import distances

    draw = _draughtsman(plot)
    qualities = [name for name in (quality, quality_back) if name]
    with _patience("making the network"):
        whole = named_network(
            network, radius=radius, largest=largest, quality=qualities,
            threshold=over, both_ways=both_ways, positions_from=positions,
        )  # fmt: skip
    if whole.left_out:
        dropped = ", ".join(f"{count:,} {what}" for what, count in whole.left_out.items())
        _warn(f"{whole.name}: left out {dropped}")
    ground, a, b, outside = ends(whole, source, target, seed)
    if outside:
        _warn(f"{whole.name} is disconnected: the walks stay among {ground.n} of {whole.n} nodes")
    with _patience("walking (the first time, the walks are compiled)"):
        met = walk_pair(ground, a, b, system=system, reading=reading, k=k, seed=seed)
    draw(ground, met)
    told = walked(
        ground, met, int(distances(ground, a)[b]), system=system, reading=reading, k=k, seed=seed,
        picture=str(plot) if plot else None,
    )  # fmt: skip
    typer.echo(walked_json(told) if as_json else "\n".join(lines(told)))


@app.command()
def simulate(
    scenario: ScenarioFile,
    system: SystemName = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    trace: TraceFile = None,
    as_json: AsJson = False,
) -> None:
    """Run one system on a scenario, message by message, and print its meters.

    \b
    A scenario is a TOML file; examples/scenarios has some to begin with:
      system = "gossip"            seconds = 60        seed = 1
      [network]   kind = "unit-disk" (n, degree or radius), "file" (path, …),
                  "random-waypoint" (n, width, height, radius, speed, pause)
                  or "recorded" (path, radius)
      [radio]     kind = "ideal", "distance", "contention" or "wired"
      [workload]  topics, publishers_each, subscribers_each, events, every_s
      [[faults]]  fault = "crash", "churn", "link-cut" or "partition"
      [options.gossip]  the numbers of a system; a wrong name shows them all
    What is wrong is named by field, value and what is allowed.

    \b
    halfway simulate examples/scenarios/sensor-field.toml
    halfway simulate mesh.toml --system flooding --seed 7 --json
    halfway simulate mesh.toml --set workload.events=100 --trace run.parquet
    """
    from halfway.scenario.reading import read_scenario

    given = dict(_assignment(change) for change in changes or [])
    if seed is not None:
        given["seed"] = str(seed)
    read = read_scenario(scenario, given)
    from halfway.report.outcome import outcome_json, print_outcome
    from halfway.scenario.staging import simulation_of

    with _patience("running (the first time, the system is compiled)"):
        told = simulation_of(read, system=system, trace=trace).run()
    if as_json:
        typer.echo(outcome_json(told))
    else:
        print_outcome(_console(), told)


def _assignment(change: str) -> tuple[str, str]:
    field, equals, value = change.partition("=")
    if not equals or not field.strip():
        raise Problem(f"--set {change}: it must be FIELD=VALUE", remedy="workload.events=20")
    return field.strip(), value.strip()


def _draughtsman(plot: Path | None) -> "Callable[[Network, Meeting], None]":
    """What draws the picture, checked before anything walks; nothing if none is wanted."""
    if plot is None:
        return lambda _network, _meeting: None
    from halfway.report.pictures import checked_format, draw_walk

    checked_format(plot)
    return lambda network, meeting: draw_walk(network, meeting, plot)


def _print_result(publication: "Publication", page: Path, as_json: bool) -> None:
    from halfway.report.tables import verdicts_jsonl
    from halfway.report.terminal import print_figure, print_run

    if as_json:
        typer.echo(verdicts_jsonl(publication.verdicts), nl=False)
        return
    console = _console()
    for paper, figure in publication.figures:
        print_figure(console, paper, figure, publication.of(paper, figure))
    print_run(console, publication, page)


@contextmanager
def _interruptible(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _warn(f"interrupted; what is finished is in {out}, and the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _patience(what: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def _console() -> "Console":
    from halfway.report.terminal import console

    return console(sys.stdout)


def _warn(line: str) -> None:
    typer.echo(f"halfway: {line}", err=True)
