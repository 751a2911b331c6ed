"""The outcome of a run as a value, with its parts: deliveries, distributions, load, counts by kind,
energy and memory.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.sim.metrics.detections import Detection
from halfway.sim.metrics.group_accounting import GroupQuality
from halfway.sim.metrics.histogram import Histogram
from halfway.sim.metrics.request_accounting import RequestQuality
from halfway.sim.radio.energy import Lifetime


class RunId(NamedTuple):
    """The id of a run in its outcome, which identifies the run together with the configuration."""

    system: str
    seed: int
    nodes: int
    seconds: float  # length of the whole run


class Percentiles(NamedTuple):
    """A distribution, a part of an outcome, as five numbers, nan if it is empty."""

    mean: float
    median: float
    p95: float
    p99: float
    max: float


class Load(NamedTuple):
    """The load, a part of an outcome: the distribution of messages over the nodes."""

    mean: float
    median: float
    max: float
    gini: float  # 0: all nodes equal; near 1: one node has all messages


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run: all its metrics. Times are in seconds, sizes in bytes, energy in
    joules.

    A notification is an event that a system delivers to an application.
    """

    system: str
    nodes: int
    seconds: float  # simulated time; all records due before its end were delivered
    seed: int
    records: int  # records that reached a node or an application
    published: int
    unpublished: int  # events whose publisher was down
    expected: int  # pairs of an event and a subscriber that was up, except the publisher
    delivered: int
    duplicates: int  # notifications of an event that the application had received
    unsolicited: int  # notifications of applications without a subscription
    late: int  # notifications of events that the accounting had closed
    caught_up: int  # notifications of subscribers that were down when the event was published
    delivery_ratio: float
    latency_s: Percentiles
    hops: Percentiles  # transmissions of the chain of records from publisher to notification
    stretch: Percentiles  # hops divided by the hops of a shortest path at the publication
    sent: Mapping[str, int]  # transmissions by kind
    received: Mapping[str, int]  # receptions by kind
    kind_bytes: Mapping[str, int]  # bytes of transmissions by kind
    bytes_sent: int
    bytes_received: int
    received_per_notification: float  # receptions for each notification delivered or caught up
    sent_per_notification: float
    load: Load
    transmitting_nodes: int  # nodes that transmitted at least once
    energy_tx_j: float
    energy_rx_j: float
    energy_idle_j: float
    max_node_energy_j: float
    # Nodes that sent and received for longer than the run lasted; a shared medium would have lost
    # some records.
    saturated_nodes: int
    state_bytes_per_node: float
    radio: Mapping[str, int]  # the radio's own counters: collisions, drops, …
    digest: str  # digest of final state and counters; same seed, same digest
    # The positive counters of the protocol for full tables; notifications may have been lost.
    shortfalls: Mapping[str, int] = field(default_factory=dict)
    lifetime: Lifetime | None = None  # None: the nodes have no batteries
    detection: Detection | None = None  # None: the system is not a failure detector
    groups: GroupQuality | None = None  # None: the workload has no groups
    requests: RequestQuality | None = None  # None: the groups replicate no resource

    @property
    def energy_j(self) -> float:
        """The energy of all nodes of an outcome (joules)."""
        return self.energy_tx_j + self.energy_rx_j + self.energy_idle_j

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain numbers, strings and dictionaries for JSON; None replaces nan
        and inf.
        """
        fields = asdict(self) | {"energy_j": self.energy_j}
        for part in ("lifetime", "detection", "groups", "requests"):
            if fields[part] is None:
                del fields[part]
        plain: dict[str, Any] = _plain(fields)
        return plain


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def percentiles(values: Histogram) -> Percentiles:
    """Return the distribution in a histogram as a part of an outcome: five numbers."""
    median, p95, p99 = (values.quantile(share) for share in (0.5, 0.95, 0.99))
    return Percentiles(values.mean, median, p95, p99, values.max if values.count else math.nan)


def load(traffic: npt.NDArray[np.int64]) -> Load:
    """Return the load, a part of an outcome, from the messages that each node sent and received,
    [n, 2].
    """
    each = np.sort(traffic.sum(axis=1)).astype(np.float64)
    n, total = len(each), each.sum()
    if total == 0.0:
        return Load(0.0, 0.0, 0.0, 0.0)
    gini = float(2.0 * (np.arange(1, n + 1) * each).sum() / (n * total) - (n + 1) / n)
    return Load(float(total / n), float(np.median(each)), float(each[-1]), gini)


def by_kind(counts: npt.NDArray[np.int64], kinds: Mapping[int, str]) -> dict[str, int]:
    """Return positive counts by name of record kind, a part of an outcome."""
    return {kinds.get(k, f"kind {k}"): int(counts[k]) for k in np.flatnonzero(counts).tolist()}
