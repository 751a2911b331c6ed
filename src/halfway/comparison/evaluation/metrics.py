"""The metrics of a comparison: name, unit and definition of each metric, and the observations of a
run, which are the values of all its metrics.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.evaluation import detection, group_metrics, members, request_metrics
from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.outcome_parts import ValueOf, reader
from halfway.comparison.evaluation.recovery import recovery
from halfway.comparison.evaluation.timelines import (
    advance_in_bins,
    encoded,
    groups_over_time,
    over_time,
)
from halfway.core.hello.messages import HELLO_NAME
from halfway.pipeline.plan.run import Observations
from halfway.scenario.schema import FailureDetection, GroupWorkload, Scenario
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation

LATENCY = "latency-quantiles"  # [101] quantiles of a run, for the latency curves
# Counts observed beside the metrics, where above 0; a note under the tables reports them.
LATE, SATURATED, SHORTFALL = "late", "saturated", "shortfall: "
_read_lifetime = reader(lambda o: o.lifetime)

# Each metric, and where a run's outcome has it; None: it is not in the outcome.
_METRICS: tuple[tuple[Metric, ValueOf | None], ...] = (
    (Metric("delivery-ratio", "delivery ratio", "",
            "The delivered notifications divided by the expected notifications. A notification "
            "is the arrival of an event at a subscriber. A notification is expected for each "
            "event at each subscriber of the event's topic, except at the event's publisher. The "
            "subscriber must be up when the event is published. Events near the end of the run "
            "also count. An event does not count if its publisher is down. A notification counts "
            "as delivered if it arrives before the run ends and before `window` newer events are "
            "published.", "more", most=1.0),
     lambda o: o.delivery_ratio),
    (Metric("latency-p50", "latency p50", "s",
            "The median time from the publication of an event to its notification. Only "
            "delivered notifications count, so a system that does not reach distant subscribers "
            "has a low latency."),
     lambda o: o.latency_s.median),
    (Metric("latency-p95", "latency p95", "s",
            "The 95th percentile of the time from publication to notification, with an error of "
            "at most 0.8 %."),
     lambda o: o.latency_s.p95),
    (Metric("latency-p99", "latency p99", "s",
            "The 99th percentile of the time from publication to notification, with an error of "
            "at most 0.8 %."),
     lambda o: o.latency_s.p99),
    (Metric("stretch", "stretch", "",
            "The mean ratio of the hops of a notification to the hops of a shortest path. The "
            "shortest path is computed in the network at the time of the publication. A system "
            "has no value if its records do not count the hops from the publisher.", least=1.0),
     lambda o: o.stretch.mean),
    (Metric("messages-per-notification", "messages / notification", "",
            "The transmissions of the whole run, including set-up and upkeep, divided by the "
            "number of notifications. A notification also counts if its subscriber was down at "
            "the publication and received the event later. Transmissions of hellos count."),
     lambda o: o.sent_per_notification),
    (Metric("bytes-per-notification", "bytes / notification", "",
            "The bytes of all transmissions divided by the number of notifications. A record "
            "counts the length of its wire format. A record that carries an event also counts the "
            "payload of the event. Radio headers do not count.", ""),
     lambda o: _each(o.bytes_sent, o)),
    (Metric("energy", "energy", "J",
            "The energy that all nodes spend in the whole run for sending, receiving and "
            "idling. A record counts the length of its wire format. A record that carries an "
            "event also counts its payload. If a record is addressed to one neighbour, only this "
            "neighbour spends receiving energy. On a radio with contention, all neighbours spend "
            "this energy. The energy for hellos counts."),
     lambda o: o.energy_j),
    (Metric("max-node-energy", "max node energy", "J",
            "The highest energy that one node spends in the whole run."),
     lambda o: o.max_node_energy_j),
    (Metric("max-node-load", "max node load", "",
            "The largest number of records that one node sends and receives, including the "
            "set-up. If a record is addressed to one neighbour, only this neighbour receives the "
            "record."),
     lambda o: o.load.max),
    (Metric("load-gini", "load Gini", "",
            "The Gini coefficient, over all nodes, of the number of records that a node sends "
            "and receives. The value 0 means that all nodes have an equal load.", most=1.0),
     lambda o: o.load.gini),
    (Metric("hello-messages", "hellos / node", "1/s",
            "The mean number of hellos that a node transmits in a second. A system that reads no "
            "neighbour list sends no hello. All costs include hellos.", ""),
     lambda o: o.sent.get(HELLO_NAME, 0) / (o.nodes * o.seconds)),
    (Metric("hello-bytes", "hello bytes / node", "bytes/s",
            "The mean number of bytes of hellos that a node transmits in a second. Radio headers "
            "do not count.", ""),
     lambda o: o.kind_bytes.get(HELLO_NAME, 0) / (o.nodes * o.seconds)),
    (Metric("state-per-node", "state / node", "bytes",
            "The mean memory of a node's state. Every table counts with its allocated size, "
            "even if the table is not full. Neighbour tables and code do not count."),
     lambda o: o.state_bytes_per_node),
    (Metric("set-up-messages", "set-up messages", "",
            "The transmissions before the first publication, such as bootstrap, subscriptions "
            "and walks."), None),
    (Metric("recovery-time", "recovery time", "s",
            "The mean time from a fault to the recovery from this fault. A fault is an instant "
            "at which nodes or links go down. The recovery is the first of three consecutive "
            "publications that reach all expected subscribers. A fault counts only if the "
            "system recovers and at least three events follow the fault."), None),
    (Metric("recovery-rate", "recovery rate", "",
            "The share of the faults from which the system recovers. A fault counts only if at "
            "least three events follow the fault. The recovery is the first of three consecutive "
            "publications that reach all expected subscribers.", "more", most=1.0), None),
    (Metric("first-node-dead", "first node dead", "s",
            "The time at which the battery of a node is used up for the first time. A run in which "
            "no battery is used up has no value.", "more"),
     _read_lifetime(lambda life: life.first_dead_s)),
    (Metric("nodes-alive", "nodes alive", "",
            "The number of nodes whose battery is not used up at the end of the run.", "more"),
     _read_lifetime(lambda life: float(life.alive))),
    *members.METRICS,
    *detection.METRICS,
    *group_metrics.METRICS,
    *request_metrics.METRICS,
)  # fmt: skip
METRICS = tuple(metric for metric, _ in _METRICS)
SHARES = tuple(metric.name for metric in METRICS if metric.most == 1.0)
_OF_BATTERIES = ("first-node-dead", "nodes-alive")
_OF_HELLOS = ("hello-messages", "hello-bytes")
# Metrics of systems that spread events; failure detectors and groups have other metrics.
_OF_EVENTS = (
    "delivery-ratio",
    "latency-p50",
    "latency-p95",
    "latency-p99",
    "stretch",
    "messages-per-notification",
    "bytes-per-notification",
    "set-up-messages",
    "recovery-time",
    "recovery-rate",
)


def metrics_for(scenarios: Sequence[Scenario]) -> tuple[Metric, ...]:
    """Return the metrics that at least one of a comparison's scenarios has.

    Metrics of batteries need batteries, and metrics of hellos need nodes that send hellos. Failure
    detection, groups and events have metrics of their own.
    """
    works = [scenario.workload for scenario in scenarios]
    special = {
        detection.NAMES: any(isinstance(work, FailureDetection) for work in works),
        group_metrics.NAMES: any(isinstance(work, GroupWorkload) for work in works),
        request_metrics.NAMES: any(
            isinstance(work, GroupWorkload) and work.requests is not None for work in works
        ),
        _OF_EVENTS: any(not isinstance(work, FailureDetection | GroupWorkload) for work in works),
    }
    there = {name for names, has_any in special.items() if has_any for name in names}
    missing = {name for names in special for name in names} - there
    if all(scenario.power.battery_j is None for scenario in scenarios):
        missing.update(_OF_BATTERIES)
    if all(scenario.hello == "given" for scenario in scenarios):
        missing.update(_OF_HELLOS)
    return tuple(metric for metric in METRICS if metric.name not in missing)


class Purpose(NamedTuple):
    """The purpose of a compared workload, by its metrics: events, detection, groups, or requests.

    share: systems are compared by their costs only if they are equally good in this metric.
    """

    share: str
    cost: str  # that a decision minimises if the scenario names none

    @property
    def label(self) -> str:
        """The label of the metric by which systems of the purpose are comparable."""
        return next(metric.label for metric in METRICS if metric.name == self.share)


EVENTS = Purpose("delivery-ratio", "messages-per-notification")
DETECTION = Purpose(detection.DETECTED_SHARE, members.COST)
GROUPS = Purpose(members.COMPLETENESS, members.COST)
REQUESTS = Purpose(request_metrics.SERVED, request_metrics.COST)


def purpose_of(metrics: Collection[str]) -> Purpose:
    """Return the purpose of a compared workload that has these metrics, by name."""
    return next((one for one in (EVENTS, DETECTION, REQUESTS) if one.share in metrics), GROUPS)


def guard_of(metric: str, purpose: Purpose = EVENTS) -> str | None:
    """Return the share metric by which systems are comparable in a cost metric, or None for the
    shares.
    """
    if metric in ("delivery-ratio", "recovery-rate", purpose.share):
        return None
    return "recovery-rate" if metric == "recovery-time" else purpose.share


def observations(simulation: Simulation) -> Observations:
    """Run a simulation, and return the observations of this run: the value of every metric, [1]
    each, or [0] without a value.

    Also the latency quantiles, the metrics over time, and the counts of late notifications and
    full tables.
    """
    deliveries, environment = simulation.deliveries, simulation.environment
    deliveries.delivery_log, environment.fault_times = [], []
    first = min(simulation.demand.next_at(), simulation.seconds)
    set_up, messages = advance_in_bins(simulation, first)
    outcome = simulation.run()
    seconds, rate = recovery(
        np.concatenate([np.zeros(0), *environment.fault_times]), *_complete_events(deliveries)
    )
    values = metrics_of(outcome)
    values |= {"set-up-messages": set_up, "recovery-time": seconds, "recovery-rate": rate}
    if outcome.lifetime is None:
        values = {name: value for name, value in values.items() if name not in _OF_BATTERIES}
    observed = {name: _finite(value) for name, value in values.items()}
    counts = {LATE: outcome.late, SATURATED: outcome.saturated_nodes}
    counts |= {SHORTFALL + what: count for what, count in outcome.shortfalls.items()}
    observed |= {name: np.array([count], np.float64) for name, count in counts.items() if count}
    latency = deliveries.latency_s
    shares = np.linspace(0.0, 1.0, 101) if latency.count else np.zeros(0)
    columns = over_time(deliveries, simulation.seconds) | {"messages-over-time": messages}
    if outcome.groups is not None:
        columns = groups_over_time(outcome.groups) | {"messages-over-time": messages}
    observed |= encoded(columns, simulation.seconds)
    observed[LATENCY] = np.array([latency.quantile(share) for share in shares.tolist()], np.float64)
    return observed


def metrics_of(outcome: Outcome) -> dict[str, float]:
    """Return the comparison metrics that the outcome of a run contains: name -> value, or nan."""
    return {metric.name: read(outcome) for metric, read in _METRICS if read is not None}


def member_metrics(outcome: Outcome) -> list[tuple[Metric, float]]:
    """Return the metrics of a run by definition and value that are particular to failure detectors,
    groups and requests; [] without any.
    """
    parts = {
        detection.NAMES: outcome.detection,
        group_metrics.NAMES: outcome.groups,
        request_metrics.NAMES: outcome.requests,
    }
    names = [name for names, part in parts.items() if part is not None for name in names]
    known = {metric.name: metric for metric in METRICS}
    values = metrics_of(outcome) if names else {}
    return [(known[name], values[name]) for name in names]


def _each(amount: float, outcome: Outcome) -> float:
    notifications = outcome.delivered + outcome.caught_up
    return amount / notifications if notifications else np.nan


def _finite(value: float) -> npt.NDArray[np.float64]:
    """Return [1]: the value of a run's metric, or [0] if it is not finite."""
    return np.array([value] if np.isfinite(value) else [], np.float64)


def _complete_events(
    deliveries: DeliveryAccounting,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return a run's [events] publication times, ascending, and whether each reached all
    subscribers.

    Excludes events that no subscriber expects.
    """
    expected = [row for row in deliveries.publication_log if row[2] > 0]
    delivered = (events for events, _, _ in deliveries.delivery_log or [])
    events = np.concatenate([np.zeros(0, np.int64), *delivered])
    count = np.bincount(events, minlength=1 + max((event for event, _, _ in expected), default=0))
    times = np.array([at for _, at, _ in expected], np.float64)
    return times, np.array([count[event] >= number for event, _, number in expected], bool)
