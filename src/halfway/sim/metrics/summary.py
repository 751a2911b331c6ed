"""From a simulation to its outcome: every meter read once."""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.records import HEARD, SENT
from halfway.sim.metrics.outcome import Outcome, by_kind, load, spread
from halfway.sim.radio.energy import spent

if TYPE_CHECKING:
    from halfway.sim.simulation import Simulation


def outcome(run: "Simulation") -> Outcome:
    """The meters of a simulation as it is now."""
    deliveries, counters, kinds = run.deliveries, run.engine.counters, run.instance.kinds.names
    air = run.declared.airtime(run.radio, run.engine, run.power)
    deliveries.settle(run.at if run.at < run.seconds else np.inf)
    up_s = run.at - run.environment.down_s(run.at)
    energy = spent(run.power, air.sent, air.heard, up_s)
    notified = deliveries.delivered + deliveries.caught_up
    sent, heard = (int(counters.traffic[:, way].sum()) for way in (SENT, HEARD))
    size = run.engine.bytes_of
    state_bytes = sum(part.nbytes for part in arrays(run.instance.state))
    return Outcome(
        system=run.system,
        nodes=run.environment.n,
        seconds=run.at,
        seed=run.seed,
        events=int(counters.events[0]),
        published=deliveries.published,
        unpublished=deliveries.unpublished,
        expected=deliveries.expected,
        delivered=deliveries.delivered,
        duplicates=deliveries.duplicates,
        unasked=deliveries.unasked,
        late=deliveries.late,
        caught_up=deliveries.caught_up,
        delivery_ratio=deliveries.delivery_ratio,
        latency_s=spread(deliveries.latency_s),
        hops=spread(deliveries.hops),
        stretch=spread(deliveries.stretch),
        sent=by_kind(counters.sent_kind, kinds),
        heard=by_kind(counters.heard_kind, kinds),
        bytes_sent=int((counters.sent_kind * size).sum()),
        bytes_heard=int((counters.heard_kind * size).sum()),
        heard_per_delivery=heard / notified if notified else float("nan"),
        sent_per_delivery=sent / notified if notified else float("nan"),
        load=load(counters.traffic),
        involved=int((counters.traffic[:, SENT] > 0).sum()),
        energy_tx=float(energy.tx.sum()),
        energy_rx=float(energy.rx.sum()),
        energy_idle=float(energy.idle.sum()),
        energy_largest=float(energy.total.max()),
        saturated=int((air.sent + air.heard > up_s + 1e-9).sum()),
        state_bytes_per_node=state_bytes / run.environment.n,
        radio=run.declared.counted(run.radio),
        digest=digest(run),
        shortfalls={k: v for k, v in run.instance.shortfalls(run.instance.state).items() if v > 0},
    )


def arrays(state: Any) -> Iterator[npt.NDArray[Any]]:
    """Every array of a state, those of nested tuples as well."""
    for part in state:
        if isinstance(part, tuple):
            yield from arrays(part)
        elif isinstance(part, np.ndarray):
            yield part


def state_digest(state: Any) -> str:
    """Hex digest of a state's bytes."""
    whole = hashlib.sha256()
    for part in arrays(state):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()[:16]


def digest(run: "Simulation") -> str:
    """Hex digest of what every node remembers and of what was counted."""
    counters, whole = run.engine.counters, hashlib.sha256()
    for part in (counters.traffic, counters.sent_kind, counters.heard_kind, counters.events):
        whole.update(part.tobytes())
    return hashlib.sha256(
        (state_digest(run.instance.state) + whole.hexdigest()).encode()
    ).hexdigest()[:16]
