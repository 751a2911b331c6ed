"""The table of `docs/models/walks-under-loss.md`: met pairs of walks and delivered events by loss.

Networks are paired over all settings, and are the clusters of the intervals.
"""

import argparse
import importlib
from typing import NamedTuple

import numpy as np
from rich.console import Console

from halfway.protocols import SYSTEMS
from halfway.protocols.walks.messages import (
    ADVERTISE,
    DELIVERED,
    MATCHED,
    MERGE,
    PUBLISH,
    SUBSCRIBE,
    Rules,
)
from halfway.sim.engine import loop as engines
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import SENT, new_engine
from halfway.sim.radio.delays import Ideal, lossy
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.pairs import distinct_pairs

NODES, RADIUS, PAIRS, EVENTS = 200, 0.13, 5, 10
HOP = 1e-3  # seconds; a walk makes a step a second
PUBLISHED = 1000.0  # seconds: when the first event is published
LOSSES = (0.0, 0.05, 0.1, 0.2, 0.3)
# [drw §3] has two initiators, and [drw §2] excludes loss and faults.
_PLAIN = Rules(
    step_delay_s=(1.0, 1.0), advertise=True, most_steps=500, search_steps=0, search_delay_s=0.0,
    sweep_steps=0, retries=0, ack_timeout_s=0.05, ack_backoff=1.0, relaunch_s=np.inf, launches=1,
    refresh_s=np.inf, at_meeting=MERGE,
)  # fmt: skip
SETTINGS = {
    "as published": _PLAIN,
    "relaunch": _PLAIN._replace(relaunch_s=150.0, launches=6),
    "retries": _PLAIN._replace(retries=6),
    "both": _PLAIN._replace(retries=6, relaunch_s=150.0, launches=6),
}


class Result(NamedTuple):
    """The result of walks under loss on one network with one setting."""

    met: float  # share of topics whose two initiators received a MATCH
    arrived: float  # share of events delivered to their subscriber
    sent: float  # transmissions a topic, until the end


def measured(system: str, network: Network, rules: Rules, loss: float, seed: int) -> Result:
    """Run all pairs of walks of a network at once, under loss."""
    protocol = importlib.import_module(SYSTEMS[system].module)
    pairs = distinct_pairs(network.n, PAIRS, seed)
    widest = int(network.degree.max())
    state = protocol.state(np.arange(network.n, dtype=np.int32), widest, PAIRS, seed, buffer_size=8)
    spare = protocol.most_emissions(state, rules) * widest
    engine = new_engine(network.n, 4096 + 2 * spare, 1 << 12)
    for topic, ends in enumerate(pairs):
        for w in (0, 1):
            engines.post(engine, 0.5 * w, int(ends[w]), (ADVERTISE, SUBSCRIBE)[w], topic, 0, -1)
        for event in range(EVENTS):
            at = PUBLISHED + event
            number = topic * EVENTS + event
            engines.post(engine, at, int(ends[0]), PUBLISH, topic, 0, number)
    radio = lossy(Ideal(HOP), 1.0 - loss, network, seed)
    neighbourhood = network.neighbourhood()
    why = engines.run(
        state, rules, neighbourhood, engine, radio, neighbourhood, False, no_changes(),
        np.inf, engines.UNLIMITED, spare,
    )  # fmt: skip
    if why != engines.IDLE:
        raise RuntimeError(f"the engine stopped early: {why}")
    log = engine.applications
    reports, rows = log.record[: int(log.tally[0])], log.row[: int(log.tally[0])]
    matched = (reports["kind"] == MATCHED) & (reports["at"] < PUBLISHED)
    notified = set(zip(reports["topic"][matched].tolist(), rows[matched].tolist(), strict=True))
    both = sum(
        (t, int(a)) in notified and (t, int(b)) in notified for t, (a, b) in enumerate(pairs)
    )
    arrived = int((reports["kind"] == DELIVERED).sum())
    sent = int(engine.counters.traffic[:, SENT].sum())
    return Result(both / PAIRS, arrived / (PAIRS * EVENTS), sent / PAIRS)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the mean over the networks, and half the width of its 95 % interval (normal)."""
    return float(values.mean()), 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5


def main() -> None:
    """Measure walks under loss, and print one table per system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=40)
    parser.add_argument("--system", nargs="+", default=["directional-walk"])
    chosen = parser.parse_args()
    disks = [connected_unit_disk(NODES, RADIUS, seed).network for seed in range(chosen.networks)]
    degree = np.mean([network.degree.mean() for network in disks])
    console = Console(highlight=False)
    for system in chosen.system:
        console.print(f"{system}, {chosen.networks} networks of mean degree {degree:.1f}")
        console.print(
            "| loss | setting | met % | arrived % | sent a topic |\n|---|---|---|---|---|"
        )
        for loss in LOSSES:
            for name, rules in SETTINGS.items():
                found = np.array(
                    [measured(system, disk, rules, loss, s) for s, disk in enumerate(disks)]
                )
                met, arrived, sent = (interval(column) for column in found.T)
                shares = [f"{100 * mean:.1f} ± {100 * half:.1f}" for mean, half in (met, arrived)]
                row = f"| {loss:.2f} | {name} | {' | '.join(shares)} | "
                console.print(f"{row}{sent[0]:.0f} ± {sent[1]:.0f} |", soft_wrap=True)


if __name__ == "__main__":
    main()
