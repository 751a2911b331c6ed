"""A flood on the CSMA radio and one on an ideal radio: CPU time of an event."""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.networks import disk

from halfway.protocols import flooding
from halfway.protocols.parts import application
from halfway.sim.engine import loop as engines
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import SENT, RecordTraits, new_engine
from halfway.sim.radio.csma import WIFI_A, csma
from halfway.sim.radio.delays import Ideal

NODES, RADIUS, EVENTS, ROUNDS = 200, 0.13, 200, 5


def flood(radio: Any, events: int) -> tuple[float, int, int, float]:
    """Return CPU seconds, records delivered, transmissions, and the share of (node, event)
    reached.
    """
    network = disk(n=NODES, radius=RADIUS, seed=1)
    engine = new_engine(NODES, 1 << 14, 16, records=RecordTraits(sizes=112))
    neighbourhood = network.neighbourhood()
    state = flooding.state(np.arange(NODES, dtype=np.int32), events, 1)
    for event in range(events):
        engines.post(engine, float(event), event % NODES, application.PUBLISH, 0, 0, event)
    began = time.process_time()
    engines.run(
        state, flooding.Rules(0.0), neighbourhood, engine, radio, neighbourhood, False,
        no_changes(), np.inf, engines.UNLIMITED, 2 * int(network.degree.max()),
    )  # fmt: skip
    took = time.process_time() - began
    sent = int(engine.counters.traffic[:, SENT].sum())
    reached = int(state.seen.counts[:, 0].sum()) / (NODES * events)
    return took, int(engine.counters.handled[0]), sent, reached


def main() -> None:
    """Flood on the ideal and the CSMA radio in turns, and print the median of each."""
    for radio in (Ideal(1e-3), csma(NODES, 1, WIFI_A)):
        flood(radio, 1)
    rows: dict[str, list[Any]] = {"ideal": [], "contended": []}
    for seed in range(ROUNDS):
        rows["ideal"].append(flood(Ideal(1e-3), EVENTS))
        rows["contended"].append(flood(csma(NODES, seed, WIFI_A), EVENTS))
    for name, runs in rows.items():
        took, events, sent, reached = (
            float(np.median(column)) for column in zip(*runs, strict=True)
        )
        sys.stdout.write(
            f"{name}: {took / events * 1e9:.0f} ns an event, {took / sent * 1e9:.0f} ns a "
            f"transmission, {events:.0f} events, {sent:.0f} transmissions, {reached:.4f} reached\n"
        )


if __name__ == "__main__":
    main()
