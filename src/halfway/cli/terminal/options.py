"""The options of the command line: type, name, and the line that --help shows."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from halfway.cli.terminal import completion


def checked_seed(number: int | None) -> int | None:
    """Return the root seed of an option; BadParameter for a number out of range."""
    if number is not None and not 0 <= number < 2**64:
        raise typer.BadParameter(f"{number}: expected a whole number from 0 to 2^64 - 1")
    return number


def _scenario_seed(number: int | None) -> int | None:
    if number is not None and not 0 <= number < 2**63:  # TOML integers have 64 bits, signed
        raise typer.BadParameter(f"{number}: expected a whole number from 0 to 2^63 - 1")
    return number


def _completed(name: str, value: str, text: str, completing: Callable[..., Any]) -> Any:
    """Return an option whose values the shell completes."""
    return typer.Option(name, metavar=value, help=text, autocompletion=completing)


What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PAPER[/FIGURE]",
        help="Names of papers or of figures. Default: all figures.",
        autocompletion=completion.figures,
    ),
]
ScaleName = Annotated[
    Literal["quick", "paper"],
    typer.Option(
        "--scale",
        help="`quick` uses few networks. `paper` uses as many networks as the paper.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder for results, or s3://BUCKET/FOLDER. Finished runs in DIR are not repeated.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON, one object per line.")]
Master = Annotated[
    str | None, typer.Option(metavar="M", help="Address of the Spark master, such as local[2].")
]
Partitions = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of Spark tasks for each batch. N does not change the results.",
    ),
]
AccountFile = Annotated[
    Path | None,
    typer.Option(
        "--account",
        metavar="FILE",
        help="Print the time of each Spark stage, and write these times to FILE (.csv).",
    ),
]
RootSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        callback=checked_seed,
        help="Root seed of all random draws, such as networks, pairs of nodes and losses.",
    ),
]
ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO", help="TOML file with the scenario. docs/scenarios.md lists all fields."
    ),
]
InitFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="File with the links of a network (table, GraphML, …), or with the movement of nodes.",
    ),
]
InitExample = Annotated[
    bool, typer.Option("--example", help="Write an example scenario that comes with Halfway.")
]
InitPositions = Annotated[
    Path | None,
    typer.Argument(
        metavar="POSITIONS",
        help="Table of the nodes' positions, with columns id, x, y (or id, lon, lat).",
    ),
]
InitOut = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="Scenario file to write.")
]
DescribedSystem = Annotated[
    str | None,
    typer.Argument(
        metavar="SYSTEM",
        help="Name of a system, or Python file with your own protocol. Default: all systems.",
        autocompletion=completion.systems,
    ),
]
SchemaOut = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write the schema to FILE instead of the terminal."
    ),
]
SystemName = Annotated[
    str | None,
    _completed(
        "--system",
        "NAME",
        "Name of a system, or Python file with your own protocol. Default: the system that "
        "SCENARIO names.",
        completion.systems,
    ),
]
ScenarioSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        callback=_scenario_seed,
        help="Root seed of the run, from 0 to 2^63 - 1. Default: the seed in SCENARIO.",
    ),
]
Changed = Annotated[
    list[str] | None,
    _completed(
        "--set",
        "FIELD=VALUE",
        "Replace the value of a field of the scenario. Repeatable.",
        completion.fields,
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="FILE", help="Write every record of the run to FILE (Parquet)."
    ),
]
NodesFile = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        metavar="FILE",
        help="Write a row for each node to FILE (.csv, .jsonl): load, energy, lost notifications.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Run the system in Python, with bounds checks. The run is slow, so use few nodes.",
    ),
]
ResultFolder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="Folder of results, which `compare` or `reproduce` wrote."),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Repeat the failed runs in DIR.")]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="STUDY",
        help="Folder of an earlier study, with which the command compares the study in DIR.",
    ),
]
Systems = Annotated[
    list[str] | None,
    _completed(
        "--systems",
        "A,B,…",
        "Names of the systems to compare. Default: all systems.",
        completion.several_systems,
    ),
]
OwnSystems = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="FILE",
        help="Python file or module with your own protocol, which is also compared. Repeatable.",
    ),
]
Replicates = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of repetitions (replicates). Each one has its own network, roles and faults.",
    ),
]
Baseline = Annotated[
    str | None,
    _completed(
        "--baseline",
        "S",
        "System with which all other systems are compared in pairs. Default: flooding.",
        completion.systems,
    ),
]
UntilTight = Annotated[
    str | None,
    _completed(
        "--until",
        "half-width=2%[,METRIC]",
        "Add replicates until each confidence interval is narrow. half-width=2% means ± 2 % of "
        "the mean.",
        completion.stopping_rules,
    ),
]
Most = Annotated[
    int, typer.Option(metavar="N", min=1, help="Largest number of replicates with --until.")
]
Swept = Annotated[
    list[str] | None,
    _completed(
        "--sweep",
        "FIELD=A,B,…",
        "Compare the systems at several values of a field. 5..50:5 means 5, 10, 15, … 50. "
        "Repeatable.",
        completion.fields,
    ),
]
Needed = Annotated[
    list[str] | None,
    _completed(
        "--need",
        "METRIC=X",
        "Need that a system must meet. X is the least delivery-ratio, or the greatest value of a "
        "cost. Repeatable.",
        completion.needs,
    ),
]
Minimised = Annotated[
    str,
    _completed(
        "--minimise",
        "METRIC",
        "Cost to minimise. Of the systems that meet the needs, Halfway chooses the system with the "
        "least cost. Default for scenarios with events: messages-per-notification.",
        completion.metrics,
    ),
]
Mapped = Annotated[
    bool,
    typer.Option(
        "--map/--no-map",
        help="Add an animated map to the HTML page. The map replays one run of each system.",
    ),
]
