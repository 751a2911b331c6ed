"""The metrics of requests for a replicated resource: the served share, the time, and the
staleness.
"""

import math

from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.outcome_parts import ValueOf, reader
from halfway.sim.metrics.outcome import Outcome

SERVED = "requests-served"  # by which systems are comparable in their costs
COST = "messages-per-request"  # that a decision minimises if the scenario names none

_read = reader(lambda o: o.requests)


def _cost(outcome: Outcome) -> float:
    """Return the transmissions of the whole run for each request, or nan for a run without any."""
    found = outcome.requests
    if found is None or found.requested == 0:
        return math.nan
    return sum(outcome.sent.values()) / found.requested


METRICS: tuple[tuple[Metric, ValueOf], ...] = (
    (Metric(SERVED, "requests served", "",
            "The share of the requests to which a reply arrives before the last time-out. A "
            "request does not count if its client leaves or goes down, or if the run ends before.",
            "more", most=1.0),
     _read(lambda r: r.served_share)),
    (Metric("request-time", "request time", "s",
            "The mean time from a request to its first reply, if it is served. The time contains "
            "`reaction_s` of the member, and the time-outs before a fail-over."),
     _read(lambda r: r.request_s)),
    (Metric("fail-overs", "fail-overs / request", "",
            "The mean number of further members that a client asks in one request, because a "
            "member did not reply before the time-out."),
     _read(lambda r: r.fail_overs)),
    (Metric("stale-replies", "stale replies", "",
            "The share of the replies of members that lack the last write of their group when the "
            "request arrives. A write that has not arrived yet also counts.", most=1.0),
     _read(lambda r: r.stale_replies)),
    (Metric("stale-replicas", "stale replicas", "",
            "The share of the members that lack the last write of their group at the end of the "
            "run. Members that are down do not count.", most=1.0),
     _read(lambda r: r.stale_replicas)),
    (Metric(COST, "messages / request", "",
            "The transmissions of the whole run for each request, with announcements, writes, "
            "replies and hellos."),
     _cost),
)  # fmt: skip
NAMES = tuple(metric.name for metric, _ in METRICS)
