"""Recovery time of the underlay-aware broker tree after a fault, measured by messages.

    python examples/tree_recovery.py [FILE] [--networks N] [--nodes N] [--brokers N]
                                     [--ping-interval S] [--missed-pings N] [--tau S]
                                     [--seed N]

Each run has one fault: a broker's parent dies, the root, the broker of some clients, or the first
link of a broker's path to its parent. A node that the fault does not affect publishes to all nodes,
and a node that is cut off publishes to the unaffected node. A network is a cluster. Without FILE,
each run draws a Waxman network. FILE is GraphML, or a table with one link in a line, and each run
draws brokers on it. The unmodified tree is compared. It never delivers there again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from halfway.cli.program import Parser, positive, run, whole
from halfway.comparison.evaluation.comparison_results import MeanInterval
from halfway.comparison.evaluation.recovery import recovery
from halfway.core.missing import NO_PLACE, NONE
from halfway.pipeline.statistics.estimates import mean_interval
from halfway.protocols.broker_trees.paths.circuits import find, path_to
from halfway.protocols.broker_trees.paths.decisions import DIRECT
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.importers.network_file import read_network
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.demand import Listed

KINDS = ("a parent dies", "the root dies", "a link dies", "a client's broker dies")
BEGINS, EVERY, SECONDS = 15.0, 0.05, 90.0  # publishing: start, interval; end of the runs
DOWN, UP = 0, 1  # topics: from the unaffected node, and back to it
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tree:
    """The brokers of a network's tree: node ids, which are rows, and the parent's id of each."""

    network: Network
    parent: dict[int, int]
    direct: dict[int, list[int]]  # the path to the parent
    clients: dict[int, list[int]]  # nodes attached to each broker

    @property
    def root(self) -> int:
        """The id of the broker without a parent."""
        return next(b for b, up in self.parent.items() if up == NONE)

    def below(self, above: int) -> list[int]:
        """Return a broker of the tree and all brokers below it."""
        children = [b for b, up in self.parent.items() if up == above]
        return [above, *(each for child in children for each in self.below(child))]


@dataclass(frozen=True)
class Trial:
    """One fault of a tree: the nodes that it cuts off, and an unaffected node that publishes."""

    fault: Crash | LinkCut
    cut_off: list[int]
    speaker: int


def main() -> None:
    """Break broker trees, and print one table of their recovery."""
    chosen = arguments()
    console = Console(highlight=False, width=110)
    names = ("fault", "networks", "cut off", "to them, s", "from them, s", "longest, s", "later")
    table = Table(*names, title="seconds until what is published arrives again, 95 % intervals")
    found: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in KINDS}
    plain: list[float] = []
    for seed in range(chosen.seed, chosen.seed + chosen.networks):
        for system in ("underlay-siena", "siena"):
            tree = tree_of(chosen, seed, system)
            for kind, trial in trials(tree, seed, chosen.ping_interval):
                row = measured(tree, trial, chosen, seed, system)
                if system == "siena":
                    plain.append(row[5])
                else:
                    found[kind].append(row)
    for kind, rows in found.items():
        some = np.array(rows).reshape(len(rows), -1)
        if len(some):
            down, up, most = some[:, 1], some[:, 2], some[:, 3].max()
            cut, later = some[:, 0].mean(), some[:, 4].mean()
            table.add_row(
                kind, str(len(some)), f"{cut:.1f}", interval(down), interval(up), f"{most:.2f}",
                f"{later:.1f}",
            )  # fmt: skip
    console.print(table)
    console.print(
        f"ping interval {chosen.ping_interval:g} s, {chosen.missed_pings} missed pings, "
        f"τ {chosen.tau:g} s; later: events "
        f"lost to those cut off after they had been served again, a run\n"
        f"unmodified: {100 * float(np.mean(plain)):.1f} % of those cut off are ever served again"
    )


def arguments() -> argparse.Namespace:
    """Parse the command line of the trees' recovery."""
    parser = Parser(__doc__)
    parser.add_argument("file", metavar="FILE", type=Path, nargs="?", help="a network")
    parser.add_argument("--networks", type=whole(1), default=10, help="drawn (default 10)")
    parser.add_argument("--nodes", type=whole(5), default=200, help="of a drawn network (200)")
    parser.add_argument("--brokers", type=whole(3), default=20, help="of a tree (default 20)")
    parser.add_argument("--ping-interval", type=positive, default=1.0, help="seconds (default 1)")
    parser.add_argument(
        "--missed-pings", type=whole(1), default=3, help="until a fault (default 3)"
    )
    parser.add_argument("--tau", type=positive, default=10.0, help="the paper's τ, s (default 10)")
    parser.add_argument("--seed", type=whole(0), default=1, help="of the first network")
    return parser.parse_args()


def interval(value: npt.NDArray[np.float64]) -> str:
    """Return the mean recovery time with its 95 % interval over networks; no time is below 0."""
    return MeanInterval(*mean_interval(value, bounds=(0.0, np.inf))).text


def simulation(
    network: Network,
    chosen: argparse.Namespace,
    seed: int,
    system: str,
    demand: Listed,
    seconds: float = SECONDS,
    **given: Any,
) -> Simulation:
    """Return a run on a tree's network; the seed places the brokers, the same in both systems."""
    options: dict[str, Any] = {"brokers": chosen.brokers}
    if system == "underlay-siena":
        options |= {"ping_interval_s": chosen.ping_interval, "tau_s": chosen.tau}
        options["missed_pings"] = chosen.missed_pings
        options["known_brokers"] = 3
    return Simulation(
        system, network, workload=demand, seconds=seconds, seed=seed, options=options,
        window=4096, stretch=False, **given,
    )  # fmt: skip


def tree_of(chosen: argparse.Namespace, seed: int, system: str) -> Tree:
    """Return the network of a seed, and the tree that the system has formed there when events
    begin.
    """
    if chosen.file is None:
        network = waxman(Waxman(n=chosen.nodes, side=100), seed).network
    else:
        network = read_network(chosen.file, largest=True)
    all_nodes = Listed([(row, DOWN) for row in range(network.n)], [])
    run = simulation(network, chosen, seed, system, all_nodes, seconds=BEGINS)
    run.run()
    state = run.instance.state
    index, attached = state.broker_index, state.clients.client_index
    parent = {int(i): int(state.parent[index[i]]) for i in np.flatnonzero(index >= 0)}
    direct = {b: path_up(state, b, up) for b, up in parent.items() if up >= 0}
    clients: dict[int, list[int]] = {b: [] for b in parent}
    for row in np.flatnonzero(attached >= 0):
        broker = int(state.clients.broker[attached[row]])
        if broker != NONE:
            clients[broker].append(int(row))
    return Tree(network, parent, direct, clients)


def path_up(state: Any, broker: int, parent: int) -> list[int]:
    """Return the direct path of a broker to its parent; its ends, if another path is in use."""
    place, rows = path_to(state.circuits, broker, parent, DIRECT), [broker]
    if place == NO_PLACE or state.circuits.of[broker, place].owner != broker:
        return [broker, parent]
    number = state.circuits.of[broker, place].number
    while rows[-1] != parent:
        there = find(state.circuits, rows[-1], broker, number)
        rows.append(int(state.circuits.of[rows[-1], there].next))
    return rows


def trials(tree: Tree, seed: int, interval: float) -> Iterator[tuple[str, Trial]]:
    """Yield one fault of each kind, where the tree has one; at a random moment of the interval."""
    rng = np.random.default_rng(seed)
    root, label = tree.root, tree.network.label
    at = 2 * BEGINS + interval * float(rng.random())

    def one(some: list[int]) -> int:
        return int(some[int(rng.integers(len(some)))])

    inner = [b for b, up in tree.parent.items() if up not in (NONE, root)]
    if inner:
        dead = tree.parent[one(inner)]
        cut_off = [b for b in tree.below(dead) if b != dead]
        yield KINDS[0], Trial(Crash(node=label(dead), at=at), cut_off, root)
    top = [b for b, up in tree.parent.items() if up == root]
    if len(top) > 1:
        speaker = one(top)
        cut_off = [b for b in tree.parent if b != root and b not in tree.below(speaker)]
        yield KINDS[1], Trial(Crash(node=label(root), at=at), cut_off, speaker)
    child = one([b for b in tree.parent if b != root])
    a, b = tree.direct[child][:2]
    cut = LinkCut(a=label(a), b=label(b), at=at)
    yield KINDS[2], Trial(cut, tree.below(child), root)
    serving = [b for b, some in tree.clients.items() if some and b != root]
    if serving:
        dead = one(serving)
        yield KINDS[3], Trial(Crash(node=label(dead), at=at), tree.clients[dead], root)


def measured(
    tree: Tree, trial: Trial, chosen: argparse.Namespace, seed: int, system: str
) -> tuple[float, ...]:
    """Return the recovery of a tree from one fault: nodes that lose an event; means over them of
    the seconds to and from them; the longest; events lost later; the share of cut-off nodes served
    at the end.
    """
    heard = sorted({*tree.parent, *trial.cut_off})
    back = trial.cut_off[0]
    times = np.arange(BEGINS, SECONDS - 2.0, EVERY)
    demand = Listed(
        [*((row, DOWN) for row in heard), (trial.speaker, UP)],
        [(float(t) + EVERY / 2 * topic, row, topic) for t in times
         for row, topic in ((trial.speaker, DOWN), (back, UP))],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.parquet"
        simulation(
            tree.network,
            chosen,
            seed,
            system,
            demand,
            faults=[trial.fault],
            inspection=Inspection(trace=file),
        ).run()
        reported = [("what", "=", "reported")]
        delivered = pq.read_table(file, columns=["row", "event"], filters=reported)
    row, event = (delivered[name].to_numpy() for name in ("row", "event"))
    fault = np.array([trial.fault.at])
    spans, later, served = [], 0, 0
    for each in trial.cut_off:
        arrived = np.isin(np.arange(0, 2 * len(times), 2), event[row == each])
        served += bool(arrived[-1])
        seconds, lost = span(fault, times, arrived)
        if lost:
            spans.append(seconds)
            later += int((~arrived & (times > fault + seconds)).sum())
    arrived = np.isin(np.arange(1, 2 * len(times), 2), event[row == trial.speaker])
    up, _ = span(fault, times + EVERY / 2, arrived)
    return (
        float(len(spans)), float(np.mean(spans or [0.0])), up, max([up, *spans]), float(later),
        served / len(trial.cut_off),
    )  # fmt: skip


def span(
    fault: npt.NDArray[np.float64], times: npt.NDArray[np.float64], arrived: Flags
) -> tuple[float, bool]:
    """Return the seconds from the fault to recovery, and whether any event after the fault was
    lost.
    """
    return recovery(fault, times, arrived)[0], not bool(arrived[times >= fault].all())


if __name__ == "__main__":
    sys.exit(run(main))
