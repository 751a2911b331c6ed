"""The notes below the tables of a comparison: facts that a reader of the tables needs.

A note has at most two lines of 80 columns (with few systems), and appears only where it applies.
"""

import importlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from halfway.adapters.interface import System
from halfway.comparison.evaluation.cell_statistics import (
    COMPARABLE,
    FinishedRun,
    StoppingRule,
    too_wide,
)
from halfway.comparison.evaluation.comparison_results import ResultCell
from halfway.comparison.evaluation.metrics import (
    EVENTS,
    LATE,
    METRICS,
    SATURATED,
    SHORTFALL,
    guard_of,
    metrics_for,
    purpose_of,
)
from halfway.comparison.evaluation.timelines import decoded
from halfway.scenario.schema import (
    FailureDetection,
    FromFile,
    GroupWorkload,
    Recorded,
    Scenario,
)
from halfway.scenario.system_notes import notes_before_runs

_OVER_TIME = "delivery-ratio-over-time"
_FALL = 0.1  # of the delivery ratio from the earlier to the later half of the events
_JUDGED = {metric.name for metric in METRICS if metric.better}


def notes_of(
    scenarios: Sequence[Scenario],
    systems: Sequence[System],
    runs: Sequence[FinishedRun],
    cells: Sequence[ResultCell],
    replicates: int,
    rule: StoppingRule | None = None,
    remarks: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the notes under a comparison's tables.

    scenarios: one for each point. systems: those that ran. rule: the stopping rule. remarks:
    remarks of the readers of the scenario's files; they come first.
    """
    return (
        *remarks,
        *_on_failed(runs, replicates),
        *_on_delivery(cells),
        *_on_losses(systems, cells),
        *_on_late_events(runs),
        *notes_before_runs(scenarios, systems),
        *_on_counts(runs),
        *_on_stopping(rule, cells),
        *_on_values(cells, replicates),
    )


def methods_of(scenario: Scenario, replicates: int, first: int) -> tuple[str, ...]:
    """Return the notes on the methods behind the numbers of a comparison. first: the replicates
    before a stopping rule.
    """
    added = (
        "Replicates were added until the intervals were narrow enough. Such intervals are slightly "
        "narrower than intervals of a fixed number of replicates.",
    )
    return (
        f"The comparison has {replicates} replicates. Each replicate draws its own "
        f"{_drawn_parts(scenario)}, equal for all systems.",
        "All intervals are 95 % intervals by Student's t. Skewed values widen an interval (Hall "
        "1992). An interval stays within the range of its metric. ± gives the longer side. If the "
        "sides differ, both ends are given.",
        "A star marks the best system. The best system has a value in every replicate. The "
        "interval of its paired difference to each comparable system excludes 0 at the level "
        "0.05 / (number of other systems).",
        _on_comparable(scenario),
        "Each difference to the baseline has a 95 % interval of its own, without a correction for "
        "several pairs.",
        _on_hellos(scenario),
        *(added if replicates > first else ()),
    )


def _on_comparable(scenario: Scenario) -> str:
    """Return the note on which systems are compared by their costs."""
    purpose = purpose_of([metric.name for metric in metrics_for([scenario])])
    share = purpose.label
    text = (
        f"Costs are compared only among systems whose {share} is within {COMPARABLE:g} of the best "
        f"{share}."
    )
    other = " For the recovery time, the recovery rate counts instead of the delivery ratio."
    return text + other if purpose == EVENTS else text


def _on_hellos(scenario: Scenario) -> str:
    """Return the note on how nodes of the noted scenario learn their neighbours."""
    if scenario.hello == "sent":
        return (
            "Nodes learn their neighbours from hellos, which they send every "
            f"{scenario.hello_period_s:g} s. All costs include hellos. Systems that read no "
            "neighbour list send no hellos."
        )
    delay_s = scenario.discovery_delay_s
    when = f"{delay_s:g} s after they happen" if delay_s else "at once"
    return (
        f"Nodes know their neighbours without hellos, and learn of changes {when}. No column "
        "contains a cost of this knowledge."
    )


def _on_failed(runs: Sequence[FinishedRun], replicates: int) -> Iterator[str]:
    """Yield the note that a system with failed runs has values from only some networks."""
    failed = Counter((run.point, run.system) for run in runs if run.status != "ok")
    for (_, system), count in failed.items():
        yield (
            f"{system}: the values are of {replicates - count} of {replicates} networks, those "
            "where it runs; they are not comparable with the other systems' values."
        )


def _on_delivery(cells: Sequence[ResultCell]) -> Iterator[str]:
    """Yield the note that measures of deliveries are not comparable if delivery ratios differ."""
    ratios = [cell for cell in cells if cell.metric == "delivery-ratio" and cell.replicates]
    for point in {cell.point for cell in ratios}:
        means = [cell.mean.value for cell in ratios if cell.point == point]
        if max(means) - min(means) > COMPARABLE:
            yield (
                "Delivery ratios differ. Latency, stretch and costs per notification cover only "
                "delivered notifications. Read these columns with the delivery ratio."
            )
            return


def _on_losses(systems: Sequence[System], cells: Sequence[ResultCell]) -> Iterator[str]:
    """Yield why systems lose notifications by design, if they deliver clearly less than others."""
    ratios = [cell for cell in cells if cell.metric == "delivery-ratio" and cell.replicates]
    best: dict[int, float] = {}
    for cell in ratios:
        best[cell.point] = max(best.get(cell.point, 0.0), cell.mean.value)
    poor = {cell.system for cell in ratios if cell.mean.value < best[cell.point] - COMPARABLE}
    for system in systems:
        # The module of a user's protocol, which declares its options, is not importable.
        if system.name in poor and system.declared is None:
            reason = getattr(importlib.import_module(system.module), "LOSSES", "")
            if reason:
                yield f"{system.name}: {reason}"


def _on_late_events(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """Yield the note that the later half of the events arrived clearly less often than the earlier
    half.
    """
    falls: dict[str, list[float]] = {}
    for run in runs:
        if _OVER_TIME in run.observed:
            ratios = decoded(run.observed, _OVER_TIME)
            earlier, later = np.array_split(ratios[np.isfinite(ratios)], 2)
            if len(later):
                falls.setdefault(run.system, []).append(float(earlier.mean() - later.mean()))
    if named := [system for system, fall in falls.items() if np.mean(fall) > _FALL]:
        yield (
            f"Later events arrived less often than earlier ones ({', '.join(named)}). If they were "
            "still under way at the end, a larger `seconds` helps."
        )


def _on_counts(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """Yield the notes on counted events of a comparison's runs that no metric shows."""
    if late := _listed(_totals(runs, LATE)):
        yield (
            f"Late notifications ({late}) came after `window` newer events and do not count as "
            "delivered. Set a larger `window` to count late notifications."
        )
    if saturated := _listed(_totals(runs, SATURATED)):
        yield (
            f"Saturated nodes ({saturated}) sent and received for longer than the run. A shared "
            "medium would have lost some records of these nodes."
        )
    # Protocols also count what they repair later. This explains no loss where nothing was lost.
    lossy = [run for run in runs if _may_have_lost(run)]
    counted = {name for run in lossy for name in run.observed if name.startswith(SHORTFALL)}
    for name in sorted(counted):
        yield (
            f"{_listed(_totals(lossy, name))} {name.removeprefix(SHORTFALL)} (counted by the "
            "protocol). Some notifications may have been lost for this reason."
        )


def _may_have_lost(run: FinishedRun) -> bool:
    """Return whether a noted run lost notifications, or measures no deliveries."""
    ratios = run.observed.get(EVENTS.share, ())
    return not ratios or min(ratios) < 1.0


def _totals(runs: Sequence[FinishedRun], name: str) -> Mapping[str, float]:
    """Return the total of a noted count by system, over all runs, where it is above 0."""
    totals: dict[str, float] = {}
    for run in runs:
        for value in run.observed.get(name, ()):
            totals[run.system] = totals.get(run.system, 0.0) + value
    return totals


def _listed(totals: Mapping[str, float]) -> str:
    """Return the counts in a note as text, such as "gossip: 12, drip: 3", or ""."""
    return ", ".join(f"{system}: {total:,.0f}" for system, total in totals.items())


def _on_stopping(rule: StoppingRule | None, cells: Sequence[ResultCell]) -> Iterator[str]:
    if rule is None:
        return
    if not any(cell.replicates for cell in cells if cell.metric == rule.metric):
        yield f"No system has a value of {rule.metric}, so the stopping rule added no replicates."
    elif wide := list(dict.fromkeys(cell.system for cell in too_wide(rule, cells))):
        yield (
            "The limit of replicates was reached. For some systems, "
            f"{rule.metric} is not as precise as requested: {', '.join(wide)}."
        )


def _on_values(cells: Sequence[ResultCell], replicates: int) -> Iterator[str]:
    rare: dict[str, dict[str, None]] = {}
    for cell in cells:
        if _depends_on_few(cell):
            rare.setdefault(cell.metric, {})[cell.system] = None
    if rare:
        where = "; ".join(f"{metric} ({', '.join(systems)})" for metric, systems in rare.items())
        yield (
            "Most replicates have the same value, so the interval may be too narrow: "
            f"{where}. Use more replicates."
        )
    if partial := sorted({cell.system for cell in cells if 0 < cell.replicates < replicates}):
        yield (
            "Some means cover only the replicates with a value. A replicate without a delivery or "
            f"a recovery has no value: {', '.join(partial)}."
        )


def _depends_on_few(cell: ResultCell) -> bool:
    """Return whether to note that most replicates have the same value of a metric that is judged.

    A value that all replicates share is constant by design (a table's size), except for shares: a
    rare loss may have been missed.
    """
    if cell.metric not in _JUDGED or cell.replicates < 2:
        return False
    values = [value for value in cell.values if math.isfinite(value)]
    equal = Counter(values).most_common(1)[0][1]
    return 2 * equal > len(values) and (equal < len(values) or guard_of(cell.metric) is None)


def _drawn_roles(scenario: Scenario) -> tuple[str, ...]:
    """Return the roles in the noted scenario that the seed draws."""
    if isinstance(scenario.workload, FailureDetection):
        return ("members",) if isinstance(scenario.workload.members, int) else ()
    if isinstance(scenario.workload, GroupWorkload):
        drawn = () if scenario.workload.members else ("members",)
        requests = () if scenario.workload.requests is None else ("requests",)
        return (*drawn, "announcements", *requests)
    return "roles", "publications"


def _drawn_parts(scenario: Scenario) -> str:
    fixed = isinstance(scenario.network, FromFile | Recorded)
    drawn = [*(() if fixed else ("network",)), *_drawn_roles(scenario)]
    drawn += ["losses"]
    drawn += ["faults"] if scenario.faults else []
    return f"{', '.join(drawn[:-1])} and {drawn[-1]}" if len(drawn) > 1 else drawn[0]
