"""Packets of DRIP's simulations: bytes by kind, repeats of beacons, and events at their broker."""

import numpy as np

from halfway.papers.drip.measurements import WINDOW, simulation
from halfway.pipeline.plan.run import Observations, Run


def packets(run: Run) -> Observations:
    """[drip §§IV, V-B] Measure the packets of DRIP on one network; every value is one for the
    network.

    subscription, event: bytes of a record between brokers; an event is without payload.
    event with payload: the same, with a payload of `payload_bytes`.
    bytes: of all transmissions.
    repeats: transmissions of a beacon, over the nodes of the network; a flood has 1.
    local: share of the events that a broker detects itself.
    """
    with run.timed("run"):
        made = simulation(run, run["system"], run["m"])
        out = made.run()
    node = made.instance.state.node
    brokers = node.is_broker == 1
    published = made.demand.begun_again().next_publications(np.inf, WINDOW).row
    size = {kind: out.kind_bytes.get(kind, 0) / max(n, 1) for kind, n in out.sent.items()}
    values = {
        "subscription": size["subscription"],
        "event": size["event"],
        "event with payload": size["event"] + run["payload_bytes"],
        "bytes": out.bytes_sent,
        "repeats": out.sent["beacon"] / (node.beacon_sequence[brokers].sum() * run["n"]),
        "local": brokers[published].mean(),
    }
    return {metric: np.array([value], np.float64) for metric, value in values.items()}
