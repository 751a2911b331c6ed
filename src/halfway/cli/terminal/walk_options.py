"""The options of `halfway walk`: type, name, and the line that --help shows."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from halfway.cli.terminal.options import checked_seed

WalkSeed = Annotated[
    int,
    typer.Option(
        metavar="N",
        callback=checked_seed,
        help="Random seed. Equal seeds and inputs give equal results.",
    ),
]
NetworkName = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        help="Network file (GraphML, CSV, link list), or unit-disk:n=…,r=… for a random network.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="A", help="Id of the publisher's node. Default: a random node."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="B", help="Id of the subscriber's node. Default: a random node."),
]
WalkSystemName = Annotated[
    Literal["directional-walk", "random-walk"],
    typer.Option("--system", help="How a walk chooses its next node."),
]
WalkInterpretation = Annotated[
    Literal["heard", "stepped-on"],
    typer.Option(
        "--interpretation",
        help="`stepped-on`: two walks meet when one steps on a node of the other's trail. "
        "`heard`: they also meet when one steps on a neighbour of such a node.",
    ),
]
WalkSteps = Annotated[
    int,
    typer.Option(
        "--k", help="Steps of the subscriber's walk for each step of the publisher's walk."
    ),
]
PlotFile = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Write a picture of the walks to FILE (.png, .svg or .pdf)."
    ),
]
Largest = Annotated[
    bool, typer.Option("--largest", help="Keep only the largest component of the network.")
]
Positions = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Read the positions of all nodes from a table with columns id, x, y "
        "(or id, lon, lat).",
    ),
]
PartialPositions = Annotated[
    bool,
    typer.Option(
        "--partial-positions",
        help="If some nodes have no position, ignore all positions instead of failing.",
    ),
]
Radius = Annotated[
    float | None,
    typer.Option(
        metavar="R",
        help="Ignore the links in the file, and link nodes that are less than R apart. R is in "
        "metres if the positions are lon, lat.",
    ),
]
QualityColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the link quality from the first node to the second node.",
    ),
]
QualityBackColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the link quality in the reverse direction (from the second node to the "
        "first).",
    ),
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
        "--both-ways/--either-way",
        help="Whether both directions of a link must be within --over and --under, or only one.",
    ),
]
