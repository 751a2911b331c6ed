"""Broker trees over an underlay of your own: who is cut off by which failure, and why.

    python examples/real_underlay.py FILE [--brokers N] [--overlays N] [--faults N]
                                          [--delay-ms COLUMN] [--seed N]

FILE is GraphML, a .brite file, or a table of links (see `halfway.world.imported_underlay`). Every
node and link of the largest component fails alone, on several overlays of brokers drawn anew.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from halfway.sim.broker_overlay import Overlay, Rules
from halfway.sim.overlay_census import Cause, causes, census, single_failures
from halfway.sim.overlay_deep import hindrances
from halfway.sim.overlay_join import join
from halfway.sim.tree_faults import delivered_share, draw_faults
from halfway.sim.tree_load import passage
from halfway.sim.tree_ways import ways
from halfway.world.content import content
from halfway.world.imported_underlay import read_underlay, with_drawn_bandwidths
from halfway.world.underlay import Underlay

CLIENTS, EVENTS, RUSH_S = 1000, 2000, 0.02
PRINTED = Rules("around", retry=False, bare_path=False)
REMEDIED = Rules("around", retry=True, bare_path=True)


def main() -> None:
    """Read the underlay, build overlays on it, print one table."""
    chosen = arguments()
    underlay = read_underlay(chosen.file, delay_ms=chosen.delay_ms, largest=True)
    underlay = with_drawn_bandwidths(underlay, chosen.seed)
    network = underlay.network
    brokers = min(chosen.brokers, network.n // 3)
    console = Console(highlight=False)
    console.print(
        f"{network.name}: {network.n} nodes, {network.links} links, {brokers} brokers, "
        f"{chosen.overlays} overlays"
    )
    seeds = range(chosen.seed, chosen.seed + chosen.overlays)
    console.print(failures(underlay, brokers, seeds))
    console.print(service(underlay, brokers, seeds, chosen.faults))


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--overlays", type=int, default=5)
    parser.add_argument("--faults", type=int, default=10)
    parser.add_argument("--delay-ms", help="column with the delay of a link, of a table")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def grown(underlay: Underlay, brokers: int, seed: int, rules: Rules) -> Overlay:
    """Brokers on distinct uniform nodes."""
    overlay = Overlay(underlay, rules)
    for row in np.random.default_rng(seed).choice(underlay.network.n, brokers, replace=False):
        join(overlay, int(row))
    return overlay


def failures(underlay: Underlay, brokers: int, seeds: range) -> Table:
    """Every single failure, as printed and with the remedies, and the census for two at once."""
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
            "that cut somebody off": str(harmful),
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


def service(underlay: Underlay, brokers: int, seeds: range, faults: int) -> Table:
    """Deliveries under faults on used elements, and latency without and with queues."""
    table = Table("service, means over overlays", "unmodified", "fails over", "repairs")
    shares = np.empty((len(seeds), 3))
    late = np.empty((len(seeds), 4))
    for k, seed in enumerate(seeds):
        overlay = grown(underlay, brokers, seed, REMEDIED)
        drawn = content(brokers, CLIENTS, EVENTS, "selective", seed)
        struck = draw_faults(overlay, "used", faults, seed)
        plain = delivered_share(overlay.twin(), "broker-tree", drawn, struck)
        over = delivered_share(overlay.twin(), "underlay-tree", drawn, struck, mends=False)
        mended = delivered_share(overlay.twin(), "underlay-tree", drawn, struck)
        shares[k] = plain, over, mended
        bits = 8.0 * 50
        direct = ways(overlay, aware=False, queueing="overlay", message_bits=bits)
        both = ways(overlay, aware=True, queueing="overlay", message_bits=bits)
        late[k] = (
            passage(direct, drawn, "direct", RUSH_S).latency_s,
            passage(both, drawn, "halves", RUSH_S).latency_s,
            passage(both, drawn, "least-wait", RUSH_S).latency_s,
            passage(both, drawn, "earliest", RUSH_S).latency_s,
        )
    percents = (f"{value:.1f} %" for value in 100 * shares.mean(axis=0))
    table.add_row(f"delivered, {faults} faults on used elements", *percents)
    millis = [f"{value:.2f}" for value in 1e3 * late.mean(axis=0)]
    table.add_row("latency in a rush (ms), direct", millis[0], "", "")
    for balance, value in zip(("halves", "least-wait", "earliest"), millis[1:], strict=True):
        table.add_row(f"latency in a rush (ms), {balance}", "", value, "")
    return table


if __name__ == "__main__":
    main()
