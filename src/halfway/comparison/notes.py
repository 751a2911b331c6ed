"""What belongs under a comparison's table: how its numbers came about, and what they leave out."""

from collections import Counter
from collections.abc import Sequence

from halfway.comparison.compared import Cell
from halfway.scenario.schema import FromFile, Recorded, Scenario

_FEWEST = 2  # replicates, below which there is no interval anyway


def notes_of(
    scenario: Scenario, ended: str, cells: Sequence[Cell], replicates: int
) -> tuple[str, ...]:
    """Notes, the ones about statistics first; ended: why no more replicates were added, or ""."""
    notes = [
        f"{replicates} replicates: each draws its own {_drawn(scenario)}, the same for every "
        "system; intervals are 95 %, Student's t over replicates, and differences are paired.",
        "A system is marked best only where its paired difference to every other excludes 0 at a "
        "level divided by the number of others (Bonferroni, within each metric), and where it has "
        "a value in every replicate.",
        "Latency, stretch and costs per notification are of what was delivered: read them beside "
        "the delivered share.",
        f"Nodes learn of their neighbours by hellos, {_hellos(scenario)}; hellos cost nothing in "
        "any column.",
    ]
    if ended:
        notes.append(ended)
    if rare := sorted({cell.system for cell in cells if _hangs_on_few(cell)}):
        notes.append(
            f"{', '.join(rare)}: fewer than half of the replicates differ in what is delivered, so "
            "rare losses decide, and the interval holds the truth less often than 95 %: take more "
            "replicates where that matters."
        )
    partial = sorted({cell.system for cell in cells if 0 < cell.networks < replicates})
    if partial:
        notes.append(
            f"{', '.join(partial)}: some metrics have a value in some replicates only (nothing "
            "arrived, no fault was recovered from, or a run failed); their means are over those."
        )
    return tuple(notes)


def _hangs_on_few(cell: Cell) -> bool:
    """Whether most replicates delivered the very same share."""
    if cell.metric != "delivery-ratio" or cell.networks < _FEWEST:
        return False
    return 2 * Counter(cell.values).most_common(1)[0][1] > cell.networks


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
