"""`halfway walk`: two walks on a network, until they meet."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from halfway.cli.terminal import options, walk_options
from halfway.cli.terminal.screen import spinner, warn

if TYPE_CHECKING:
    from halfway.bulk.walks.walks import Meeting
    from halfway.world.graphs.network import Network
    from halfway.world.importers.link_table import LinkColumns


def walk(
    network: walk_options.NetworkName,
    source: walk_options.From = None,
    target: walk_options.To = None,
    system: walk_options.WalkSystemName = "directional-walk",
    interpretation: walk_options.WalkInterpretation = "heard",
    k: walk_options.WalkSteps = 1,
    seed: walk_options.WalkSeed = 1,
    plot: walk_options.PlotFile = None,
    largest: walk_options.Largest = False,
    positions: walk_options.Positions = None,
    partial_positions: walk_options.PartialPositions = False,
    radius: walk_options.Radius = None,
    quality: walk_options.QualityColumn = None,
    quality_back: walk_options.QualityBackColumn = None,
    over: walk_options.Over = None,
    under: walk_options.Under = None,
    both_ways: walk_options.BothWays = True,
    as_json: options.AsJson = False,
) -> None:
    """Run the walks of a publisher and a subscriber on a network, until the walks meet.

    \b
    The command prints the steps of both walks, the node where they met, and the loop-erased path.
    It also prints the stretch: the length of this path, divided by that of a shortest path.

    \b
    halfway walk unit-disk:n=3000,r=0.04,seed=7 --plot walk.png
    halfway walk mesh.graphml --from alice --to bob
    halfway walk links.csv --quality pdr --over 0.9 --largest
    halfway walk links.csv --positions motes.csv --plot walk.svg
    """
    from halfway.bulk.walks.walks import walk_pair
    from halfway.report.terminal.walk_report import lines, walked, walked_json
    from halfway.world.graphs.shortest_paths import distances

    draw = _drawing(plot)
    part, a, b = _network_and_ends(
        network, source, target, seed,
        columns=_columns(quality, quality_back, over, under, both_ways), positions=positions,
        partial_positions=partial_positions, largest=largest, radius=radius,
    )  # fmt: skip
    with spinner("walking (the first walk compiles the system)"):
        met = walk_pair(part, a, b, system=system, interpretation=interpretation, k=k, seed=seed)
    draw(part, met)
    result = walked(
        part, met, int(distances(part, a)[b]), system=system, interpretation=interpretation, k=k,
        seed=seed, picture=str(plot) if plot else None,
    )  # fmt: skip
    typer.echo(walked_json(result) if as_json else "\n".join(lines(result)))


def _columns(
    quality: str | None, back: str | None, over: float | None, under: float | None, both_ways: bool
) -> "LinkColumns":
    """Return the columns and limits that the options of `halfway walk` name."""
    from halfway.world.importers.link_table import LinkColumns

    names = tuple(name for name in (quality, back) if name)
    return LinkColumns(None, None, names, over, under, both_ways)


def _network_and_ends(
    name: str, source: str | None, target: str | None, seed: int, **columns: Any
) -> "tuple[Network, int, int]":
    """Return the network of `halfway walk` and the rows of both ends; warn of skipped content."""
    from halfway.cli.terminal.named_network import ends, named_network

    with spinner("reading the network"):
        whole = named_network(name, **columns)
    for remark in whole.remarks:
        warn(remark)
    part, a, b, outside = ends(whole, source, target, seed)
    if outside:
        warn(f"{whole.name} is disconnected: the walks use {part.n} of {whole.n} nodes")
    return part, a, b


def _drawing(plot: Path | None) -> "Callable[[Network, Meeting], None]":
    """Return the function that draws the picture of `halfway walk`, or None; its target is checked
    first.
    """
    if plot is None:
        return lambda _network, _meeting: None
    from halfway.report.pictures.network_picture import checked_format, draw_walk

    checked_format(plot)
    return lambda network, meeting: draw_walk(network, meeting, plot)
