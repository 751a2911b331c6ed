"""`halfway check`: the networks, systems, runs and time of a comparison, before it runs."""

import os

import typer

from halfway.cli.terminal import options
from halfway.cli.terminal.requested import Asked, requested
from halfway.cli.terminal.screen import console, spinner
from halfway.comparison.defaults import REPLICATES


def check(
    scenario: options.ScenarioFile,
    systems: options.Systems = None,
    system: options.OwnSystems = None,
    replicates: options.Replicates = REPLICATES,
    changes: options.Changed = None,
    sweep: options.Swept = None,
    seed: options.RootSeed = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a scenario without running it: its network, roles, events and systems.

    \b
    The command draws the network, the roles (publishers and subscribers) and the
    faults of the first replicate, as `halfway compare` with the same options would.
    It prints the cut nodes, the bridges, and the nodes of the network file that are
    not in the run. It counts the events that fit into the run. If a system cannot
    run, it prints the reason. At the end, it prints the number of runs, and a rough
    estimate of their time. The estimate does not include compilation.

    \b
    halfway check examples/scenarios/office-mesh.toml
    halfway check mesh.toml --set network.over=0.9 --json | jq .survey.topology

    Exit status: 0 if the scenario can run, 2 if it cannot run.
    """
    request = requested(scenario, Asked(systems, system, replicates, changes, sweep))
    with spinner("drawing the first network"):
        from halfway.comparison import scenario_check
        from halfway.report.terminal.check_report import check_json, print_check

        checked = scenario_check.check(request, cores=os.cpu_count() or 1, seed=seed)
    if as_json:
        typer.echo(check_json(checked))
    else:
        print_check(console(), checked)
