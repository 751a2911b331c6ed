"""The options of the command line: type, name, and the line that --help shows."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from halfway.cli.terminal import completion


def _seed(number: int | None) -> int | None:
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
        help="One or more names. Default: all figures.",
        autocompletion=completion.figures,
    ),
]
ScaleName = Annotated[
    Literal["quick", "paper"],
    typer.Option("--scale", help="quick: few networks. paper: as many networks as the paper."),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder of results, or s3://BUCKET/FOLDER. Finished runs in DIR are not repeated.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON, one object per line.")]
Master = Annotated[str | None, typer.Option(metavar="M", help="Spark master, such as local[2].")]
Partitions = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Spark tasks per batch. N does not change the results."),
]
AccountFile = Annotated[
    Path | None,
    typer.Option(
        "--account",
        metavar="FILE",
        help="Print the time of each Spark stage, and write all stages to FILE (.csv).",
    ),
]
RootSeed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", callback=_seed, help="Seed of networks, pairs and random numbers."
    ),
]
WalkSeed = Annotated[
    int,
    typer.Option(
        metavar="N", callback=_seed, help="Random seed. Equal seeds and inputs give equal results."
    ),
]
NetworkName = Annotated[
    str,
    typer.Argument(metavar="NETWORK", help="File (GraphML, CSV, link list), or unit-disk:n=…,r=…"),
]
From = Annotated[str | None, typer.Option("--from", metavar="A", help="Node of the publisher.")]
To = Annotated[str | None, typer.Option("--to", metavar="B", help="Node of the subscriber.")]
WalkSystemName = Annotated[
    Literal["directional-walk", "random-walk"],
    typer.Option("--system", help="How a walk chooses its next node."),
]
WalkInterpretation = Annotated[
    Literal["heard", "stepped-on"],
    typer.Option(
        "--interpretation",
        help="Where walks meet: next to a trail (heard), or only on it (stepped-on).",
    ),
]
WalkSteps = Annotated[int, typer.Option("--k", help="Steps of B's walk for each step of A's walk.")]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Write a picture: .png, .svg or .pdf.")
]
Largest = Annotated[bool, typer.Option("--largest", help="Keep only the largest component.")]
Positions = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Read positions of all nodes from a table of id, x, y (or lon, lat)."
    ),
]
PartialPositions = Annotated[
    bool,
    typer.Option(
        "--partial-positions",
        help="Accept nodes without a position. Halfway then uses no positions.",
    ),
]
Radius = Annotated[
    float | None,
    typer.Option(
        metavar="R",
        help="Ignore the file's links. Link all nodes closer than R (metres for lon, lat).",
    ),
]
QualityColumn = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the link quality (A to B).")
]
QualityBackColumn = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the link quality (B to A).")
]
Over = Annotated[
    float | None, typer.Option(metavar="T", help="Keep only links with a quality over T.")
]
Under = Annotated[
    float | None,
    typer.Option(metavar="T", help="Keep only links with a quality (such as ETX) under T."),
]
BothWays = Annotated[
    bool,
    typer.Option(
        "--both-ways/--either-way", help="Require the quality in both directions, or in one."
    ),
]
ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="TOML file. docs/scenarios.md lists its fields.")
]
InitFile = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="File of a network (table, GraphML, …) or of movement."),
]
InitExample = Annotated[
    bool, typer.Option("--example", help="Write the example that comes with Halfway.")
]
InitPositions = Annotated[
    Path | None, typer.Argument(metavar="POSITIONS", help="Table of id, x, y (or lon, lat).")
]
InitOut = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="Scenario file to write.")
]
DescribedSystem = Annotated[
    str | None,
    typer.Argument(
        metavar="SYSTEM",
        help="System, or Python file of a protocol. Default: all.",
        autocompletion=completion.systems,
    ),
]
SchemaOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write to FILE instead of the terminal."),
]
SystemName = Annotated[
    str | None,
    _completed(
        "--system",
        "NAME",
        "System, or Python file of a protocol. Default: SCENARIO's.",
        completion.systems,
    ),
]
ScenarioSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        callback=_scenario_seed,
        help="Seed from 0 to 2^63 - 1. Default: SCENARIO's.",
    ),
]
Changed = Annotated[
    list[str] | None,
    _completed(
        "--set", "FIELD=VALUE", "Replace a field of the scenario. Repeatable.", completion.fields
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Write every record to a Parquet file."),
]
NodesFile = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        metavar="FILE",
        help="Write load, energy and lost notifications of each node: .csv or .jsonl.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Run interpreted, with bounds checks: slow, for a few nodes."),
]
ResultFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of results: the --out of another command.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Repeat the failed runs.")]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against", metavar="STUDY", help="Compare the study in DIR with an earlier one."
    ),
]
Systems = Annotated[
    list[str] | None,
    _completed(
        "--systems", "A,B,…", "Systems to compare. Default: all.", completion.several_systems
    ),
]
OwnSystems = Annotated[
    list[str] | None,
    typer.Option(
        "--system", metavar="FILE", help="Python file or module of a protocol. Repeatable."
    ),
]
Replicates = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of replicates. Each replicate draws its own network, roles and faults.",
    ),
]
Baseline = Annotated[
    str | None,
    _completed(
        "--baseline", "S", "Baseline of paired differences. Default: flooding.", completion.systems
    ),
]
UntilTight = Annotated[
    str | None,
    _completed(
        "--until",
        "half-width=2%[,METRIC]",
        "Add replicates until each interval is this narrow.",
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
        "Compare at several values of a field, such as 5,10 or 5..50:5. Repeatable.",
        completion.fields,
    ),
]
Needed = Annotated[
    list[str] | None,
    _completed(
        "--need",
        "METRIC=X",
        "Bound for the decision: the least delivery-ratio, or the greatest value of a cost. "
        "Repeatable.",
        completion.needs,
    ),
]
Minimised = Annotated[
    str,
    _completed(
        "--minimise",
        "METRIC",
        "Cost that the decision minimises. Default for events: messages per notification.",
        completion.metrics,
    ),
]
Mapped = Annotated[
    bool, typer.Option("--map/--no-map", help="Add a map that plays one run of each system.")
]
