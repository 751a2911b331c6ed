"""The metrics of a process with live nodes, in the form of OpenMetrics.

All nodes of a process are one sum. Labels never come from users, so the number of series is fixed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import CollectorRegistry

from halfway.live.drops import Drop
from halfway.live.members import MemberState
from halfway.live.monitoring.http import Resource
from halfway.live.mqtt.policy.door_limits import DoorDrop
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.seconds_histogram import BOUNDS_S
from halfway.package import __version__


def metrics_resource(host: Host) -> Resource:
    """Return the metrics of a host as a page of OpenMetrics."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(HostMetrics(host))
    text: Callable[[CollectorRegistry], bytes] = generate_latest  # it has no types of its own
    return Resource(CONTENT_TYPE_LATEST, lambda: text(registry))


class HostMetrics:
    """The collector of a host's metrics for OpenMetrics."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def describe(self) -> list[Metric]:
        """Return no metrics: OpenMetrics learns them when they are collected."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield every family of the metrics of a host."""
        host = self._host
        for node in host.nodes:
            node.endpoint.count_kernel_drops()
        info = {"version": __version__, "system": host.settings.system}
        yield InfoMetricFamily("halfway", "The version and the system of the nodes.", value=info)
        yield from self._traffic()
        yield from self._events()
        yield from self._state()
        yield from self._members()
        yield from self._journal()
        if "mqtt" in host.sections:
            yield from _door(host.sections["mqtt"]())

    def _sum(self, value: Callable[[MeshNode], float]) -> float:
        return sum(value(node) for node in self._host.nodes)

    def _by_reason(self, of: Callable[[MeshNode], Mapping[str, int]]) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in self._host.nodes:
            for reason, count in of(node).items():
                found[reason] = found.get(reason, 0) + count
        return found

    def _traffic(self) -> Iterator[Metric]:
        yield _counter(
            "halfway_datagrams", "Datagrams that passed the sockets.", "direction",
            {"received": self._sum(lambda n: n.endpoint.received),
             "sent": self._sum(lambda n: n.endpoint.sent)},
        )  # fmt: skip
        yield _counter(
            "halfway_datagram_bytes", "Bytes of the datagrams that passed the sockets.",
            "direction",
            {"received": self._sum(lambda n: n.endpoint.bytes_received),
             "sent": self._sum(lambda n: n.endpoint.bytes_sent)}, unit="bytes",
        )  # fmt: skip
        yield _counter(
            "halfway_records",
            "Records that the system received from neighbours, and sent to neighbours.",
            "direction",
            {"received": self._sum(lambda n: n.counts["records received"]),
             "sent": self._sum(lambda n: n.counts["records sent"])},
        )  # fmt: skip
        dropped = dict.fromkeys(map(str, Drop), 0) | self._by_reason(lambda n: n.drops.by_reason())
        what = "Datagrams, frames, records and events that the nodes dropped, by reason."
        yield _counter("halfway_dropped", what, "reason", dropped)
        what = "Entries and records that the system forgot or gave up, by cause."
        forgotten = self._by_reason(lambda n: n.face.shortfalls())
        yield _counter("halfway_shortfalls", what, "cause", forgotten)
        refused = self._by_reason(lambda n: n.links.refusals)
        what = "Datagrams that the keys refused, by reason."
        yield _counter("halfway_datagrams_refused", what, "reason", refused)
        what = "Records that the record check refused, by reason."
        yield _counter("halfway_records_refused", what, "reason",
                       self._by_reason(lambda n: n.stepper.refusals()))  # fmt: skip

    def _events(self) -> Iterator[Metric]:
        yield _counter(
            "halfway_events", "Events that applications published and received.", "what",
            {"published": self._sum(lambda n: n.counts["published"]),
             "delivered": self._sum(lambda n: n.counts["delivered"])},
        )  # fmt: skip
        counts = [
            sum(column)
            for column in zip(*(n.delivery.ages.counts for n in self._host.nodes), strict=True)
        ]
        bounds = [*(f"{bound:g}" for bound in BOUNDS_S), "+Inf"]
        yield HistogramMetricFamily(
            "halfway_delivery_seconds",
            "Age of events of other nodes when they were delivered.",
            buckets=list(zip(bounds, accumulate(counts), strict=True)),
            sum_value=self._sum(lambda n: n.delivery.ages.sum_s),
            unit="seconds",
        )

    def _state(self) -> Iterator[Metric]:
        host = self._host
        rows: list[tuple[str, str, float]] = [
            ("halfway_nodes", "Nodes of this process.", len(host.nodes)),
            ("halfway_neighbours", "Links to neighbours.",
             self._sum(lambda n: len(n.links.table.neighbours()))),
            ("halfway_nodes_heard", "Other nodes that the nodes hear, neighbours included.",
             self._sum(lambda n: len(n.links.table.heard()))),
            ("halfway_subscriptions", "Subscriptions of applications and doors.",
             self._sum(lambda n: len(n.subscriptions))),
            ("halfway_topics", "Topics in the topic tables of the nodes.",
             self._sum(lambda n: len(n.subscriptions.table))),
            ("halfway_bodies", "Bodies of events that the nodes keep for neighbours.",
             self._sum(lambda n: len(n.events.bodies))),
            ("halfway_retained", "Retained values.",
             self._sum(lambda n: len(n.retained_values))),
            ("halfway_compiled", "1 if the nodes run machine code, 0 if they are interpreted.",
             float(host.is_compiled)),
        ]  # fmt: skip
        for name, what, value in rows:
            yield GaugeMetricFamily(name, what, value=value)
        yield GaugeMetricFamily(
            "halfway_loop_lag_seconds",
            "The longest delay of a timer so far.",
            value=host.scheduler.lag_s,
            unit="seconds",
        )

    def _members(self) -> Iterator[Metric]:
        """Yield the members of the nodes of a failure detector for OpenMetrics; each node counts
        the members that it knows.
        """
        each = [node.members for node in self._host.nodes if node.members is not None]
        if not each:
            return
        totals, changes = Counter[str](), Counter[str]()
        for members in each:
            totals.update({str(state): count for state, count in members.totals().items()})
            changes.update({str(state): members.changes[state] for state in MemberState})
        gauge = GaugeMetricFamily(
            "halfway_members", "Members that the nodes know, by their state.", labels=["state"]
        )
        for state, count in totals.items():
            gauge.add_metric([state], count)
        yield gauge
        yield _counter(
            "halfway_member_changes", "Changes of members, by their new state.", "state", changes
        )

    def _journal(self) -> Iterator[Metric]:
        host = self._host
        flows = [node.kept for node in host.nodes if node.kept is not None]
        yield GaugeMetricFamily(
            "halfway_kept_pending",
            "Kept events of the nodes that some readers have not acknowledged.",
            value=sum(len(flow.events) for flow in flows),
        )
        yield CounterMetricFamily(
            "halfway_kept_expired",
            "Kept events of the nodes that expired before all readers acknowledged them.",
            value=sum(flow.events.expired for flow in flows),
        )
        yield CounterMetricFamily(
            "halfway_kept_missed",
            "Kept events of other nodes that no longer existed when a node requested them.",
            value=sum(flow.events.missed for flow in flows),
        )
        yield GaugeMetricFamily(
            "halfway_journal_bytes",
            "Bytes of the journals.",
            value=sum(journal.size for journal in host.journals),
            unit="bytes",
        )
        yield GaugeMetricFamily(
            "halfway_journal_failed",
            "1 after an error of the disk, until the next start.",
            value=float(any(journal.has_failed for journal in host.journals)),
        )
        yield SummaryMetricFamily(
            "halfway_fsync_seconds",
            "Time that groups of records took to reach the disk.",
            count_value=sum(journal.groups for journal in host.journals),
            sum_value=sum(journal.all_sync_s for journal in host.journals),
            unit="seconds",
        )


def _counter(
    name: str, what: str, label: str, values: Mapping[str, float], unit: str = ""
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, what, labels=[label], unit=unit)
    for value, count in values.items():
        family.add_metric([value], count)
    return family


def _door(status: Mapping[str, Any]) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "halfway_door_clients", "Connections of MQTT clients.", value=status["clients"]
    )
    yield GaugeMetricFamily(
        "halfway_door_sessions",
        "MQTT sessions, including the sessions of absent clients.",
        value=status["sessions"],
    )
    drops = dict.fromkeys(map(str, DoorDrop), 0) | status["drops"]
    yield _counter(
        "halfway_door_dropped", "MQTT messages that the door dropped, by reason.", "reason", drops
    )
