"""The request of a comparison: a user's input checked, as scenario points and systems."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from halfway.adapters.registry import TABLE, named
from halfway.adapters.user_protocol import read_user_system, user_system
from halfway.comparison.defaults import MAX_REPLICATES, REPLICATES
from halfway.comparison.evaluation.cell_statistics import StoppingRule
from halfway.comparison.evaluation.comparison_results import DecisionRule, Metric, Need
from halfway.comparison.evaluation.metrics import METRICS, metrics_for, purpose_of
from halfway.comparison.plan import SystemSource
from halfway.problem import Problem
from halfway.scenario import build
from halfway.scenario.reading import ScenarioSource, file_of
from halfway.scenario.remarks import on_ended_subscriptions, on_named_brokers, remarks_of
from halfway.scenario.schema import Scenario
from halfway.scenario.swept_points import ScenarioPoint, read_sweep

_MOST_REPLICATES = 100_000
_RULE = re.compile(r"half-width=((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?)(%?)(?:,([a-z0-9-]+))?")


class Request(NamedTuple):
    """The checked request of a comparison: `systems` can run at every point, and `unsupported` has
    the others.
    """

    scenario: Scenario  # as in the file
    points: Sequence[ScenarioPoint]
    systems: Sequence[SystemSource]
    baseline: str
    unsupported: Mapping[str, str]  # name -> why
    remarks: Sequence[str] = ()  # remarks on the files, and on work that does not fit into the run
    replicates: int = REPLICATES
    until: StoppingRule | None = None
    max_replicates: int = MAX_REPLICATES
    decision: DecisionRule = DecisionRule()


def read_request(
    scenario: ScenarioSource,
    systems: Sequence[str] = (),
    *,
    user_systems: Sequence[str] = (),
    baseline: str | None = None,
    replicates: int = REPLICATES,
    until: str | None = None,
    max_replicates: int = MAX_REPLICATES,
    changes: Mapping[str, str] | None = None,
    sweeps: Mapping[str, str] | None = None,
    needs: Mapping[str, float | str] | None = None,
    minimise: str = "",
) -> Request:
    """Read the request of a comparison on a scenario, checked before anything runs.

    systems: names (default: all that have the workload's purpose); user_systems: files or modules
    of user systems; until: "half-width=2%" or "half-width=2%,energy"; needs: metric -> bound; needs
    and minimise replace the needs and the cost of the file. Raises Problem with the wrong field.
    """
    _check_changes(changes or {})
    sources = [read_user_system(path) for path in user_systems]
    of_user = {source.name: user_system(source) for source in sources}
    chosen = [*_chosen(systems), *(SystemSource(*source) for source in sources)]
    _check_names([system.name for system in chosen])
    _check_replicates(replicates, None if until is None else max_replicates)
    base, points = read_sweep(scenario, changes, sweeps, of_user)
    chosen = chosen if systems else _of_purpose(chosen, points[0].scenario)
    base = msgspec.structs.replace(base, title=printable(base.title) or file_of(scenario).stem)
    known = [metric.name for metric in metrics_for([point.scenario for point in points])]
    rule = stopping_rule(until, purpose_of(known).share)
    supported, unsupported, remarks = _support_and_remarks(points, chosen)
    reference = _baseline(baseline, supported, unsupported)
    wanted = {**(base.decision.need or {}), **(needs or {})}
    decision = decision_rule(wanted, minimise or base.decision.minimise)
    _check_decision(decision, known)
    return Request(
        base, points, list(supported.values()), reference, unsupported, remarks, replicates, rule,
        max_replicates, decision,
    )  # fmt: skip


def _baseline(
    name: str | None, supported: Mapping[str, SystemSource], unsupported: Mapping[str, str]
) -> str:
    """Return the baseline that a comparison requests by name; the default is flooding, or the first
    system that runs.
    """
    chosen = name or ("flooding" if "flooding" in supported else next(iter(supported)))
    if chosen not in supported:
        why = unsupported.get(chosen, f"expected one of {', '.join(supported)}")
        raise Problem(f"baseline = {chosen}: {why}", remedy="choose a baseline that runs here")
    return chosen


def _check_changes(changes: Mapping[str, str]) -> None:
    for field, option in (("seed", "seed"), ("system", "systems")):
        if field in changes:
            what = f"set {field}: a comparison sets this field in each run"
            raise Problem(what, remedy=f"use the option {option}")


def _check_names(names: Sequence[str]) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise Problem(f"systems: '{twice[0]}' is named twice", remedy="name each system once")


def _check_replicates(replicates: int, most: int | None) -> None:
    """Raise Problem for invalid numbers of replicates in the request of a comparison.

    most: the maximum of a comparison that stops by a rule; None: no rule.
    """
    if not 1 <= replicates <= _MOST_REPLICATES:
        raise Problem(f"replicates = {replicates}: expected 1 to {_MOST_REPLICATES:,}")
    if most is not None and most < replicates:
        what = f"replicates = {replicates}: expected at most the maximum of {most}"
        raise Problem(what, remedy="use fewer replicates, or raise --most or max_replicates")


def _of_purpose(systems: Sequence[SystemSource], scenario: Scenario) -> list[SystemSource]:
    """Return the requested systems that the workload of a scenario is for, and all user systems."""
    return [one for one in systems if one.text or not build.other_purpose(one.system(), scenario)]


def _check_decision(decision: DecisionRule, known: Sequence[str]) -> None:
    """Raise Problem where a requested decision names a metric that the scenario has not."""
    for name in (*(need.metric for need in decision.needs), decision.minimise):
        if name and name not in known:
            remedy = f"metrics of this scenario: {', '.join(known)}"
            raise Problem(f"{name}: expected a metric of this scenario", remedy=remedy)


def printable(title: str) -> str:
    """Return a request's title without control characters, which a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in title).split())


def stopping_rule(until: str | None, usual: str = "delivery-ratio") -> StoppingRule | None:
    """Return the requested stopping rule in `half-width=2%[,metric]`; Problem for anything else.

    usual: the metric where none is named.
    """
    if until is None:
        return None
    match = _RULE.fullmatch(until.replace(" ", ""))
    names = [metric.name for metric in METRICS]
    if not match or (match[3] and match[3] not in names):
        remedy = f"use half-width=2% or half-width=0.02,METRIC; metrics: {', '.join(names)}"
        raise Problem(f"until = {until}: expected a stopping rule", remedy=remedy)
    width = float(match[1]) / (100.0 if match[2] else 1.0)
    if not 0.0 < width < 1.0:
        what = f"until = {until}: expected a half-width above 0% and below 100%"
        raise Problem(what, remedy="write 2 percent as half-width=2% or half-width=0.02")
    return StoppingRule(width, match[3] or usual)


def decision_rule(needs: Mapping[str, float | str], minimise: str = "") -> DecisionRule:
    """Return the requested decision. Raises Problem if it is invalid.

    needs: metric -> bound, such as 0.95 or "95%".
    """
    stated_needs = []
    for name, bound in needs.items():
        metric = _metric(name, f"need: {name}")
        stated_needs.append(Need(metric.name, _bound(metric, bound)))
    if minimise and _metric(minimise, "minimise").better == "more":
        what = f"minimise = {minimise}: expected a cost, for which less is better"
        raise Problem(what, remedy=f"use one of {', '.join(_names(costs=True))}")
    return DecisionRule(tuple(stated_needs), minimise)


def _bound(metric: Metric, stated: float | str) -> float:
    """Return the bound of a requested need as a number within the metric's range."""
    text = str(stated).strip()
    where = f"need: {metric.name} = {text}"
    try:
        bound = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        bound = math.nan
    least, most = metric.bounds
    if not (least <= bound <= most) or math.isinf(bound):
        limit = f" to {most:g}" if metric.most is not None else " or more"
        remedy = "a need is METRIC=NUMBER, such as delivery-ratio=0.95 or latency-p95=2"
        raise Problem(f"{where}: expected {least:g}{limit}", remedy=remedy)
    if metric.better == "more" and bound == most:
        what = f"{where}: expected less than {most:g}, because no number of runs shows that all"
        raise Problem(f"{what} events always arrive", remedy=f"for example {metric.name}=0.999")
    return bound


def _metric(name: str, where: str) -> Metric:
    for metric in METRICS:
        if metric.name == name:
            return metric
    raise Problem(f"{where}: expected a metric", remedy=f"metrics: {', '.join(_names())}")


def _names(*, costs: bool = False) -> list[str]:
    return [metric.name for metric in METRICS if not costs or metric.better != "more"]


def _chosen(systems: Sequence[str]) -> list[SystemSource]:
    names = [name.strip() for name in systems if name.strip()]
    for name in names:
        named(name)  # an unknown name is reported before the scenario is read
    return [SystemSource(name) for name in names or TABLE]


def _support_and_remarks(
    points: Sequence[ScenarioPoint], systems: Sequence[SystemSource]
) -> tuple[dict[str, SystemSource], dict[str, str], list[str]]:
    """Return the requested systems that can run at every point, why others cannot, and remarks."""
    unsupported: dict[str, str] = {}
    remarks: dict[str, list[str]] = {}  # remark -> the points that have it
    for point in points:
        ready = build.prepared(point.scenario)
        context = build.run_context(point.scenario, ready)
        where = ", ".join(f"{field} = {value}" for field, value in point.varies.items())
        for system in systems:
            if system.name in unsupported:
                continue
            if why := build.unsupported(system.system(), point.scenario, context):
                unsupported[system.name] = f"{why} (at {where})" if where else why
        running = [system.system() for system in systems if system.name not in unsupported]
        ended = on_ended_subscriptions(ready, point.scenario, running)
        named = on_named_brokers(ready, running)
        for remark in (*remarks_of(point.scenario, ready), *ended, *named):
            remarks.setdefault(remark, []).append(where)
    supported = {system.name: system for system in systems if system.name not in unsupported}
    if not supported:
        name, why = next(iter(unsupported.items()))
        what = f"no system can run here; {name}: {why}"
        raise Problem(what, remedy="choose another system, or change the scenario")
    remarked = [
        remark if len(places) == len(points) else f"{remark} (at {places[0]})"
        for remark, places in remarks.items()
    ]
    return supported, unsupported, remarked
