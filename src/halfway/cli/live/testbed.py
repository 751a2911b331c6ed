"""`halfway testbed`: a scenario run by real nodes on the air, beside its simulation."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halfway.cli.terminal.assignments import assignments
from halfway.cli.terminal.options import AsJson, Changed, ScenarioFile, ScenarioSeed
from halfway.cli.terminal.screen import RUNS_FAILED, console, warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.scenario.schema import Scenario
    from halfway.testbed.live_run import Keeping, LiveProgress
    from halfway.testbed.testbed_run import SideBySide

_HEADINGS = ("metric", "simulated", "one more run, 95 %", "live", "live beside simulated")


_Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME",
        help="Name of a system to run. Repeatable. Default: the system that SCENARIO names.",
    ),
]
_Runs = Annotated[
    int, typer.Option(metavar="N", min=2, help="Number of simulated runs on the same network.")
]
_Records = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for the records that every node receives. Halfway then replays them.",
    ),
]

_Traces = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the trace of each node to DIR, as Parquet files."),
]
_Keys = Annotated[
    bool,
    typer.Option(
        "--keys", help="Give the real nodes keys. Each node gets a certificate for this run."
    ),
]


def real_nodes(
    scenario: ScenarioFile,
    system: _Chosen = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    replicates: _Runs = 20,
    record: _Records = None,
    traces: _Traces = None,
    keys: _Keys = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario with real nodes and datagrams, and compare the run with simulated runs.

    \b
    Every node has its own network namespace. The positions, motion, losses, delays and faults of
    the scenario decide which datagrams reach a node. No datagram leaves the namespaces. The command
    needs Linux, iproute2, nftables, and root or `unshare -rn`. The real run agrees with the
    simulation if its delivery ratio is in the range that contains 95 % of further simulated runs,
    and its latency is 0.5 to 2 times the simulated latency. Exit status: 1 if it does not agree.

    \b
    halfway testbed examples/scenarios/mesh-on-the-air.toml
    halfway testbed mesh.toml --system flooding --system walk-overlay --set seconds=30
    unshare -rn halfway testbed mesh.toml --json
    """
    from halfway.scenario.reading import read_scenario
    from halfway.testbed.testbed_run import run_beside

    changed = assignments(changes, "--set") | ({} if seed is None else {"seed": str(seed)})
    read = read_scenario(scenario, changed)
    agree = True
    for name in system or [read.system]:
        result = run_beside(
            read, name, replicates=replicates, announce=warn, progress=_line(name),
            keeping=_keeping(record, traces, name), has_keys=keys,
        )  # fmt: skip
        agree &= result.agrees
        _print(result, read, as_json)
    if not agree:
        raise typer.Exit(RUNS_FAILED)


def _keeping(record: Path | None, traces: Path | None, system: str) -> "Keeping":
    """Return the folders in which `halfway testbed` keeps the history of a system's nodes: records
    in a new folder, or traces.
    """
    from halfway.testbed.live_run import Keeping

    if record is not None and traces is not None:
        raise Problem(
            "--record and --traces are both given: expected only one",
            remedy="run the command twice, once with each option",
        )
    return Keeping(None if record is None else _new_folder(record / system), traces)


def _new_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        remedy = "choose another folder for --record"
        raise Problem("the folder already exists", where=str(path), remedy=remedy) from None
    return path


def _line(system: str) -> "Callable[[LiveProgress], None]":
    """Return the function that prints the progress of a live run of `halfway testbed`: one line on
    a terminal, and nothing elsewhere.
    """

    def show(progress: "LiveProgress") -> None:
        if sys.stderr.isatty():
            counts = f"{progress.published} published, {progress.delivered} delivered"
            line = f"{system}: {progress.at:.0f} of {progress.seconds:g} s live, {counts}"
            sys.stderr.write(f"\r\x1b[K{line}" + ("\r\x1b[K" * (progress.at >= progress.seconds)))
            sys.stderr.flush()

    return show


def _print(result: "SideBySide", scenario: "Scenario", as_json: bool) -> None:
    if as_json:
        for row in result.rows:
            values = {key: _number(value) for key, value in row._asdict().items()}
            typer.echo(json.dumps({"system": result.system} | values))
        typer.echo(json.dumps(_counts(result)))
        return
    from halfway.comparison.evaluation.metrics import metrics_for
    from halfway.report.terminal.plain_table import plain_table
    from halfway.report.wording import short

    headings = {metric.name: metric.heading for metric in metrics_for([scenario])}
    table = plain_table(*_HEADINGS, numbers=_HEADINGS[1:4])
    for row in result.rows:
        shown = f"{short(row.low)} to {short(row.high)}"
        mark = {True: "✓ ", False: "✗ ", None: ""}[row.agrees]
        table.add_row(
            headings[row.metric], short(row.simulated), shown, short(row.live), mark + row.reason
        )
    live = result.live
    of = f"{live.measured.delivered:,} of {live.measured.expected:,} expected notifications"
    console().print(f"\n{result.system}: {result.nodes} nodes, {of}", highlight=False)
    console().print(table, highlight=False)
    for title, counts in (("the air", live.air), ("dropped by nodes", live.drops)):
        words = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items())
        console().print(f"{title}: {words or 'nothing'}", highlight=False)
    sums = result.account
    exact = (
        "the counters account for every datagram"
        if sums.is_exact
        else f"the counters do NOT account for every datagram: {sums}"
    )
    console().print(f"{exact}: {sums.sent:,} copies sent", highlight=False)
    console().print(f"security of the nodes: {live.security}", highlight=False)
    late = f"publications were late by at most {1000 * live.late_s:.0f} ms"
    console().print(f"neighbours after {live.linked_s:.1f} s; {late}", highlight=False)
    if result.replayed:
        same = sum(replay.is_same for replay in result.replayed)
        what = f"{same} of {len(result.replayed)} records replay to the same state"
        console().print(what, highlight=False)


def _counts(result: "SideBySide") -> dict[str, object]:
    live = result.live
    return {
        "system": result.system, "nodes": result.nodes, "security": live.security,
        "published": live.measured.published, "expected": live.measured.expected,
        "delivered": live.measured.delivered,
        "linked_s": round(live.linked_s, 3), "late_s": round(live.late_s, 6), "air": live.air,
        "queue": live.queue, "drops": live.drops, "datagrams": live.datagrams,
        "account": result.account._asdict(), "accounted_for": result.account.is_exact,
        "replayed": len(result.replayed),
        "replayed_to_the_same_state": sum(replayed.is_same for replayed in result.replayed),
    }  # fmt: skip


def _number(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
