"""halfway walk: two walks on a network, until they meet."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from halfway.cli.options import (
    AsJson,
    BothWays,
    From,
    Largest,
    NetworkName,
    Over,
    PlotFile,
    Positions,
    Quality,
    QualityBack,
    Radius,
    Seed,
    Steps,
    To,
    WalkReading,
    WalkSystem,
)
from halfway.cli.screen import patience, warn

if TYPE_CHECKING:
    from halfway.bulk.walks.walks import Meeting
    from halfway.world.graphs.network import Network


def walk(
    network: NetworkName,
    source: From = None,
    target: To = None,
    system: WalkSystem = "directional-walk",
    reading: WalkReading = "heard",
    k: Steps = 1,
    seed: Seed = 1,
    plot: PlotFile = None,
    largest: Largest = False,
    positions: Positions = None,
    radius: Radius = None,
    quality: Quality = None,
    quality_back: QualityBack = None,
    over: Over = None,
    both_ways: BothWays = True,
    as_json: AsJson = False,
) -> None:
    """Let a publisher's and a subscriber's walk set out on a network until they meet.

    \b
    Prints their steps, where they meet, the loop-erased path between them, and
    how much longer that is than a shortest path. A and B are the file's own
    ids; what is not given is drawn by the seed.

    \b
    halfway walk unit-disk:n=3000,r=0.04,seed=7 --plot walk.png
    halfway walk mesh.graphml --from alice --to bob
    halfway walk links.csv --quality pdr --over 0.9 --largest
    halfway walk links.csv --positions motes.csv --plot walk.svg
    """
    from halfway.bulk.walks.walks import walk_pair
    from halfway.cli.named_network import ends, named_network
    from halfway.report.walk import lines, walked, walked_json
    from halfway.world.underlays.paths import distances

    draw = _draughtsman(plot)
    qualities = [name for name in (quality, quality_back) if name]
    with patience("making the network"):
        whole = named_network(
            network, radius=radius, largest=largest, quality=qualities,
            threshold=over, both_ways=both_ways, positions_from=positions,
        )  # fmt: skip
    if whole.left_out:
        dropped = ", ".join(f"{count:,} {what}" for what, count in whole.left_out.items())
        warn(f"{whole.name}: left out {dropped}")
    ground, a, b, outside = ends(whole, source, target, seed)
    if outside:
        warn(f"{whole.name} is disconnected: the walks stay among {ground.n} of {whole.n} nodes")
    with patience("walking (the first time, the walks are compiled)"):
        met = walk_pair(ground, a, b, system=system, reading=reading, k=k, seed=seed)
    draw(ground, met)
    told = walked(
        ground, met, int(distances(ground, a)[b]), system=system, reading=reading, k=k, seed=seed,
        picture=str(plot) if plot else None,
    )  # fmt: skip
    typer.echo(walked_json(told) if as_json else "\n".join(lines(told)))


def _draughtsman(plot: Path | None) -> "Callable[[Network, Meeting], None]":
    """What draws the picture, checked before anything walks; nothing if none is wanted."""
    if plot is None:
        return lambda _network, _meeting: None
    from halfway.report.pictures.network_picture import checked_format, draw_walk

    checked_format(plot)
    return lambda network, meeting: draw_walk(network, meeting, plot)
