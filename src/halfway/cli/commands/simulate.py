"""`halfway simulate`: one system on a scenario, message by message."""

import os
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal.assignments import assignments
from halfway.cli.terminal.options import (
    AsJson,
    Changed,
    Debug,
    NodesFile,
    ScenarioFile,
    ScenarioSeed,
    SystemName,
    TraceFile,
)
from halfway.cli.terminal.screen import console, spinner, warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfway.adapters.interface import System
    from halfway.comparison.plan import SystemSource
    from halfway.scenario.build import PreparedScenario
    from halfway.scenario.schema import Scenario
    from halfway.sim.metrics.outcome import Outcome
    from halfway.sim.simulation import Simulation


def simulate(
    scenario: ScenarioFile,
    system: SystemName = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    trace: TraceFile = None,
    nodes: NodesFile = None,
    debug: Debug = False,
    as_json: AsJson = False,
) -> None:
    """Run one system on a scenario, message by message, and print its metrics.

    \b
    A scenario is a TOML file. The folder examples/scenarios has examples:
      system = "gossip"            seconds = 60        seed = 1
      \\[network]   kind = "unit-disk" (n, degree or radius), "file" (path, …),
                  "random-waypoint" (n, width, height, radius, speed, pause)
                  "waxman" (n, m, side; its links are wired), "recorded" (path, radius)
      \\[radio]     kind = "ideal", "distance", "contention" or "wired"
      \\[workload]  topics, publishers_each, subscribers_each, events, every_s,
                  publishers and subscribers by name, or kind = "recorded" (path),
                  "groups" or "failure-detection"
      \\[\\[faults]]  fault = "crash", "churn", "pause", "link-cut", "partition"
                  or "attack"
      \\[options.gossip]  the options of a system (docs/scenarios.md lists them)
    docs/scenarios.md lists every field with its unit, default and range.

    \b
    halfway simulate examples/scenarios/sensor-field.toml
    halfway simulate mesh.toml --system flooding --seed 7 --json
    halfway simulate mesh.toml --set workload.events=100 --trace run.parquet
    halfway simulate mesh.toml --nodes nodes.csv
    halfway simulate mesh.toml --system my_protocol.py --debug --set network.n=50
    docs/comparing.md describes how to write and to debug a protocol.
    """
    if debug:
        _interpret()
    from halfway.scenario.reading import read_scenario

    changed = assignments(changes, "--set") | ({} if seed is None else {"seed": str(seed)})
    mine = _own(system)
    read = read_scenario(scenario, changed, {mine.name: mine.system()} if mine.text else {})
    _check_outputs(trace, nodes)
    chosen = _chosen(read, mine, system)
    run, outcome = _run(read, mine, chosen, trace, debug=debug)
    _show(run, outcome, nodes, _notes(read, chosen), as_json=as_json)
    if trace is not None:
        from halfway.sim.trace.reader import rows_of

        warn(f"wrote {trace}: {rows_of(trace):,} rows (docs/replaying.md describes the columns)")


def _own(system: str | None) -> "SystemSource":
    """Return the user's protocol of `halfway simulate`; its text is "" if a built-in system
    runs.
    """
    from halfway.comparison.plan import SystemSource

    if system is None or not system.endswith(".py"):
        return SystemSource("")
    from halfway.adapters.user_protocol import read_user_system

    return SystemSource(*read_user_system(system))


def _chosen(read: "Scenario", mine: "SystemSource", system: str | None) -> "System":
    """Return the system of `halfway simulate`: the user's, a named one, or that of the scenario."""
    from halfway.scenario.build import system_of

    return system_of(read, mine.system() if mine.text else system)


def _check_outputs(trace: Path | None, nodes: Path | None) -> None:
    """Raise Problem, before the run of `halfway simulate`, for a file that it cannot write."""
    if trace is not None:
        from halfway.sim.trace.writer import check_target

        check_target(trace)
    if nodes is not None:
        from halfway.report.terminal.node_report import check_nodes_file

        check_nodes_file(nodes)


def _show(
    run: "Simulation",
    outcome: "Outcome",
    nodes: Path | None,
    notes: "Iterator[str]",
    *,
    as_json: bool,
) -> None:
    """Print the outcome of `halfway simulate`, with notes under the tables, and write its nodes to
    the file.
    """
    from halfway.report.terminal.node_report import print_highest_loads, write_nodes
    from halfway.report.terminal.outcome_report import outcome_json, print_notes, print_outcome
    from halfway.sim.node_table import nodes_of

    table = None if nodes is None else nodes_of(run)
    if nodes is not None and table is not None:
        write_nodes(nodes, table)
    if as_json:
        typer.echo(outcome_json(outcome, table))
        return
    print_outcome(console(), outcome)
    if nodes is not None and table is not None:
        print_highest_loads(console(), nodes, table)
    print_notes(console(), notes)


def _notes(read: "Scenario", system: "System") -> "Iterator[str]":
    """Return the notes on the system of `halfway simulate`."""
    from halfway.scenario.system_notes import system_notes

    return system_notes([read], [system])


def _prepared(scenario: "Scenario") -> "PreparedScenario":
    """Return the network and workload of `halfway simulate`; warn of skipped content in its
    files.
    """
    from halfway.scenario.build import prepared
    from halfway.scenario.remarks import remarks_of

    with spinner("reading the network"):
        ready = prepared(scenario)
        remarks = remarks_of(scenario, ready)
    for remark in remarks:
        warn(remark)
    return ready


def _run(
    read: "Scenario", mine: "SystemSource", system: "System", trace: Path | None, *, debug: bool
) -> "tuple[Simulation, Outcome]":
    """Return the run of `halfway simulate` and its outcome; a user's protocol is tried first."""
    from halfway.adapters.user_errors import user_errors
    from halfway.comparison.trial import try_first, watched
    from halfway.scenario.build import simulation_on

    if mine.text and not debug:
        with spinner(f"trying {mine.name} interpreted, on a few nodes"):
            try_first(read, [mine])
    ready = _prepared(read)
    doing = "running interpreted" if debug else "running (the first run of a system compiles it)"
    with spinner(doing), user_errors(*mine):
        run = simulation_on(ready, read, system, trace)
        with watched(run) if debug else nullcontext():
            return run, run.run()


def _interpret() -> None:
    """Switch the compiler off for this process of `halfway simulate`, and all checks on."""
    if "numba" in sys.modules and os.environ.get("NUMBA_DISABLE_JIT") != "1":
        remedy = "set NUMBA_DISABLE_JIT=1 before Halfway is imported"
        what = "--debug cannot switch the compiler off: this process has already imported numba"
        raise Problem(what, remedy=remedy)
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.environ["HALFWAY_CHECK_RECORDS"] = "1"
    # Random numbers wrap around, which only interpreted code warns about.
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
