"""The decision of a comparison: which systems meet the needs, and which of them costs least.

With 95 % confidence at a point, the chosen system meets every need, and the cheapest system that
meets them is the chosen one, one that is not clearly worse, or one whose needs are open. The error
of 5 % has three parts:

* 2.5 %: some system that is said to meet the needs does not. A system meets them if each need alone
  is met (an intersection-union test); Holm's method corrects for the number of systems.
* 1.25 %: the cheapest system is said to fail. Bonferroni's method corrects for its needs.
* 1.25 %: the cheapest system is said to cost more than another one that meets the needs.
  Bonferroni's method corrects for the number of other systems: a confidence set for the best, by
  multiple comparisons with the best (Hsu 1984, Ann. Stat. 12, 1136-1144).

All tests are one-sided, on one value a replicate, and paired where two systems are compared.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from halfway.comparison.evaluation.decision_text import reason_of, sentence_of
from halfway.comparison.evaluation.results import (
    Decision,
    MeanInterval,
    Metric,
    Need,
    NeedResult,
    NeedVerdict,
    RankedSystem,
    ResultCell,
    SystemVerdict,
)
from halfway.comparison.evaluation.statistics import COMPARABLE, Floats, paired
from halfway.pipeline.reproduction.estimates import mean_interval, p_above

FALSELY_MET, FALSELY_FAILED, FALSELY_DEARER = 0.025, 0.0125, 0.0125
DEFAULT_COST = "messages-per-notification"
DELIVERY = Need("delivery-ratio", COMPARABLE, of_best=True)  # where no delivery ratio is needed
_TINY = 1e-12  # a margin of 0 meets a need
_ORDER: tuple[SystemVerdict, ...] = ("chosen", "not clearly worse", "open", "costs more", "fails")


class DecisionRule(NamedTuple):
    """What a decision asks for: needs to meet, and a metric to minimise among those that do."""

    needs: tuple[Need, ...] = ()
    minimise: str = ""

    @property
    def tested(self) -> tuple[Need, ...]:
        """The needs, and that of a delivery ratio near the best if none is stated."""
        stated = any(need.metric == DELIVERY.metric for need in self.needs)
        return self.needs if stated else (DELIVERY, *self.needs)


class _Evidence(NamedTuple):
    """The p-values of one system and one need: against "does not meet it" and "meets it"."""

    against_failing: float
    against_meeting: float


def decide(
    point: int, metrics: Sequence[Metric], cells: Sequence[ResultCell], rule: DecisionRule
) -> Decision:
    """The decision at a point of a comparison, from the values in its cells."""
    by_name = {metric.name: metric for metric in metrics}
    here = {(cell.system, cell.metric): cell for cell in cells if cell.point == point}
    systems = list(dict.fromkeys(system for system, _ in here))
    needs, minimise = rule.tested, rule.minimise or DEFAULT_COST
    found = {need: _evidence(need, by_name[need.metric], here, systems) for need in needs}
    meeting, failing = _sorted_out(found, systems)
    cost = by_name[minimise]
    costs = {system: np.array(here[system, minimise].values) for system in systems}
    candidates = [one for one in systems if one in meeting and np.isfinite(costs[one]).any()]
    chosen = _cheapest(candidates, costs)
    dearer = _dearer(cost, candidates, costs)
    ranked = []
    for system in systems:
        results = tuple(
            _need_result(need, found[need][system], here[system, need.metric], system in meeting,
                         len(needs), len(systems))
            for need in needs
        )  # fmt: skip
        verdict = _verdict(system, chosen, meeting, failing, dearer)
        if verdict == "not clearly worse" and system not in candidates:
            verdict = "open"  # it meets the needs, but has no cost
        extra = None
        if chosen is not None and system != chosen:
            between = paired(costs[system], costs[chosen])
            extra = MeanInterval(*mean_interval(between, bounds=cost.difference_bounds))
        mean = here[system, minimise].mean
        one = RankedSystem(system, verdict, results, mean, extra, "")
        ranked.append(replace(one, reason=reason_of(one, chosen, needs, by_name, cost)))
    ranked.sort(key=lambda one: (_ORDER.index(one.verdict), _last_if_nan(one.cost.value)))
    replicates = max((len(cell.values) for cell in here.values()), default=0)
    stated = bool(rule.needs or rule.minimise)
    decision = Decision(point, needs, minimise, stated, chosen, "", tuple(ranked))
    return replace(decision, sentence=sentence_of(decision, by_name, replicates))


def _evidence(
    need: Need, metric: Metric, cells: Mapping[tuple[str, str], ResultCell], systems: Sequence[str]
) -> dict[str, _Evidence]:
    """The evidence on a decision's need for each system; positive margins meet the need."""
    values = {system: np.array(cells[system, need.metric].values) for system in systems}
    # A replicate in which no system has a value (no node failed) says nothing about the need.
    expected = np.any([np.isfinite(column) for column in values.values()], axis=0)
    found = {}
    for system, column in values.items():
        most = math.inf  # the greatest margin that is possible
        if need.of_best:
            margins = [
                paired(column, other) + need.bound
                for name, other in values.items() if name != system
            ]  # fmt: skip
        else:
            more = metric.better == "more"
            own = column[np.isfinite(column)] - need.bound
            margins = [own if more else -own]
            most = (metric.bounds[1] - need.bound) if more else (need.bound - metric.least)
        gaps = not np.isfinite(column[expected]).all() or not expected.any()
        against_failing = max((_p(one + _TINY, metric, most) for one in margins), default=0.0)
        against_meeting = min((_p(-one, metric) for one in margins), default=1.0)
        found[system] = _Evidence(
            1.0 if gaps else against_failing, min(1.0, len(margins) * against_meeting)
        )
    return found


def _p(margins: Floats, metric: Metric, most: float = math.inf) -> float:
    """A decision's p-value of "the mean margin is not above 0"; margins are at most `most`.

    Equal shares in all replicates have no spread. A rare loss may then have been missed, so the
    p-value is that of the sign test: one half to the power of the replicates.
    """
    p = p_above(margins, most=most)
    return 0.5 ** len(margins) if p == 0.0 and metric.most == 1.0 else p


def _sorted_out(
    found: Mapping[Need, Mapping[str, _Evidence]], systems: Sequence[str]
) -> tuple[set[str], set[str]]:
    """The systems that meet all needs of a decision, and those that fail one of them."""
    against_failing = {
        system: max(of[system].against_failing for of in found.values()) for system in systems
    }
    meeting = set()
    for rank, system in enumerate(sorted(systems, key=against_failing.__getitem__)):
        if against_failing[system] > FALSELY_MET / (len(systems) - rank):
            break
        meeting.add(system)
    level = FALSELY_FAILED / len(found)
    failing = {
        system for system in systems
        if any(of[system].against_meeting <= level for of in found.values())
    }  # fmt: skip
    return meeting, failing - meeting


def _cheapest(candidates: Sequence[str], costs: Mapping[str, Floats]) -> str | None:
    """The candidate with the least mean cost, over the replicates in which all have one."""
    if not candidates:
        return None
    table = np.array([costs[system] for system in candidates])
    common = np.isfinite(table).all(axis=0)
    means = table[:, common].mean(axis=1) if common.any() else np.nanmean(table, axis=1)
    return candidates[int(np.argmin(means))]


def _dearer(metric: Metric, candidates: Sequence[str], costs: Mapping[str, Floats]) -> set[str]:
    """The systems that cost significantly more than some candidate of a decision."""
    with_cost = [system for system, column in costs.items() if np.isfinite(column).any()]
    level = FALSELY_DEARER / max(len(with_cost) - 1, 1)
    return {
        system for system in with_cost
        for other in candidates
        if other != system and _p(paired(costs[system], costs[other]), metric) <= level
    }  # fmt: skip


def _verdict(
    system: str, chosen: str | None, meeting: set[str], failing: set[str], dearer: set[str]
) -> SystemVerdict:
    if system == chosen:
        return "chosen"
    if system in failing:
        return "fails"
    if system in dearer:
        return "costs more"
    return "not clearly worse" if system in meeting else "open"


def _need_result(
    need: Need, evidence: _Evidence, cell: ResultCell, meets_all: bool, needs: int, systems: int
) -> NeedResult:
    verdict: NeedVerdict = "open"
    if meets_all or evidence.against_failing <= FALSELY_MET / systems:
        verdict = "meets"
    elif evidence.against_meeting <= FALSELY_FAILED / needs:
        verdict = "fails"
    return NeedResult(need.metric, cell.mean, 1.0 - evidence.against_failing, verdict)


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value
