"""The metrics of a testbed's runs, simulated or live, under the names of a comparison."""

import math
from typing import NamedTuple

from halfway.core.hello.messages import HELLO_NAME
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.outcome import Outcome, percentiles

DELIVERY, P50, P95, P99, MESSAGES = (
    "delivery-ratio",
    "latency-p50",
    "latency-p95",
    "latency-p99",
    "messages-per-notification",
)
METRICS = (DELIVERY, P50, P95, P99, MESSAGES)


class RunMeasures(NamedTuple):
    """The values of one run, by the names of METRICS. Hellos do not count as messages."""

    values: dict[str, float]
    published: int
    expected: int
    delivered: int


def of_outcome(outcome: Outcome) -> RunMeasures:
    """Return the testbed metrics of a simulated run."""
    messages = sum(outcome.sent.values()) - outcome.sent.get(HELLO_NAME, 0)
    latency = outcome.latency_s
    return RunMeasures({
        DELIVERY: outcome.delivery_ratio, P50: latency.median, P95: latency.p95, P99: latency.p99,
        MESSAGES: _each(messages, outcome.delivered + outcome.caught_up),
    }, outcome.published, outcome.expected, outcome.delivered)  # fmt: skip


def of_deliveries(deliveries: DeliveryAccounting, messages: int) -> RunMeasures:
    """Return the testbed metrics of a live run, from its accounting and transmissions."""
    latency = percentiles(deliveries.latency_s)
    return RunMeasures(
        {
            DELIVERY: deliveries.delivery_ratio,
            P50: latency.median,
            P95: latency.p95,
            P99: latency.p99,
            MESSAGES: _each(messages, deliveries.delivered + deliveries.caught_up),
        },
        deliveries.published,
        deliveries.expected,
        deliveries.delivered,
    )


def _each(count: int, notifications: int) -> float:
    return count / notifications if notifications else math.nan
