"""`halfway simulate`: one system on a scenario, message by message."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.options import (
    AsJson,
    Changed,
    NodesFile,
    ScenarioFile,
    ScenarioSeed,
    SystemName,
    TraceFile,
)
from halfway.cli.screen import assignments, console, spinner

if TYPE_CHECKING:
    from halfway.adapters.interface import System
    from halfway.sim.metrics.outcome import Outcome
    from halfway.sim.simulation import Simulation


def simulate(
    scenario: ScenarioFile,
    system: SystemName = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    trace: TraceFile = None,
    nodes: NodesFile = None,
    as_json: AsJson = False,
) -> None:
    """Run one system on a scenario, message by message, and print its metrics.

    \b
    A scenario is a TOML file. The folder examples/scenarios has examples:
      system = "gossip"            seconds = 60        seed = 1
      \\[network]   kind = "unit-disk" (n, degree or radius), "file" (path, …),
                  "random-waypoint" (n, width, height, radius, speed, pause)
                  "waxman" (n, m, side), wired, or "recorded" (path, radius)
      \\[radio]     kind = "ideal", "distance", "contention" or "wired"
      \\[workload]  topics, publishers_each, subscribers_each, events, every_s,
                  publishers and subscribers by name, or kind = "recorded" (path)
      \\[\\[faults]]  fault = "crash", "churn", "link-cut" or "partition"
      \\[options.gossip]  the options of a system (a wrong name lists all names)
    docs/scenarios.md lists every field with its unit, default and range.

    \b
    halfway simulate examples/scenarios/sensor-field.toml
    halfway simulate mesh.toml --system flooding --seed 7 --json
    halfway simulate mesh.toml --set workload.events=100 --trace run.parquet
    halfway simulate mesh.toml --system my_protocol.py
    halfway simulate mesh.toml --nodes nodes.csv
    """
    from halfway.scenario.reading import read_scenario

    given = assignments(changes, "--set")
    if seed is not None:
        given["seed"] = str(seed)
    mine = _user_system(system)
    read = read_scenario(scenario, given, {} if mine is None else {mine.name: mine})
    _check_outputs(trace, nodes)
    from halfway.scenario.build import simulation_of

    with spinner("running (the first run of a system compiles it)"):
        simulation = simulation_of(read, system=mine or system, trace=trace)
        outcome = simulation.run()
    _show(simulation, outcome, nodes, as_json)


def _check_outputs(trace: Path | None, nodes: Path | None) -> None:
    """Raise Problem, before the run of `halfway simulate`, for a file that it cannot write."""
    if trace is not None:
        from halfway.sim.trace.writer import checked_target

        checked_target(trace)
    if nodes is not None:
        from halfway.report.nodes import checked_nodes_file

        checked_nodes_file(nodes)


def _show(run: "Simulation", outcome: "Outcome", nodes: Path | None, as_json: bool) -> None:
    """Print the outcome of `halfway simulate`, and write its nodes to the file."""
    from halfway.report.nodes import print_highest_loads, write_nodes
    from halfway.report.outcome import outcome_json, print_outcome
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


def _user_system(name: str | None) -> "System | None":
    """The user's protocol that `halfway simulate` names by its file, if it names one."""
    if name is None or not name.endswith(".py"):
        return None
    from halfway.adapters.user_protocol import read_user_system, user_system

    return user_system(read_user_system(name))
