"""The sentences of a comparison's decision: what to choose, and why a system is not chosen."""

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from halfway.comparison.evaluation.comparison_results import (
    Decision,
    MeanInterval,
    Metric,
    Need,
    NeedResult,
    RankedSystem,
    SystemVerdict,
)

# The columns of a table of decisions: heading, and the verdicts of the systems in it.
VERDICT_COLUMNS: Sequence[tuple[str, Sequence[SystemVerdict]]] = (
    ("choose", ("chosen",)),
    ("not clearly worse", ("not clearly worse",)),
    ("open", ("open",)),
    ("fails, or costs more", ("fails", "costs more")),
)
_LEANS = 0.5  # confidence
_NAMED = 3  # systems that a sentence names with reasons; twice as many without


def worded(decision: Decision, metrics: Sequence[Metric], replicates: int) -> Decision:
    """Return a decision with its sentences: what to choose, and why each other system is not
    chosen.

    metrics: those of the comparison; replicates: their number in the comparison.
    """
    by_name = {metric.name: metric for metric in metrics}
    cost, needs = by_name[decision.minimise], decision.needs
    systems = tuple(
        replace(ranked, reason=_reason(ranked, decision.chosen, needs, by_name, cost, replicates))
        for ranked in decision.systems
    )
    reasoned = replace(decision, systems=systems)
    return replace(reasoned, sentence=_sentence(reasoned, by_name, replicates))


def _sentence(decision: Decision, metrics: Mapping[str, Metric], replicates: int) -> str:
    """Return a decision as a sentence to act on; `replicates` is the number of the comparison."""
    systems = decision.systems
    if replicates < 2:
        return (
            "No decision: one replicate does not show how much replicates differ. Use "
            "--replicates 10."
        )
    if missing := _without_value(decision):
        names = _listed([metrics[name].label for name in missing])
        return f"No decision: no system has a value of {names}."
    if decision.chosen is None:
        text = _nothing_chosen(decision, metrics, replicates)
    else:
        text = _choice(decision, metrics)
    rest = [_close(systems), _open(decision), _failing(systems)]
    text = "; ".join([text, *(part for part in rest if part)]) + "."
    text += _missed(decision, metrics)
    if not decision.stated:
        how = f"--need {decision.needs[0].metric}=0.95 --minimise energy"
        text = f"No need was stated. {text} To state a need: {how}."
    return f"{text}{_earlier(decision)}"


def _reason(
    ranked: RankedSystem,
    chosen: str | None,
    needs: Sequence[Need],
    metrics: Mapping[str, Metric],
    cost: Metric,
    replicates: int,
) -> str:
    """Return the reason of a system's verdict in a decision, in a few words."""
    stated = {need.metric: need for need in needs}
    if ranked.verdict in ("fails", "open"):
        wanted = "fails" if ranked.verdict == "fails" else "open"
        reasons = [
            f"{_value(metrics[result.metric], result.value)}"
            f"{_against(stated[result.metric], result, metrics[result.metric], replicates)}"
            for result in ranked.needs
            if result.verdict == wanted
        ]
        return " and ".join(reasons) or f"no value of {cost.label}"
    return f"{_value(cost, ranked.cost)}{_more(ranked, chosen, cost)}"


def question_of(decision: Decision, metrics: Mapping[str, Metric]) -> str:
    """Return the words for the subject of a decision: its needs, and the cost to minimise."""
    needs = [need_text(need, metrics[need.metric]) for need in decision.needs]
    stated = "" if decision.stated else " (no need was stated)"
    return ", ".join([*needs, f"least {metrics[decision.minimise].heading}"]) + stated


def need_text(need: Need, metric: Metric) -> str:
    """Return the words for a need of a decision, such as "delivery ratio ≥ 0.95"."""
    if need.of_best:
        return f"{metric.label} within {need.bound:g} of the best"
    sign = "≥" if metric.better == "more" else "≤"
    return f"{metric.label} {sign} {_plain(need.bound)}{_unit(metric)}"


def limit_of(decisions: Sequence[Decision]) -> str:
    """Return the sentence on how often chosen systems may miss a need, at any point of a
    comparison's decisions, or "" if none is chosen.
    """
    chosen = [decided.systems[0] for decided in decisions if decided.chosen is not None]
    if not chosen:
        return ""
    share = max(need.greatest_share for decided in chosen for need in decided.needs)
    return (
        "At each point, the chosen system could miss a need in up to "
        f"{share_text(share)} of further replicates (95 % confidence)."
    )


def share_text(share: float) -> str:
    """Return the words for the greatest share of replicates of a decision that may miss a need;
    rounded up.
    """
    return f"{math.ceil(100.0 * share - 1e-9)} %"


def _missed(decision: Decision, metrics: Mapping[str, Metric]) -> str:
    """Return the sentence on the replicates in which a decision's chosen system misses a need.

    The sentence is about the need that the system may miss in the greatest share of replicates.
    """
    if decision.chosen is None:
        return ""
    results = decision.systems[0].needs
    worst = max(range(len(results)), key=lambda k: results[k].greatest_share)
    need, result = decision.needs[worst], results[worst]
    metric = metrics[need.metric]
    missed = f"is {_beyond(need, metric)} in {result.missed or 'none'} of {result.replicates:,}"
    could = f"could be in up to {share_text(result.greatest_share)} of further ones"
    but = "and" if result.missed else "but"
    of = f"The {metric.label} of {decision.chosen}"
    return f" {of} {missed} replicates, {but} {could} (95 % confidence)."


def _beyond(need: Need, metric: Metric) -> str:
    """Return what a value is that misses a need of a decision, such as "below 0.95"."""
    if need.of_best:
        return f"more than {need.bound:g} below the best"
    side = "below" if metric.better == "more" else "above"
    return f"{side} {_plain(need.bound)}{_unit(metric)}"


def _earlier(decision: Decision) -> str:
    """Return the sentence on earlier decisions about the same question, or ""."""
    if not decision.asked:
        return ""
    counts = _listed([f"{count:,}" for count in decision.asked])
    which = "An earlier decision" if len(decision.asked) == 1 else "Earlier decisions"
    return f" {which} on this question ({counts} replicates) used a part of the error of 5 %."


def _without_value(decision: Decision) -> list[str]:
    """Return the metrics of a decision for which no system has a value."""
    found = {need.metric for one in decision.systems for need in one.needs
             if not math.isnan(need.value.value)}  # fmt: skip
    if any(not math.isnan(one.cost.value) for one in decision.systems):
        found.add(decision.minimise)
    wanted = dict.fromkeys([*(need.metric for need in decision.needs), decision.minimise])
    return [name for name in wanted if name not in found]


def _choice(decision: Decision, metrics: Mapping[str, Metric]) -> str:
    first, cost = decision.systems[0], metrics[decision.minimise]
    meeting = sum(
        all(need.verdict == "meets" for need in ranked.needs) for ranked in decision.systems
    )
    met = " and ".join(need_text(need, metrics[need.metric]) for need in decision.needs)
    values = ", ".join(_value(metrics[need.metric], need.value) for need in first.needs)
    price = f"{_value(cost, first.cost)}"
    if meeting == 1:
        only = "it is the only system that is sure to meet"
        return f"Choose {first.system}: {only} {met} ({values}), at {price}"
    least = f"the lowest mean of the {meeting} systems that meet {met}"
    return f"Choose {first.system}: {price}, {least} ({values})"


def _nothing_chosen(decision: Decision, metrics: Mapping[str, Metric], replicates: int) -> str:
    met = " and ".join(need_text(need, metrics[need.metric]) for need in decision.needs)
    if all(one.verdict == "fails" for one in decision.systems):
        return f"Choose none of these: no system meets {met}"
    return f"No choice yet: {replicates} replicates do not show that any system meets {met}"


def _close(systems: Sequence[RankedSystem]) -> str:
    close = [one for one in systems if one.verdict == "not clearly worse"]
    if not close:
        return ""
    names = _some([one.system for one in close])
    return f"{names} {'is' if len(close) == 1 else 'are'} not clearly worse"


def _open(decision: Decision) -> str:
    unsure = [ranked for ranked in decision.systems if ranked.verdict == "open"]
    if not unsure:
        return ""
    may = f"{_some([ranked.system for ranked in unsure])} may meet the needs"
    if decision.chosen is None and (first := _first_to_meet(unsure)):
        count, system = first
        shown = f"about {count:,} replicates would show it"
        of = f" for {system}" if len(unsure) > 1 else ""
        return f"{may}; {shown}{of} (--replicates {count})"
    counts = [ranked.replicates_needed for ranked in unsure]
    known = [count for count in counts if count is not None]
    if not known:
        return f"{may}, but even 1,000 replicates would hardly show it"
    most = "" if len(known) == len(counts) else " most of them"
    return f"{may}; about {max(known):,} replicates would decide{most} (--replicates {max(known)})"


def _first_to_meet(unsure: Sequence[RankedSystem]) -> tuple[int, str] | None:
    """Return the fewest replicates after which an open system of a decision meets the needs, and
    this system.

    A system counts if its replicates speak for every need.
    """
    candidates = [
        (ranked.replicates_needed, ranked.system)
        for ranked in unsure
        if ranked.replicates_needed and all(need.confidence > _LEANS for need in ranked.needs)
    ]
    return min(candidates, default=None)


def _failing(systems: Sequence[RankedSystem]) -> str:
    failing = [one for one in systems if one.verdict == "fails"]
    if len(failing) in (0, len(systems)):
        return ""
    if len(failing) > _NAMED:
        return f"{_some([one.system for one in failing])} fail"
    return "; ".join(f"{one.system} fails: {one.reason}" for one in failing)


def _more(one: RankedSystem, chosen: str | None, cost: Metric) -> str:
    extra, word = one.extra, "more"
    if extra is None or not math.isfinite(extra.value):
        return ""
    if extra.value < 0.0:
        extra, word = MeanInterval(-extra.value, -extra.high, -extra.low), "less"
    return f", {extra.text.replace('-', '−')}{_unit(cost)} {word} than {chosen}"


def _against(need: Need, result: NeedResult, metric: Metric, replicates: int) -> str:
    """Return the sentence on a value that fails a need of the decision, or that leaves it open."""
    if replicates < 2:
        return " in one replicate"
    fails, even = result.verdict == "fails", result.value.low == result.value.high
    few = f", but {replicates} equal values are too few to be sure that it is"
    open_and_even = even and not fails
    if open_and_even and result.confidence > _LEANS:
        return f"{few} {need_text(need, metric).removeprefix(f'{metric.label} ')}"
    if need.of_best:
        return f" {'is' if fails else 'may be'} {_beyond(need, metric)}"
    missed = "<" if metric.better == "more" else ">"
    bound = f"{missed} {_plain(need.bound)}{_unit(metric)}"
    if open_and_even and result.confidence < 1.0 - _LEANS:
        return f"{few} {bound}"
    return f" {bound}" if fails else f" may be {bound}"


def _value(metric: Metric, mean: MeanInterval) -> str:
    return f"{metric.label} {mean.text.replace('-', '−')}{_unit(metric)}"


def _unit(metric: Metric) -> str:
    return f" {metric.unit}" if metric.unit else ""


def _plain(bound: float) -> str:
    return f"{bound:,.10g}"


def _some(names: Sequence[str]) -> str:
    """Return the names of systems in a sentence; only their number if there are many."""
    return _listed(names) if len(names) <= 2 * _NAMED else f"{len(names)} systems"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
