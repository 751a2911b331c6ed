"""Walks on a network file: steps to meet, stretch and load compared with shortest paths.

    python examples/real_network.py LINKS [--quality COLUMN --over T] [--positions FILE]
                                          [--plot FILE.png] [--pairs N] [--permutations N]

LINKS is GraphML, or a table with one link in a line, such as examples/scenarios/office-mesh.csv.
One network is one cluster: the intervals are over pairs on this network, not over networks.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from halfway.bulk.walks.walks import Walkers, WalkSystem
from halfway.cli.program import Parser, run, whole
from halfway.problem import Problem
from halfway.report.pictures.network_picture import draw_walk
from halfway.world.graphs.degrees import degree_statistics
from halfway.world.graphs.network import Network
from halfway.world.graphs.shortest_paths import diameter, distances, shortest_path_loads
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from halfway.world.workload.pairs import derangements, distinct_pairs

SYSTEMS: tuple[WalkSystem, ...] = ("directional-walk", "random-walk")
RESAMPLES = 1000
ROWS = (
    "steps to meet, median",
    "steps to meet, mean",
    "hops of the path, mean",
    "stretch against shortest, mean",
    "load of a node, median / mean",
    "load of a node, largest",
)


def main() -> None:
    """Read the network file, run the walks, print one table."""
    chosen = arguments()
    network = read_network(
        chosen.network,
        LinkColumns(quality=chosen.quality or (), threshold=chosen.over),
        positions=chosen.positions,
        largest=True,
    )
    if network.n < 3:
        what = f"the largest component has {network.n} nodes: expected at least 3"
        raise Problem(what, where=str(chosen.network), remedy="give a larger network")
    degree = degree_statistics(network)
    console = Console(highlight=False, width=110)
    console.print(
        f"{network.name}: {network.n} nodes, {network.links} links, degree {degree.least} / "
        f"{degree.mean:.1f} / {degree.most}, diameter {diameter(network)}"
    )
    console.print(compared(network, chosen.pairs, chosen.permutations, chosen.seed))
    if chosen.plot:
        source, target = farthest(network)
        pair = Walkers(network).pair(source, target, seed=chosen.seed)
        draw_walk(network, pair, chosen.plot, title=f"directional walks, {pair.steps} steps")


def arguments() -> argparse.Namespace:
    """Parse the command line of the walks on a network file."""
    parser = Parser(__doc__)
    parser.add_argument("network", metavar="LINKS", type=Path, help="GraphML or a table of links")
    parser.add_argument("--quality", help="column with the quality of a link direction")
    parser.add_argument("--over", type=float, help="threshold of a link, in both directions")
    parser.add_argument("--positions", type=Path, help="table of id, x, y")
    parser.add_argument("--plot", type=Path, help="picture of one pair of walks (.png, .svg, .pdf)")
    parser.add_argument("--pairs", type=whole(1), default=5000, help="of nodes (default 5000)")
    parser.add_argument("--permutations", type=whole(1), default=20, help="for loads (default 20)")
    parser.add_argument("--seed", type=whole(0), default=1, help="random seed (default 1)")
    return parser.parse_args()


def compared(network: Network, count: int, permutations: int, seed: int) -> Table:
    """Return a table of steps, path, stretch and load of the walks and of shortest paths."""
    pairs = distinct_pairs(network.n, count, seed)
    targets = derangements(network.n, permutations, seed)
    hops = np.array([distances(network, row) for row in range(network.n)])
    direct = hops[pairs[:, 0], pairs[:, 1]]
    columns = [walked(Walkers(network, system), pairs, direct, targets, seed) for system in SYSTEMS]
    load = shortest_path_loads(network, targets, seed)
    columns.append(["-", "-", interval(direct), "1", *loads(load)])
    table = Table()
    for heading in ("", *SYSTEMS, "shortest path"):
        table.add_column(heading, no_wrap=True)
    for row in zip(ROWS, *columns, strict=True):
        table.add_row(*row)
    table.caption = f"{count} pairs, {permutations} permutations; 95 % intervals over pairs"
    return table


def walked(
    walkers: Walkers,
    pairs: npt.NDArray[np.int64],
    direct: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int64],
    seed: int,
) -> list[str]:
    """Return the column of a walk system."""
    steps, _ = walkers.meetings(pairs, seed=seed)
    length = path_hops(walkers, pairs, seed)
    sources = np.arange(walkers.network.n)
    load = [
        walkers.path_loads(np.column_stack([sources, to]), seed=seed + p)[0]
        for p, to in enumerate(targets)
    ]
    return [
        f"{np.median(steps):.0f}", interval(steps), interval(length), interval(length / direct),
        *loads(np.array(load)),
    ]  # fmt: skip


def path_hops(walkers: Walkers, pairs: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Return the hops of each pair's loop-erased path, [P]."""
    return np.array(
        [
            len(walkers.pair(int(a), int(b), seed=seed, topic=topic).path) - 1
            for topic, (a, b) in enumerate(pairs)
        ]
    )


def loads(load: npt.NDArray[np.int64]) -> tuple[str, str]:
    """Format median / mean load of a node, and the largest of any node and permutation."""
    return f"{np.median(load):.0f} / {load.mean():.1f}", f"{load.max()}"


def interval(values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> str:
    """Format a mean with its 95 % bootstrap interval over the values."""
    rng = np.random.default_rng(0)
    means = [rng.choice(values, len(values)).mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{values.mean():.2f} [{low:.2f}, {high:.2f}]"


def farthest(network: Network) -> tuple[int, int]:
    """Return two rows with the largest hop distance."""
    hops = np.array([distances(network, row) for row in range(network.n)])
    source, target = np.unravel_index(hops.argmax(), hops.shape)
    return int(source), int(target)


if __name__ == "__main__":
    sys.exit(run(main))
