"""The options of the command line, each once: type, name, and the line that --help shows."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def _seed(number: int | None) -> int | None:
    if number is not None and not 0 <= number < 2**64:
        raise typer.BadParameter(f"{number} is not in 0 ... 2^64 - 1")
    return number


def _scenario_seed(number: int | None) -> int | None:
    if number is not None and not 0 <= number < 2**63:  # a whole number of TOML has 64 bits, signed
        raise typer.BadParameter(f"{number} is not in 0 ... 2^63 - 1")
    return number


What = Annotated[
    list[str] | None,
    typer.Argument(metavar="PAPER[/FIGURE]", help="One or more; everything, if none is given."),
]
ScaleName = Annotated[
    Literal["quick", "paper"], typer.Option("--scale", help="A few networks, or as many as theirs.")
]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Results; what is finished there is not run again.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line, only.")]
Master = Annotated[str | None, typer.Option(metavar="M", help="Spark master, such as local[2].")]
Partitions = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Spark tasks a wave; no result changes.")
]
RootSeed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", callback=_seed, help="Other networks, pairs, dice."),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", callback=_seed, help="Same seed on the same input, same result, anywhere."
    ),
]
NetworkName = Annotated[
    str, typer.Argument(metavar="NETWORK", help="GraphML, CSV, link list; or unit-disk:n=…,r=…")
]
From = Annotated[str | None, typer.Option("--from", metavar="A", help="The publisher's node.")]
To = Annotated[str | None, typer.Option("--to", metavar="B", help="The subscriber's node.")]
WalkSystem = Annotated[
    Literal["directional-walk", "random-walk"], typer.Option("--system", help="How walks go on.")
]
WalkReading = Annotated[
    Literal["heard", "stepped-on"],
    typer.Option("--reading", help="Walks meet within earshot, or on the other's trace itself."),
]
Steps = Annotated[int, typer.Option("--k", help="Steps of B's walk for each of A's.")]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf.")
]
Largest = Annotated[bool, typer.Option("--largest", help="Only the largest component.")]
Positions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A table of id, x, y (or lon, lat).")
]
Radius = Annotated[
    float | None, typer.Option(metavar="R", help="Link whoever is nearer than R, not by the file.")
]
Quality = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with a link's quality (A to B).")
]
QualityBack = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with its quality back (B to A).")
]
Over = Annotated[
    float | None, typer.Option(metavar="T", help="Only links whose quality is over T.")
]
BothWays = Annotated[
    bool, typer.Option("--both-ways/--either-way", help="Over T there and back, or one of them.")
]
ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A TOML file.")]
SystemName = Annotated[
    str | None, typer.Option("--system", metavar="NAME", help="This system, not the file's.")
]
ScenarioSeed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", callback=_scenario_seed, help="Not the file's; 0 ... 2^63 - 1."
    ),
]
Changed = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Replace a field; may be repeated."),
]
TraceFile = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Keep all that happens, as Parquet.")
]
ResultFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="What --out of another command named.")
]
RerunFailed = Annotated[
    bool, typer.Option("--rerun-failed", help="Make the failed runs again; the others stay.")
]
Systems = Annotated[
    list[str] | None,
    typer.Option("--systems", metavar="A,B,…", help="Only these; without it, all that there are."),
]
OwnSystems = Annotated[
    list[str] | None,
    typer.Option("--system", metavar="FILE", help="A protocol of your own; repeatable."),
]
Replicates = Annotated[int, typer.Option(metavar="N", min=1, help="Networks, faults … drawn anew.")]
Baseline = Annotated[
    str | None, typer.Option(metavar="S", help="Whom differences are taken to; flooding.")
]
UntilTight = Annotated[
    str | None,
    typer.Option("--until", metavar="half-width=2%[,METRIC]", help="Add replicates until then."),
]
Most = Annotated[int, typer.Option(metavar="N", min=1, help="Replicates that --until stops at.")]
Swept = Annotated[
    list[str] | None,
    typer.Option("--sweep", metavar="FIELD=A,B,…", help="A point for each; may be repeated."),
]
TableOut = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="What is finished there is not run again.")
]
Mapped = Annotated[
    bool, typer.Option("--map/--no-map", help="A map on the page plays a run of each system.")
]
