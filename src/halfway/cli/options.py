"""The options of the command line: type, name, and the line that --help shows."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def _seed(number: int | None) -> int | None:
    if number is not None and not 0 <= number < 2**64:
        raise typer.BadParameter(f"{number} is not in 0 ... 2^64 - 1")
    return number


def _scenario_seed(number: int | None) -> int | None:
    if number is not None and not 0 <= number < 2**63:  # TOML integers have 64 bits, signed
        raise typer.BadParameter(f"{number} is not in 0 ... 2^63 - 1")
    return number


What = Annotated[
    list[str] | None, typer.Argument(metavar="PAPER[/FIGURE]", help="One or more; default: all.")
]
ScaleName = Annotated[
    Literal["quick", "paper"],
    typer.Option("--scale", help="A few networks, or as many as the paper's."),
]
Out = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Folder of results; finished runs there are not repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON, one object per line.")]
Master = Annotated[str | None, typer.Option(metavar="M", help="Spark master, such as local[2].")]
Partitions = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Spark tasks per batch; does not change results."),
]
RootSeed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", callback=_seed, help="Seed of networks, pairs and random numbers."
    ),
]
WalkSeed = Annotated[
    int, typer.Option(metavar="N", callback=_seed, help="Same seed, same input: same result.")
]
NetworkName = Annotated[
    str, typer.Argument(metavar="NETWORK", help="GraphML, CSV or link list; or unit-disk:n=…,r=…")
]
From = Annotated[str | None, typer.Option("--from", metavar="A", help="Node of the publisher.")]
To = Annotated[str | None, typer.Option("--to", metavar="B", help="Node of the subscriber.")]
WalkSystemName = Annotated[
    Literal["directional-walk", "random-walk"],
    typer.Option("--system", help="How a walk chooses its next node."),
]
WalkReading = Annotated[
    Literal["heard", "stepped-on"],
    typer.Option("--reading", help="Walks meet in range of the other's trail, or on it."),
]
WalkSteps = Annotated[int, typer.Option("--k", help="Steps of B's walk per step of A's.")]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Write a picture: .png, .svg or .pdf.")
]
Largest = Annotated[bool, typer.Option("--largest", help="Keep only the largest component.")]
Positions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Table of id, x, y (or lon, lat).")
]
Radius = Annotated[
    float | None,
    typer.Option(metavar="R", help="Ignore the file's links; link nodes closer than R."),
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
BothWays = Annotated[
    bool,
    typer.Option("--both-ways/--either-way", help="Quality over T in both directions, or in one."),
]
ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="TOML file, see docs/scenarios.md.")
]
SystemName = Annotated[
    str | None,
    typer.Option(
        "--system",
        metavar="NAME",
        help="System, or Python file of a protocol; default: the file's.",
    ),
]
ScenarioSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        callback=_scenario_seed,
        help="Seed, 0 ... 2^63 - 1; default: the file's.",
    ),
]
Changed = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Replace a field; repeatable."),
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Write every record to a Parquet file."),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Run interpreted, with bounds checks: slow, for a few nodes."),
]
ResultFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that --out of another command named.")
]
RerunFailed = Annotated[bool, typer.Option("--rerun-failed", help="Make the failed runs again.")]
Systems = Annotated[
    list[str] | None,
    typer.Option("--systems", metavar="A,B,…", help="Systems to compare; default: all."),
]
OwnSystems = Annotated[
    list[str] | None,
    typer.Option(
        "--system", metavar="FILE", help="Python file or module of a protocol; repeatable."
    ),
]
Replicates = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, help="Replicates: networks, roles and faults are drawn for each."
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(metavar="S", help="Baseline system for paired differences; default: flooding."),
]
UntilTight = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="half-width=2%[,METRIC]",
        help="Add replicates until intervals are that narrow.",
    ),
]
Most = Annotated[int, typer.Option(metavar="N", min=1, help="Most replicates that --until makes.")]
Swept = Annotated[
    list[str] | None,
    typer.Option("--sweep", metavar="FIELD=A,B,…", help="Compare at each value; repeatable."),
]
Mapped = Annotated[
    bool, typer.Option("--map/--no-map", help="Add a map that plays one run of each system.")
]
