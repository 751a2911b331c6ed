"""`halfway simulate`: one system on a scenario, message by message."""

from typing import TYPE_CHECKING

import typer

from halfway.cli.options import AsJson, Changed, ScenarioFile, ScenarioSeed, SystemName, TraceFile
from halfway.cli.screen import assignments, console, spinner, warn

if TYPE_CHECKING:
    from halfway.adapters.interface import System
    from halfway.scenario.build import Prepared
    from halfway.scenario.schema import Scenario


def simulate(
    scenario: ScenarioFile,
    system: SystemName = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    trace: TraceFile = None,
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
      \\[workload]  topics, publishers_each, subscribers_each, events, every_s
      \\[\\[faults]]  fault = "crash", "churn", "link-cut" or "partition"
      \\[options.gossip]  the options of a system (a wrong name lists all names)
    docs/scenarios.md lists every field with its unit, default and range.

    \b
    halfway simulate examples/scenarios/sensor-field.toml
    halfway simulate mesh.toml --system flooding --seed 7 --json
    halfway simulate mesh.toml --set workload.events=100 --trace run.parquet
    halfway simulate mesh.toml --system my_protocol.py
    """
    from halfway.scenario.reading import read_scenario

    given = assignments(changes, "--set")
    if seed is not None:
        given["seed"] = str(seed)
    mine = _user_system(system)
    read = read_scenario(scenario, given, {} if mine is None else {mine.name: mine})
    if trace is not None:
        from halfway.sim.trace.writer import checked_target

        checked_target(trace)  # reported before the run
    from halfway.report.outcome import outcome_json, print_outcome
    from halfway.scenario.build import simulation_on, system_of

    chosen = system_of(read, mine or system)
    ready = _prepared(read)
    with spinner("running (the first run of a system compiles it)"):
        outcome = simulation_on(ready, read, chosen, trace).run()
    if as_json:
        typer.echo(outcome_json(outcome))
    else:
        print_outcome(console(), outcome)


def _prepared(scenario: "Scenario") -> "Prepared":
    """The network and the workload of `halfway simulate`; warns of what its files left out."""
    from halfway.scenario.build import prepared
    from halfway.scenario.remarks import remarks_of

    with spinner("reading the network"):
        ready = prepared(scenario)
        remarks = remarks_of(scenario, ready)
    for remark in remarks:
        warn(remark)
    return ready


def _user_system(name: str | None) -> "System | None":
    """The user's protocol that `halfway simulate` names by its file, if it names one."""
    if name is None or not name.endswith(".py"):
        return None
    from halfway.adapters.user_protocol import read_user_system, user_system

    return user_system(read_user_system(name))
