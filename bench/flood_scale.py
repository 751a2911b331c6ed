"""Floods of the engine on larger and larger networks: CPU time an event, and memory a node.

Each size floods in a process of its own, in turns, so that its peak memory is its own.
With --width, the nodes lie in a long strip. Then fewer nodes are near the front of the flood.
python bench/flood_scale.py [--json] [--rounds N] [--nodes N ...] [--width RANGES]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from flood import SEED, Flood, InEngine, disk, peak_bytes
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import draw_positions, unit_disk

SIZES = (10**6, 10**7)
DEGREE, EVENTS, SLOTS = 15.0, 2, 1 << 21


class Score(NamedTuple):
    """The cost of the flood on one size of network, as --json prints it."""

    nodes: int
    links: int  # in both directions
    events: int  # delivered
    cpu_s: float
    network_cpu_s: float  # to draw the network
    peak_bytes: int  # of the process


def strip(nodes: int, width: float) -> Network:
    """Return a unit disk graph of about DEGREE in a strip; width in ranges of a node's radio."""
    radius = float(np.sqrt(DEGREE / (np.pi * nodes)))
    return unit_disk(draw_positions(nodes, SEED) * (1 / (width * radius), width * radius), radius)


def flooded(nodes: int, width: float) -> Score:
    """Draw a network of a size and flood it twice, in this process; the second flood counts.

    width: of a strip, in ranges of a node's radio; 0: a square.
    """
    InEngine(Flood("compiles", disk(2000, DEGREE), EVENTS, None, SLOTS)).run()
    begun = time.process_time()
    network = strip(nodes, width) if width else disk(nodes, DEGREE)
    drawn_s = time.process_time() - begun
    flood = InEngine(Flood("scale", network, EVENTS, None, SLOTS))
    flood.run()
    begun = time.process_time()
    _, engine = flood.run()
    cpu_s = time.process_time() - begun
    delivered = int(engine.counters.handled[0])
    return Score(nodes, len(network.who), delivered, cpu_s, drawn_s, peak_bytes())


def in_own_process(nodes: int, width: float) -> Score:
    """Return the cost of the flood on a size of network, from another process."""
    command = [sys.executable, __file__, "--one", str(nodes), "--width", str(width)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Score(**json.loads(done.stdout))


def main() -> None:
    """Flood every size of network in every round, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--width", type=float, default=0.0, help="of a strip; 0: a square")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        sys.stdout.write(json.dumps(flooded(chosen.one, chosen.width)._asdict()) + "\n")
        return
    rounds = [
        [in_own_process(nodes, chosen.width) for nodes in chosen.nodes]
        for _ in range(chosen.rounds)
    ]
    if chosen.json:
        for score in (score for one in rounds for score in one):
            sys.stdout.write(json.dumps(score._asdict()) + "\n")
        return
    table = Table("nodes", "events", "CPU [s]", "ns an event", "× smallest", "bytes a node", "GiB")
    for k, nodes in enumerate(chosen.nodes):
        own = [one[k] for one in rounds]
        each = statistics.median(score.cpu_s / score.events for score in own)
        ratio = statistics.median(
            (one[k].cpu_s / one[k].events) / (one[0].cpu_s / one[0].events) for one in rounds
        )
        peak = max(score.peak_bytes for score in own)
        table.add_row(
            f"{nodes:,}", f"{own[0].events:,}",
            f"{statistics.median(score.cpu_s for score in own):.1f}", f"{1e9 * each:.1f}",
            f"{ratio:.2f}", f"{peak / nodes:.0f}", f"{peak / 2**30:.2f}",
        )  # fmt: skip
    Console().print(table, highlight=False)


if __name__ == "__main__":
    main()
