"""The metrics that failure detectors and groups share: views of members, and their cost."""

import math
from collections.abc import Callable

from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.outcome_parts import ValueOf
from halfway.sim.metrics.outcome import Outcome

COMPLETENESS = "view-completeness"  # by which groups are comparable in their costs
COST = "messages-per-member"  # that a decision minimises if the scenario names none


def _completeness(outcome: Outcome) -> float:
    if outcome.detection is not None:
        return outcome.detection.view_completeness
    return math.nan if outcome.groups is None else outcome.groups.completeness


def _each(amount: Callable[[Outcome], float]) -> ValueOf:
    """Return a cost of the whole run for each member and second, or nan for a run without
    members.
    """

    def cost(outcome: Outcome) -> float:
        members = 0 if outcome.detection is None else outcome.detection.members
        seconds = members * outcome.seconds
        if outcome.groups is not None:
            seconds = outcome.groups.member_seconds
        return amount(outcome) / seconds if seconds > 0.0 else math.nan

    return cost


METRICS: tuple[tuple[Metric, ValueOf], ...] = (
    (Metric(COMPLETENESS, "view completeness", "",
            "The share of the time in which a node knows a member that is up, over all pairs of "
            "nodes that are up, whatever their distance. In groups, the pairs are a subscribing "
            "and a publishing member of one group.", "more", most=1.0),
     _completeness),
    (Metric(COST, "messages / member", "1/s",
            "The transmissions of the whole run for each member and second. A member of a group "
            "counts for the time in which it is in the group and up. Hellos count."),
     _each(lambda o: sum(o.sent.values()))),
    (Metric("bytes-per-member", "bytes / member", "bytes/s",
            "The bytes of all transmissions for each member and second. A record counts the length "
            "of its wire format. Radio headers do not count. Hellos count."),
     _each(lambda o: o.bytes_sent)),
    (Metric("power-per-member", "power / member", "mW",
            "The energy that all nodes spend for sending, receiving and idling, for each member "
            "and second."),
     _each(lambda o: 1e3 * o.energy_j)),
    (Metric("max-load-per-member", "max node load / member", "1/s",
            "The largest number of records that one node sends and receives, for each member and "
            "second."),
     _each(lambda o: o.load.max)),
)  # fmt: skip
NAMES = tuple(metric.name for metric, _ in METRICS)
