"""Notes on a comparison: what changes the reading of its tables, and how its numbers were made.

A note has at most two lines of 80 columns (with few systems), and appears only where it applies.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from halfway.comparison.metrics import LATE, METRICS, SATURATED, SHORTFALL, guard_of
from halfway.comparison.results import ResultCell
from halfway.comparison.statistics import COMPARABLE, FinishedRun, StoppingRule, too_wide
from halfway.scenario.schema import FromFile, Recorded, Scenario
from halfway.sim.radio.declarations import DistanceRadio, IdealRadio

_JUDGED = {metric.name for metric in METRICS if metric.better}


def notes_of(
    scenarios: Sequence[Scenario], systems: Sequence[str], runs: Sequence[FinishedRun],
    cells: Sequence[ResultCell], replicates: int, rule: StoppingRule | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """The notes under a comparison's tables; scenarios: of all points, systems: those that ran."""
    return (
        *_on_failed(runs, replicates), *_on_delivery(cells), *_on_systems(scenarios, systems),
        *_on_counts(runs),
        *_on_stopping(rule, cells), *_on_values(cells, replicates),
    )  # fmt: skip


def methods_of(scenario: Scenario, replicates: int, first: int) -> tuple[str, ...]:
    """The notes on how the numbers were made; first: the replicates before a stopping rule."""
    delay_s = scenario.discovery_delay_s
    hellos = f"{delay_s:g} s after they happen" if delay_s else "at once"
    added = (
        "Replicates were added until the intervals were narrow enough, which makes them slightly "
        "narrower than those of a fixed number of replicates.",
    )
    return (
        f"{replicates} replicates. Each draws its own {_drawn(scenario)}, equal for all systems.",
        "Intervals are 95 %: Student's t, widened where values are skewed (Hall 1992). ± gives "
        "the longer side.",
        "The best system (star) has a value in every replicate, and its paired difference to "
        "every comparable system excludes 0 at the level 0.05 / (number of other systems).",
        f"Costs are compared only among systems whose delivery ratio is within {COMPARABLE:g} of "
        "the best (for recovery time: whose recovery rate is).",
        "Differences to the baseline are at 95 % for each pair alone, without correction.",
        f"Nodes know their neighbours by hellos and learn of changes {hellos}; hellos cost nothing "
        "in any column.",
        *(added if replicates > first else ()),
    )


def _on_failed(runs: Sequence[FinishedRun], replicates: int) -> Iterator[str]:
    """The note that a system with failed runs has values of some networks only."""
    failed = Counter((run.point, run.system) for run in runs if run.status != "ok")
    for (_, system), count in failed.items():
        yield (
            f"{system}: the values are of {replicates - count} of {replicates} networks, those "
            "where it runs; they are not comparable with the other systems' values."
        )


def _on_delivery(cells: Sequence[ResultCell]) -> Iterator[str]:
    """The note that measures of deliveries are not comparable where systems deliver unequally."""
    ratios = [cell for cell in cells if cell.metric == "delivery-ratio" and cell.networks]
    for point in {cell.point for cell in ratios}:
        means = [cell.mean.value for cell in ratios if cell.point == point]
        if max(means) - min(means) > COMPARABLE:
            yield (
                "Delivery ratios differ. Latency, stretch and costs per notification cover "
                "delivered notifications only: read them with the delivery ratio."
            )
            return


def _on_systems(scenarios: Sequence[Scenario], systems: Sequence[str]) -> Iterator[str]:
    options = [one.options.get("drip", {}) for one in scenarios]
    if "drip" in systems and not all(one.get("epidemic") for one in options):
        yield (
            "drip: an event goes to l brokers by design, and further only as brokers move. A "
            "delivery ratio around 0.3 is its design, not a loss."
        )
    rumor_routing = "rumor-routing" in systems
    publishers = max(one.workload.publishers_each for one in scenarios)
    if rumor_routing and publishers > 1:
        yield (
            "rumor-routing: a query ends at one publisher of its topic, as in its paper; the "
            f"other publishers (up to {publishers} a topic) do not reach the subscriber."
        )
    if rumor_routing and any(_lossy(one) for one in scenarios):
        yield (
            "rumor-routing: agents and queries are not acknowledged, so a walk ends at its first "
            "loss."
        )
    if trees := [name for name in ("siena", "underlay-siena") if name in systems]:
        yield (
            f"{', '.join(trees)}: brokers start with their parents and all paths; no column counts "
            "the messages that would find them."
        )
    if any(isinstance(one.radio, IdealRadio | DistanceRadio) for one in scenarios):
        yield (
            "A radio without contention has no overhearing: a unicast costs only its receiver. "
            "This favours walks and trees in energy and load."
        )


def _lossy(scenario: Scenario) -> bool:
    radio = scenario.radio
    if not isinstance(radio, IdealRadio | DistanceRadio):
        return False  # a radio with contention retransmits unicasts
    return radio.success < 1.0 or radio.ratios is not None


def _on_counts(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """The notes on what a comparison's runs counted beside the metrics."""
    if late := _listed(_totals(runs, LATE)):
        yield (
            f"Late notifications ({late}) came after `window` newer events and do not count as "
            "delivered. A larger `window` counts them."
        )
    if saturated := _listed(_totals(runs, SATURATED)):
        yield (
            f"Saturated nodes ({saturated}) sent and received for longer than the run; a shared "
            "medium would have lost some of these records."
        )
    counted = {name for run in runs for name in run.observed if name.startswith(SHORTFALL)}
    for name in sorted(counted):
        yield (
            f"{_listed(_totals(runs, name))} {name.removeprefix(SHORTFALL)} (counted by the "
            "protocol); some notifications may have been lost because of this."
        )


def _totals(runs: Sequence[FinishedRun], name: str) -> Mapping[str, float]:
    """System -> the total of a noted count over all its runs, where it is above 0."""
    totals: dict[str, float] = {}
    for run in runs:
        for value in run.observed.get(name, ()):
            totals[run.system] = totals.get(run.system, 0.0) + value
    return totals


def _listed(totals: Mapping[str, float]) -> str:
    """The systems' counts in a note, such as "gossip: 12, drip: 3"; "" for none."""
    return ", ".join(f"{system}: {total:,.0f}" for system, total in totals.items())


def _on_stopping(rule: StoppingRule | None, cells: Sequence[ResultCell]) -> Iterator[str]:
    if rule is None:
        return
    if not any(cell.networks for cell in cells if cell.metric == rule.metric):
        yield f"No system has a value of {rule.metric}, so --until added no replicates."
    elif wide := list(dict.fromkeys(cell.system for cell in too_wide(rule, cells))):
        yield (
            f"The limit of replicates was reached; {rule.metric} is not as precise as requested: "
            f"{', '.join(wide)}."
        )


def _on_values(cells: Sequence[ResultCell], replicates: int) -> Iterator[str]:
    rare: dict[str, dict[str, None]] = {}
    for cell in cells:
        if _depends_on_few(cell):
            rare.setdefault(cell.metric, {})[cell.system] = None
    if rare:
        where = "; ".join(f"{metric} ({', '.join(systems)})" for metric, systems in rare.items())
        yield (
            "Most replicates have the same value, so rare ones decide and the interval may be too "
            f"narrow: {where}. Use more replicates."
        )
    if partial := sorted({cell.system for cell in cells if 0 < cell.networks < replicates}):
        yield (
            "Some means cover only the replicates that have a value (something was delivered, a "
            f"fault was recovered from): {', '.join(partial)}."
        )


def _depends_on_few(cell: ResultCell) -> bool:
    """Whether to note that most replicates have the same value of a metric that is judged.

    A value that all replicates share is constant by design (a table's size), except for shares: a
    rare loss may have been missed.
    """
    if cell.metric not in _JUDGED or cell.networks < 2:
        return False
    values = [value for value in cell.values if math.isfinite(value)]
    equal = Counter(values).most_common(1)[0][1]
    return 2 * equal > len(values) and (equal < len(values) or guard_of(cell.metric) is None)


def _drawn(scenario: Scenario) -> str:
    fixed = isinstance(scenario.network, FromFile | Recorded)
    drawn = [*(() if fixed else ("network",)), "roles", "publications", "losses"]
    drawn += ["faults"] if scenario.faults else []
    return ", ".join(drawn[:-1]) + f" and {drawn[-1]}"
