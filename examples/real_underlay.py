"""Broker trees over your own underlay: brokers cut off by failures, deliveries, and loads.

    python examples/real_underlay.py FILE [--brokers N] [--overlays N] [--faults N ...]
                                          [--delay-ms COLUMN] [--seed N]

FILE is GraphML, a .brite file, or a table with one link in a line (see docs/underlays.md). Every
node and link of the largest component fails alone, on several drawn overlays of brokers. Then
Figures 5 to 8 of the paper are measured there, with 95 % intervals over overlays.
"""

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from halfway.bulk.broker_trees.broker_overlay import Overlay, Rules
from halfway.bulk.broker_trees.delivery_ratio import Element, delivered_share, draw_faults
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.load import loads, passage
from halfway.bulk.broker_trees.multiple_failures import hindrances
from halfway.bulk.broker_trees.queues import queued_paths, stress
from halfway.bulk.broker_trees.single_failures import Cause, causes, census, single_failures
from halfway.cli.program import Parser, run, whole
from halfway.comparison.evaluation.comparison_results import MeanInterval
from halfway.pipeline.statistics.estimates import mean_interval
from halfway.problem import Problem
from halfway.protocols.broker_trees.paths.decisions import BALANCES
from halfway.world.importers.underlay_file import read_underlay, with_drawn_bandwidths
from halfway.world.underlays.underlay import Underlay
from halfway.world.workload.content import Content, Interest, content

CLIENTS, EVENTS, RUSH_S, MESSAGE_BYTES = 1000, 10_000, 0.1, 50
DELIVERIES = ("unmodified", "fails over", "repairs", "clients move")
INTERESTS: tuple[Interest, ...] = ("selective", "all")
CARRIED = (
    "latency, ms",
    "load of overlay links, kB", "load of overlay links, deviation",
    "load of links in use, kB", "load of links in use, deviation",
    "load of all links, kB", "load of all links, deviation",
)  # fmt: skip
PRINTED = Rules("around", retry=False, bare_path=False)
REMEDIED = Rules("around", retry=True, bare_path=True)


def main() -> None:
    """Read the underlay, build overlays on it, print one table."""
    chosen = arguments()
    underlay = read_underlay(chosen.file, delay_ms=chosen.delay_ms, largest=True)
    underlay = with_drawn_bandwidths(underlay, chosen.seed)
    network = underlay.network
    brokers = min(chosen.brokers, network.n // 3)
    if brokers < 3:
        what = f"the largest component has {network.n} nodes: expected at least 9, for 3 brokers"
        raise Problem(what, where=str(chosen.file), remedy="give a larger underlay")
    console = Console(highlight=False, width=110)
    console.print(
        f"{network.name}: {network.n} nodes, {network.links} links, {brokers} brokers, "
        f"{chosen.overlays} overlays"
    )
    seeds = range(chosen.seed, chosen.seed + chosen.overlays)
    console.print(failures(underlay, brokers, seeds))
    console.print(delivery(underlay, brokers, seeds, chosen.faults))
    console.print(carriage(underlay, brokers, seeds))


def arguments() -> argparse.Namespace:
    """Parse the command line of the broker trees on an underlay."""
    parser = Parser(__doc__)
    parser.add_argument("file", metavar="FILE", type=Path, help="GraphML, .brite or table of links")
    parser.add_argument("--brokers", type=whole(3), default=100, help="at most (default 100)")
    parser.add_argument("--overlays", type=whole(1), default=5, help="drawn (default 5)")
    parser.add_argument(
        "--faults", type=whole(1), nargs="+", default=[5, 10, 20, 40], help="numbers of faults"
    )
    parser.add_argument("--delay-ms", help="column with the delay of a link, of a table")
    parser.add_argument("--seed", type=whole(0), default=1, help="random seed (default 1)")
    return parser.parse_args()


def grown(underlay: Underlay, brokers: int, seed: int, rules: Rules) -> Overlay:
    """Return the broker overlay of a seed, with its brokers on distinct uniform nodes."""
    overlay = Overlay(underlay, rules)
    for row in np.random.default_rng(seed).choice(underlay.network.n, brokers, replace=False):
        join(overlay, int(row))
    return overlay


def failures(underlay: Underlay, brokers: int, seeds: range) -> Table:
    """Return the table of single failures, as printed and with the remedies, and of two at once."""
    table = Table("single failures", "as printed", "with the remedies")
    columns = []
    for rules in (PRINTED, REMEDIED):
        why: Counter[Cause] = Counter()
        whole, harmful, deep = 0, 0, Counter[str]()
        for seed in seeds:
            overlay = grown(underlay, brokers, seed, rules)
            found = single_failures(overlay)
            why += causes(overlay, found)
            harmful += int(np.count_nonzero(found.lost))
            whole += census(overlay).whole[3] - 1
            if rules is REMEDIED:
                deep += hindrances(overlay, 2)
        below = len(seeds) * (brokers - 1)
        total = len(seeds) * (underlay.network.n - 1 + underlay.network.links)
        rows = {
            "enumerated": str(total),
            "that cut off a broker": str(harmful),
            "brokers cut off, in all": str(sum(why.values())),
            "brokers guaranteed": f"{100 * whole / below:.1f} %",
        }
        for cause in (
            "the underlay is cut", "the parent is cut off", "the grandparent is cut off",
            "no second path", "no path past the parent",
        ):  # fmt: skip
            rows[f"  {cause}"] = str(why[cause])
        for what, count in sorted(deep.items(), key=lambda pair: -pair[1]):
            rows[f"two failures: {what}"] = f"{100 * count / below:.1f} %"
        columns.append(rows)
    for name in columns[1]:
        table.add_row(name, columns[0].get(name, ""), columns[1][name])
    return table


def delivery(underlay: Underlay, brokers: int, seeds: range, counts: list[int]) -> Table:
    """Return the table of deliveries while nodes and links under direct paths fail [uas Fig. 5]."""
    table = Table("faults on used elements", *DELIVERIES, title="delivered, %")
    shares = np.full((len(counts), len(DELIVERIES), len(seeds)), np.nan)
    for s, seed in enumerate(seeds):
        overlay = grown(underlay, brokers, seed, REMEDIED)
        drawn = content(brokers, CLIENTS, EVENTS, "selective", seed)
        for c, count in enumerate(counts):
            try:
                struck = draw_faults(overlay, "used", count, seed)
            except Problem:  # a small underlay has fewer elements
                table.caption = "–: fewer elements can fail"
                continue
            shares[c, :, s] = delivered(overlay, drawn, struck)
    for count, some in zip(counts, 100 * shares, strict=True):
        known = np.isfinite(some).all()
        table.add_row(str(count), *(interval(each, 100.0) if known else "–" for each in some))
    return table


def delivered(overlay: Overlay, drawn: Content, struck: list[Element]) -> list[float]:
    """Return the shares of `DELIVERIES`, under the same faults."""
    return [
        delivered_share(overlay.twin(), "siena", drawn, struck),
        delivered_share(overlay.twin(), "underlay-siena", drawn, struck, repairs=False),
        delivered_share(overlay.twin(), "underlay-siena", drawn, struck),
        delivered_share(overlay.twin(), "underlay-siena", drawn, struck, clients="move"),
    ]


def carriage(underlay: Underlay, brokers: int, seeds: range) -> Table:
    """Return the table of latency and link loads, relative to unmodified SIENA [uas Figs. 6-8]."""
    rows = np.empty((2 * len(CARRIED), len(BALANCES), len(seeds)))
    for s, seed in enumerate(seeds):
        overlay = grown(underlay, brokers, seed, REMEDIED)
        for k, interest in enumerate(INTERESTS):
            drawn = content(brokers, CLIENTS, EVENTS, interest, seed)
            for b, balance in enumerate(BALANCES):
                at = slice(k * len(CARRIED), (k + 1) * len(CARRIED))
                rows[at, b, s] = carried(overlay, drawn, balance)
    table = Table(title="a rush of events")
    for heading in ("relative to unmodified", "unmodified", *BALANCES[1:]):
        table.add_column(heading, no_wrap=heading == "relative to unmodified")
    for row, name in enumerate(f"{who}: {what}" for who in INTERESTS for what in CARRIED):
        direct = rows[row, 0]
        shares = [interval(each / direct) if direct.all() else "–" for each in rows[row, 1:]]
        table.add_row(name, interval(direct), *shares)
    return table


def carried(overlay: Overlay, drawn: Content, balance: str) -> list[float]:
    """Return the numbers of `CARRIED` for one rule; the direct path alone is unmodified SIENA."""
    aware = balance != "direct"
    paths = queued_paths(overlay, aware=aware, queueing="overlay", message_bits=8.0 * MESSAGE_BYTES)
    passed = passage(paths, drawn, balance, RUSH_S)
    found = loads(passed, stress(overlay, aware=aware), MESSAGE_BYTES)
    return [1e3 * passed.latency_s, *found]


def interval(value: npt.NDArray[np.float64], most: float = math.inf) -> str:
    """Return the mean and its 95 % interval over overlays, within the range of the value."""
    return MeanInterval(*mean_interval(value, bounds=(0.0, most))).text


if __name__ == "__main__":
    sys.exit(run(main))
