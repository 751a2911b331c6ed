"""The decision of a comparison: which systems meet the needs, which of them costs least, and how
often the decision may be wrong.

With 95 % confidence at a point, the chosen system meets every need, and the cheapest system that
meets them is the chosen one, one that is not clearly worse, or one whose needs are open. The error
of 5 % has three parts:

* 2.5 %: some system that is said to meet the needs does not. A system meets them if each need alone
  is met (an intersection-union test); Holm's method corrects for the number of systems.
* 1.25 %: the cheapest system is said to fail. Bonferroni's method corrects for its needs.
* 1.25 %: the cheapest system is said to cost more than another one that meets the needs.
  Bonferroni's method corrects for the number of other systems: a confidence set for the best, by
  multiple comparisons with the best (Hsu 1984, Ann. Stat. 12, 1136-1144).

If the same question is asked again with more replicates, each decision spends two thirds of the
error that is left, so all decisions on the question together are wrong in at most 5 %.

A mean says nothing about losses that no replicate shows. So each result of a need also has the
greatest share of replicates that may miss the need. These shares have an error of 5 % of their own,
which is divided between decisions, systems and needs.

All tests are one-sided, on one value per replicate, and paired where two systems are compared. A
system that is open gets an estimate of the replicates that would settle it by the next decision, if
further replicates are like those at hand.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from halfway.comparison.evaluation.cell_statistics import COMPARABLE, Floats, paired
from halfway.comparison.evaluation.comparison_results import (
    Decision,
    DecisionRule,
    MeanInterval,
    Metric,
    Need,
    NeedResult,
    NeedVerdict,
    RankedSystem,
    ResultCell,
    SystemVerdict,
)
from halfway.comparison.evaluation.evidence import (
    NO_EVIDENCE,
    Evidence,
    PValues,
    evidence_on,
    p_of,
)
from halfway.comparison.evaluation.metrics import Purpose, purpose_of
from halfway.pipeline.statistics.estimates import greatest_share, mean_interval

_SPENT = 2.0 / 3.0  # share of the remaining error that each decision spends
# Replicates, of the estimate for an open system; more are not estimated.
_COUNTS = (*range(3, 20), *range(20, 50, 5), *range(50, 100, 10), *range(100, 1001, 50))
_ORDER: tuple[SystemVerdict, ...] = ("chosen", "not clearly worse", "open", "costs more", "fails")


class NeedLevels(NamedTuple):
    """The error levels of a decision for one system and one need."""

    met: float
    failed: float
    missed: float


class ErrorLevels(NamedTuple):
    """The error levels of a decision, which are probabilities: 5 % of wrong decisions, and 5 % of
    wrong shares.
    """

    met: float = 0.025  # a system is falsely said to meet the needs
    failed: float = 0.0125  # the cheapest system is falsely said to fail
    dearer: float = 0.0125  # the cheapest system is falsely said to cost more
    missed: float = 0.05  # more replicates miss a need than the greatest share that is stated

    @classmethod
    def after(cls, decisions: int) -> "ErrorLevels":
        """Return the error levels of a decision that follows earlier decisions on the same
        question.
        """
        share = _SPENT * (1.0 - _SPENT) ** decisions
        return cls(*(share * whole for whole in cls()))

    def of_need(self, systems: int, needs: int, *, meeting: bool) -> NeedLevels:
        """Return the error levels of a decision for one system and one need.

        meeting: the system meets all needs by Holm's method.
        """
        met = 1.0 if meeting else self.met / systems
        return NeedLevels(met, self.failed / needs, self.missed / (systems * needs))


def tested(rule: DecisionRule, purpose: Purpose) -> tuple[tuple[Need, ...], str]:
    """Return the needs that a decision tests, and the cost that it compares.

    The usual need of the purpose is added unless a stated need has the same metric.
    """
    usual = Need(purpose.share, COMPARABLE, of_best=True)
    known = any(need.metric == usual.metric for need in rule.needs)
    return (rule.needs if known else (usual, *rule.needs)), rule.minimise or purpose.cost


def decide(
    point: int, metrics: Sequence[Metric], cells: Sequence[ResultCell], rule: DecisionRule,
    asked: Sequence[int] = (),
) -> Decision:  # fmt: skip
    """Return the decision at a point of a comparison, from the values in its cells, without words.

    asked: the replicates of the earlier decisions on the same question.
    """
    levels, later = ErrorLevels.after(len(asked)), ErrorLevels.after(len(asked) + 1)
    by_name = {metric.name: metric for metric in metrics}
    here = {(cell.system, cell.metric): cell for cell in cells if cell.point == point}
    systems = list(dict.fromkeys(system for system, _ in here))
    replicates = max((len(cell.values) for cell in here.values()), default=0)
    needs, minimise = tested(rule, purpose_of(by_name))
    evidence = {need: evidence_on(need, by_name[need.metric], here, systems) for need in needs}
    against = {need: _p_values(of, replicates) for need, of in evidence.items()}
    meeting, failing = _meeting_and_failing(against, systems, levels)
    cost = by_name[minimise]
    costs = {system: np.array(here[system, minimise].values) for system in systems}
    candidates = [name for name in systems if name in meeting and np.isfinite(costs[name]).any()]
    chosen = _cheapest(candidates, costs)
    dearer = _more_expensive(cost, candidates, costs, levels.dearer)
    ranked = []
    for system in systems:
        met, many = system in meeting, len(systems)
        limits = levels.of_need(many, len(needs), meeting=met)
        results = tuple(
            _need_result(of[system], against[need][system], here[system, need.metric], limits)
            for need, of in evidence.items()
        )
        verdict = _verdict(system, chosen, candidates, failing, dearer)
        own = [of[system] for of in evidence.values() if verdict == "open"]
        needed = None if met else _replicates_to_settle(own, replicates, many, later)
        spent = here[system, minimise].mean, _extra_cost(cost, costs, system, chosen)
        ranked.append(RankedSystem(system, verdict, results, *spent, replicates_needed=needed))
    ranked.sort(key=lambda row: (_ORDER.index(row.verdict), _last_if_nan(row.cost.value)))
    stated, asked = rule.stated, tuple(asked)
    return Decision(point, needs, minimise, stated, chosen, "", tuple(ranked), asked)


def _p_values(of: Mapping[str, Evidence], replicates: int) -> dict[str, PValues]:
    """Return the p-values of a decision on one need; one replicate is not evidence."""
    return {system: one.against() if replicates > 1 else NO_EVIDENCE for system, one in of.items()}


def _meeting_and_failing(
    against: Mapping[Need, Mapping[str, PValues]], systems: Sequence[str], levels: ErrorLevels
) -> tuple[set[str], set[str]]:
    """Return the systems that meet all needs of a decision, and the systems that fail a need."""
    against_failing = {
        system: max(of[system].failing for of in against.values()) for system in systems
    }
    meeting = set()
    for rank, system in enumerate(sorted(systems, key=against_failing.__getitem__)):
        if against_failing[system] > levels.met / (len(systems) - rank):
            break
        meeting.add(system)
    level = levels.failed / len(against)
    failing = {
        system for system in systems if any(of[system].meeting <= level for of in against.values())
    }
    return meeting, failing - meeting


def _replicates_to_settle(
    evidence: Sequence[Evidence], replicates: int, systems: int, levels: ErrorLevels
) -> int | None:
    """Return the replicates after which a decision's open system would meet all needs, or fail one.

    Return an estimate from _COUNTS, or None if more replicates are needed or there is no evidence.
    """
    if replicates < 2 or not evidence:
        return None
    met, failed = levels.met / systems, levels.failed / len(evidence)

    def settled(count: int) -> bool:
        against = [of_need.against(count / replicates) for of_need in evidence]
        return all(p.failing <= met for p in against) or any(p.meeting <= failed for p in against)

    counts = [count for count in _COUNTS if count > replicates]
    place = bisect_left(counts, True, key=settled)  # p-values fall with the replicates
    return counts[place] if place < len(counts) else None


def _cheapest(candidates: Sequence[str], costs: Mapping[str, Floats]) -> str | None:
    """Return the candidate of a decision with the least mean cost, over the replicates in which all
    candidates have a cost.
    """
    if not candidates:
        return None
    table = np.array([costs[system] for system in candidates])
    common = np.isfinite(table).all(axis=0)
    means = table[:, common].mean(axis=1) if common.any() else np.nanmean(table, axis=1)
    return candidates[int(np.argmin(means))]


def _more_expensive(
    metric: Metric, candidates: Sequence[str], costs: Mapping[str, Floats], error: float
) -> set[str]:
    """Return the systems that cost significantly more than one of a decision's candidates."""
    with_cost = [system for system, column in costs.items() if np.isfinite(column).any()]
    level = error / max(len(with_cost) - 1, 1)
    return {
        system
        for system in with_cost
        for other in candidates
        if other != system and p_of(paired(costs[system], costs[other]), metric) <= level
    }


def _extra_cost(
    cost: Metric, costs: Mapping[str, Floats], system: str, chosen: str | None
) -> MeanInterval | None:
    """Return the cost of a system minus the cost of the decision's chosen system, in pairs of
    runs.
    """
    if chosen is None or system == chosen:
        return None
    between = paired(costs[system], costs[chosen])
    return MeanInterval(*mean_interval(between, bounds=cost.difference_bounds))


def _verdict(
    system: str, chosen: str | None, candidates: list[str], failing: set[str], dearer: set[str]
) -> SystemVerdict:
    if system == chosen:
        return "chosen"
    if system in failing:
        return "fails"
    if system in dearer:
        return "costs more"
    # A system that meets the needs without a value of the cost is open, too.
    return "not clearly worse" if system in candidates else "open"


def _need_result(
    evidence: Evidence, against: PValues, cell: ResultCell, levels: NeedLevels
) -> NeedResult:
    """Return a decision's result for one need, from the evidence and its p-values."""
    verdict: NeedVerdict = "open"
    if against.failing <= levels.met:
        verdict = "meets"
    elif against.meeting <= levels.failed:
        verdict = "fails"
    counts = evidence.missed, evidence.replicates
    most = greatest_share(*counts, levels.missed)
    return NeedResult(cell.metric, cell.mean, 1.0 - against.failing, verdict, *counts, most)


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value
