"""The summary of a run: it turns the counters, the refused records and the state of the run into
its outcome and its digest.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import SystemInstance
from halfway.core.records.checks import REASONS
from halfway.core.values.digest import arrays, short_digest, state_digest
from halfway.sim.engine.counting import bytes_by_kind, volume_of
from halfway.sim.engine.state import RECEIVED, SENT, Counters, Engine
from halfway.sim.metrics.deliveries import COUNTS, DeliveryAccounting
from halfway.sim.metrics.observers import Observers
from halfway.sim.metrics.outcome import Outcome, RunId, by_kind, load, percentiles
from halfway.sim.radio.energy import Airtime, Batteries, Energy


class RadioUse(NamedTuple):
    """The use of the radios of a run so far, by node."""

    up_s: npt.NDArray[np.float64]  # [n] seconds that each node was up
    airtime: Airtime
    energy: Energy
    counts: Mapping[str, int]  # the radio's own counters


def outcome(
    run: RunId, at: float, *, instance: SystemInstance, engine: Engine,
    deliveries: DeliveryAccounting, use: RadioUse, batteries: Batteries | None,
    observers: Observers, shortfalls: Mapping[str, int],
) -> Outcome:  # fmt: skip
    """Return the outcome of a run up to a time (seconds), as the summary of its counters."""
    airtime, energy = use.airtime, use.energy
    counters, kinds = engine.counters, instance.kinds.names
    deliveries.settle(at if at < run.seconds else np.inf)
    notified = deliveries.delivered + deliveries.caught_up
    sent, received = (int(counters.traffic[:, way].sum()) for way in (SENT, RECEIVED))
    shortfalls = {**shortfalls, **refusals(engine)}
    volume = volume_of(engine).sum(axis=0).tolist()
    return Outcome(
        system=run.system,
        nodes=run.nodes,
        seconds=at,
        seed=run.seed,
        records=int(counters.handled[0]),
        **{name: getattr(deliveries, name) for name in COUNTS},
        delivery_ratio=deliveries.delivery_ratio,
        latency_s=percentiles(deliveries.latency_s),
        hops=percentiles(deliveries.hops),
        stretch=percentiles(deliveries.stretch),
        sent=by_kind(counters.sent_kind, kinds),
        received=by_kind(counters.received_kind, kinds),
        kind_bytes=by_kind(bytes_by_kind(engine), kinds),
        bytes_sent=volume[SENT],
        bytes_received=volume[RECEIVED],
        received_per_notification=received / notified if notified else float("nan"),
        sent_per_notification=sent / notified if notified else float("nan"),
        load=load(counters.traffic),
        transmitting_nodes=int((counters.traffic[:, SENT] > 0).sum()),
        energy_tx_j=float(energy.tx.sum()),
        energy_rx_j=float(energy.rx.sum()),
        energy_idle_j=float(energy.idle.sum()),
        max_node_energy_j=float(energy.total.max()),
        saturated_nodes=int((airtime.sent + airtime.received > use.up_s + 1e-9).sum()),
        state_bytes_per_node=sum(part.nbytes for part in arrays(instance.state)) / run.nodes,
        radio=use.counts,
        digest=digest(instance.state, counters),
        shortfalls={name: count for name, count in shortfalls.items() if count > 0},
        lifetime=None if batteries is None else batteries.lifetime(energy.total, at),
        detection=None if observers.detections is None else observers.detections.detection(at),
        groups=None if observers.groups is None else observers.groups.quality(at),
        requests=None if observers.requests is None else observers.requests.quality(),
    )


def refusals(engine: Engine) -> dict[str, int]:
    """Return the number of records of a run that the check at the door refused, by reason."""
    return {
        f"records refused, {REASONS[why]}": int(count)
        for why, count in enumerate(engine.checks.refused)
    }


def digest(state: Any, counters: Counters) -> str:
    """Return a hex digest, for the summary of a run, of the state of all nodes and the run's
    counters.
    """
    whole = hashlib.sha256()
    for part in (counters.traffic, counters.sent_kind, counters.received_kind, counters.handled):
        whole.update(part.tobytes())
    return short_digest(state_digest(state) + whole.hexdigest())
