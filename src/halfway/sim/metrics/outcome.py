"""What came of a run: deliveries, delays, traffic, load, energy and memory, each said once."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.sim.metrics.histogram import Histogram


class Spread(NamedTuple):
    """A distribution in five numbers; nan where nothing was counted."""

    mean: float
    median: float
    p95: float
    p99: float
    largest: float


class Load(NamedTuple):
    """How work is shared among nodes: records sent and received by each."""

    mean: float
    median: float
    largest: float
    gini: float  # 0: all alike; towards 1: one does it all


@dataclass(frozen=True)
class Outcome:
    """The meters of one run. Times in seconds, sizes in bytes, energy in joules."""

    system: str
    nodes: int
    seconds: float  # simulated; all that was due before that time was delivered
    seed: int
    events: int  # records that reached a node or an application
    published: int
    unpublished: int  # events whose publisher was down
    expected: int  # (event, subscriber up when it was published), but for its publisher
    delivered: int
    duplicates: int  # told again to an application that knew
    unasked: int  # told to an application that did not subscribe
    late: int  # told after the event was forgotten by the accounts
    caught_up: int  # told to a subscriber that was down when the event was published
    delivery_ratio: float
    latency_s: Spread
    hops: Spread  # transmissions in the chain of records from the publisher to the notification
    stretch: Spread  # hops over those of a shortest path when the event was published
    sent: Mapping[str, int]  # transmissions by kind
    heard: Mapping[str, int]  # receptions by kind
    bytes_sent: int
    bytes_heard: int
    heard_per_delivery: float  # receptions for each notification, expected or caught up with
    sent_per_delivery: float
    load: Load
    involved: int  # nodes that transmitted
    energy_tx: float
    energy_rx: float
    energy_idle: float
    energy_largest: float  # of one node
    saturated: int  # nodes that sent and heard for longer than there was time: a contended radio
    # would have lost some of it
    state_bytes_per_node: float
    radio: Mapping[str, int]  # what the radio counted beside that: collisions, drops, …
    digest: str  # of the final state and the meters: same seed, same digest
    # What the system itself had no room or no way for, above 0: notifications may have died of it.
    shortfalls: Mapping[str, int] = field(default_factory=dict)

    @property
    def energy(self) -> float:
        """Joules of all nodes together."""
        return self.energy_tx + self.energy_rx + self.energy_idle

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and dictionaries, for JSON; what is not finite becomes None."""
        flat = asdict(self)
        for name, value in list(flat.items()):
            if hasattr(value, "_asdict"):
                flat[name] = value._asdict()
        flat["energy"] = self.energy
        return _plain(flat)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spread(values: Histogram) -> Spread:
    """Five numbers of a histogram."""
    median, p95, p99 = (values.quantile(share) for share in (0.5, 0.95, 0.99))
    return Spread(values.mean, median, p95, p99, values.largest if values.count else math.nan)


def load(traffic: npt.NDArray[np.int64]) -> Load:
    """How records [n, 2], sent and received, are shared."""
    each = np.sort(traffic.sum(axis=1)).astype(np.float64)
    n, total = len(each), each.sum()
    if total == 0.0:
        return Load(0.0, 0.0, 0.0, 0.0)
    gini = float(2.0 * (np.arange(1, n + 1) * each).sum() / (n * total) - (n + 1) / n)
    return Load(float(total / n), float(np.median(each)), float(each[-1]), gini)


def by_kind(counts: npt.NDArray[np.int64], kinds: Mapping[int, str]) -> dict[str, int]:
    """Counts above 0 by the kinds' names."""
    return {kinds.get(k, f"kind {k}"): int(counts[k]) for k in np.flatnonzero(counts).tolist()}
