"""What belongs under a comparison's table: how its numbers came about, and what they leave out."""

import math
from collections import Counter
from collections.abc import Sequence

from halfway.comparison.estimates import AS_MUCH
from halfway.comparison.metrics import METRICS
from halfway.comparison.results import Cell
from halfway.scenario.schema import FromFile, Recorded, Scenario

_TWO = 2  # replicates, below which there is no interval anyway
_JUDGED = {metric.name for metric in METRICS if metric.better}
_LOSSES = ("delivery-ratio", "recovered")  # shares that rare losses take from


def notes_of(
    scenario: Scenario, ended: str, cells: Sequence[Cell], replicates: int
) -> tuple[str, ...]:
    """Notes, the ones about statistics first; ended: why no more replicates were added, or ""."""
    notes = [
        f"{replicates} replicates: each draws its own {_drawn(scenario)}, the same for every "
        "system; intervals are 95 %, Student's t widened where values are skewed (Hall 1992), ± "
        "tells their longer side, and differences are paired.",
        "A system is marked best only where its paired difference to every other excludes 0 at a "
        "level divided by the number of others (Bonferroni, within each metric and point), and "
        "where it has a value in every replicate. Who delivers less than the best deliverer by "
        f"more than {AS_MUCH:g}, on the average, is marked nowhere else and stands in nobody's "
        "way, as doing nothing is cheap; for recovery, likewise, who recovers less often.",
        "Differences to the baseline, and what is called better or worse there, are at 95 % for "
        "each pair alone, without such a correction.",
        "Latency, stretch and costs per notification are of what was delivered: read them beside "
        "the delivered share.",
        f"Nodes learn of their neighbours by hellos, {_hellos(scenario)}; hellos cost nothing in "
        "any column.",
    ]
    if ended:
        notes.append(ended)
    rare: dict[str, dict[str, None]] = {}
    for cell in cells:
        if _hangs_on_few(cell):
            rare.setdefault(cell.system, {})[cell.metric] = None
    if rare:
        told = "; ".join(f"{system} in {', '.join(metrics)}" for system, metrics in rare.items())
        notes.append(
            f"{told}: more than half of the replicates have the very same value, so rare ones "
            "decide, and the interval holds the truth less often than 95 %: take more replicates "
            "where that matters."
        )
    partial = sorted({cell.system for cell in cells if 0 < cell.networks < replicates})
    if partial:
        notes.append(
            f"{', '.join(partial)}: some metrics have a value in some replicates only (nothing "
            "arrived, no fault was recovered from, or a run failed); their means are over those."
        )
    return tuple(notes)


def _hangs_on_few(cell: Cell) -> bool:
    """Whether most replicates have the very same value of what a system can be better in.

    What all have alike is so by construction (a table's size), but for shares: of these, a rare
    loss may have been missed.
    """
    if cell.metric not in _JUDGED or cell.networks < _TWO:
        return False
    own = [value for value in cell.values if math.isfinite(value)]
    alike = Counter(own).most_common(1)[0][1]
    return 2 * alike > len(own) and (alike < len(own) or cell.metric in _LOSSES)


def _drawn(scenario: Scenario) -> str:
    drawn = ["roles", "publications", "losses"]
    if not isinstance(scenario.network, FromFile | Recorded):
        drawn.insert(0, "network")
    if scenario.faults:
        drawn.append("faults")
    return ", ".join(drawn[:-1]) + f" and {drawn[-1]}"


def _hellos(scenario: Scenario) -> str:
    if scenario.hello_s == 0.0:
        return "and of a change at once"
    return f"and of a change {scenario.hello_s:g} s late"
