"""What a reader must know of one comparison: its radio, its systems, what its runs ran into."""

from collections.abc import Iterator, Mapping, Sequence

from halfway.comparison.finding import Ran
from halfway.comparison.metrics import LATE, SATURATED, SHORTFALL
from halfway.scenario.schema import Scenario
from halfway.sim.radio.declarations import DistanceAir, IdealAir

_RUMOR = "rumor"
_TREES = ("siena", "underlay-siena")


def caveats(
    scenarios: Sequence[Scenario], systems: Sequence[str], runs: Sequence[Ran]
) -> tuple[str, ...]:
    """Notes about a comparison; scenarios: of its points, systems: that ran."""
    return (
        *_of_radio(scenarios), *_of_rumor(scenarios, systems), *_of_trees(systems), *_of_runs(runs)
    )  # fmt: skip


def _of_radio(scenarios: Sequence[Scenario]) -> Iterator[str]:
    if any(isinstance(one.radio, IdealAir | DistanceAir) for one in scenarios):
        yield (
            "Nobody overhears on a radio without contention: a record for one neighbour is heard, "
            "paid for and counted by that one, a record for everybody by all neighbours. This "
            "favours walks and trees in energy, hottest, busiest and Gini."
        )


def _of_rumor(scenarios: Sequence[Scenario], systems: Sequence[str]) -> Iterator[str]:
    if _RUMOR not in systems:
        return
    publishers = max(one.workload.publishers_each for one in scenarios)
    if publishers > 1:
        yield (
            f"{_RUMOR}: as in its paper, a query ends at one publisher of its topic, and of up to "
            f"{publishers} here a subscriber hears that one, and whoever sends through it."
        )
    if any(_lossy(one) for one in scenarios):
        yield (
            f"{_RUMOR}: its agents and queries are not acknowledged, so a walk ends at its first "
            "loss: after some ten steps where one record in ten is lost."
        )


def _of_trees(systems: Sequence[str]) -> Iterator[str]:
    if trees := [name for name in _TREES if name in systems]:
        yield (
            f"{', '.join(trees)}: brokers begin with their parents and all paths to them known; no "
            "column has the messages that would find them."
        )


def _lossy(scenario: Scenario) -> bool:
    radio = scenario.radio
    if not isinstance(radio, IdealAir | DistanceAir):
        return False  # a contended radio repeats what one neighbour did not hear
    return radio.success < 1.0 or radio.ratios is not None


def _of_runs(runs: Sequence[Ran]) -> Iterator[str]:
    """What the runs counted beside the metrics, which are silent about it."""
    if late := _told(_totals(runs, LATE)):
        yield (
            f"{late} notifications of events that `window` newer ones had followed; where nothing "
            "came before, they are missing from what is delivered: a larger window has them."
        )
    if saturated := _told(_totals(runs, SATURATED)):
        yield (
            f"{saturated} nodes sent and heard for longer than there was time: a medium that is "
            "shared would have lost some of it."
        )
    shortfalls = {name for ran in runs for name in ran.observed if name.startswith(SHORTFALL)}
    for name in sorted(shortfalls):
        yield (
            f"{_told(_totals(runs, name))} {name.removeprefix(SHORTFALL)}, counted by the system "
            "itself: notifications may have died of it."
        )


def _totals(runs: Sequence[Ran], name: str) -> Mapping[str, float]:
    """System -> what all its runs counted under a name, where that is above 0."""
    found: dict[str, float] = {}
    for ran in runs:
        for value in ran.observed.get(name, ()):
            found[ran.system] = found.get(ran.system, 0.0) + value
    return found


def _told(totals: Mapping[str, float]) -> str:
    """Such as "gossip: 12, rumor: 3"; "" where there is nothing."""
    return ", ".join(f"{system}: {total:,.0f}" for system, total in totals.items())
