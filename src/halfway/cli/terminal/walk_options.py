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
        help="Network file (GraphML, CSV, link list), or unit-disk:n=…,r=… to draw a network.",
    ),
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
        help="Where a walk meets the other walk: next to its trail (heard), or only "
        "on its trail (stepped-on).",
    ),
]
WalkSteps = Annotated[
    int, typer.Option("--k", help="Number of steps of B's walk for each step of A's walk.")
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
        help="Ignore the file's links. Link each pair of nodes with a distance "
        "below R (in metres if the positions are lon, lat).",
    ),
]
QualityColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the quality from the first node of a link to the second node.",
    ),
]
QualityBackColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the quality from the second node of a link to the first node.",
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
        help="Keep a link if both directions, or at least one, meet --over and --under.",
    ),
]
