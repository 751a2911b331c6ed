"""How often a decision is wrong: studies of invented systems, and halves of a real comparison.

`python -m tests.comparison.decisions` prints the tables of docs/comparing.md.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.evaluation.comparison_results import (
    Decision,
    DecisionRule,
    MeanInterval,
    Need,
    ResultCell,
)
from halfway.comparison.evaluation.decision import decide
from halfway.comparison.evaluation.metrics import METRICS
from tests.comparison.studies import observed

Floats = npt.NDArray[np.float64]
STUDIES = 2_000
MOST, DECISIONS = 200, 4  # replicates and decisions of a study that follows its sentences
NEED = 0.95
REPLICATES = (3, 10, 30)
STATED = DecisionRule((Need("delivery-ratio", NEED),), "energy")
DEFAULT = DecisionRule((), "energy")
_METRICS = [one for one in METRICS if one.name in ("delivery-ratio", "energy")]
_UNKNOWN = float("nan")


class Case(NamedTuple):
    """The true mean delivery ratio and energy of each invented system.

    erratic: systems that lose a quarter in some networks, and nothing in the others.
    """

    delivery: Sequence[float]
    energy: Sequence[float]
    erratic: Sequence[int] = ()


CASES = {
    "equal systems": Case([0.97] * 4, [1.0] * 4),
    "near ties": Case([0.98] * 5, [1.0, 1.02, 1.05, 1.1, 2.0]),
    "cheap ones just below the need": Case([0.9499] * 3 + [0.98], [0.5] * 3 + [1.0]),
    "the cheapest just meets it": Case([0.95, 0.98, 0.98, 0.98], [0.5, 1.0, 1.0, 1.0]),
    "all just below the need": Case([0.9499] * 6, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]),
    "clear": Case([0.99, 0.98, 0.5, 0.9], [2.0, 1.0, 0.1, 0.3]),
    "twelve": Case([0.99] * 6 + [0.9499] * 6, np.linspace(1.0, 1.5, 12).tolist()),
    "cheap ones just beyond 0.02": Case([0.985] + [0.9649] * 4, [1.0] + [0.5] * 4),
    "beside an erratic one": Case([0.985] + [0.9649] * 4 + [0.97], [1.0] + [0.5] * 4 + [2.0], (5,)),
}
# Also with `DEFAULT`.
WITHOUT_NEED = (
    "equal systems", "clear", "cheap ones just beyond 0.02", "beside an erratic one"
)  # fmt: skip
LAWS = {
    "a share of 200; normal": ("share of 200", "normal"),
    "a share of 30; log-normal": ("share of 30", "log-normal"),
    "beta; exponential": ("beta", "exponential"),
    "rare losses; normal": ("rare losses", "normal"),
    "varies with the network": ("network", "network"),
}
# Two and 24 systems, of which the cheap half just misses the need, with laws of a long tail.
SKEWED_CASES = {
    "two": Case([0.9499, 0.98], [0.5, 1.0]),
    "24": Case([0.9499] * 12 + [0.98] * 12, [0.5] * 12 + np.linspace(1.0, 1.5, 12).tolist()),
}
SKEWED_REPLICATES = (5, 20, 100)
SKEWED_LAWS = {
    "a share of 200; log-normal, σ = 1": ("share of 200", "long log-normal"),
    "skewed beta; Pareto, α = 2.5": ("skewed beta", "Pareto"),
}
# Losses that a decision assumes not to happen: see the limits in docs/comparing.md.
GREAT_LOSSES = {
    "a quarter is lost in one network of five; normal": ("erratic", "normal"),
    "half is lost in one network of ten; normal": ("half", "normal"),
    "all is lost in one network of twenty; normal": ("all", "normal"),
}


class Errors(NamedTuple):
    """Shares of studies: the choice misses the need, the best is excluded, nothing is chosen."""

    misses: float
    excluded: float
    undecided: float
    named: float  # exactly one system is left

    @property
    def wrong(self) -> float:
        return self.misses + self.excluded


def errors(
    case: Case, laws: tuple[str, str], replicates: int, rule: DecisionRule, studies: int,
    *, most: int = 0,
) -> Errors:  # fmt: skip
    """Decisions of many studies of one case, compared with the truth.

    most: a study without a choice gets the replicates that its sentence names, at most that many,
    and so on: up to `DECISIONS` decisions on one question.
    """
    generator = np.random.default_rng([replicates, len(case.energy), len(rule.needs)])
    names = [f"system-{k}" for k in range(len(case.energy))]
    least = NEED if rule.needs else max(case.delivery) - 0.02
    able = {name for name, one in zip(names, case.delivery, strict=True) if one >= least - 1e-9}
    energy = dict(zip(names, case.energy, strict=True))
    best = {name for name in able if energy[name] == min(energy[one] for one in able)}
    counts = np.zeros(4)
    for _ in range(studies):
        network = generator.uniform(-1.0, 1.0, max(replicates, most))
        delivery = [
            _delivery(generator, "erratic" if k in case.erratic else laws[0], mean, network)
            for k, mean in enumerate(case.delivery)
        ]
        spent = [_energy(generator, laws[1], mean, network) for mean in case.energy]
        asked, count = list[int](), replicates
        found = _first(count, names, delivery, spent, rule)
        while (advised := _advised(found, most)) > count and len(asked) + 1 < DECISIONS:
            asked.append(count)
            count = advised
            found = _first(count, names, delivery, spent, rule, asked)
        misses = found.chosen is not None and found.chosen not in able
        excluded = bool(best) and not best & left(found)
        counts += (misses, excluded and not misses, found.chosen is None, len(left(found)) == 1)
    return Errors(*(counts / studies).tolist())


def _first(
    count: int, names: Sequence[str], delivery: Sequence[Floats], spent: Sequence[Floats],
    rule: DecisionRule, asked: Sequence[int] = (),
) -> Decision:  # fmt: skip
    """The decision from the first replicates of a study; asked: those of the earlier decisions."""
    values = {
        "delivery-ratio": [one[:count] for one in delivery],
        "energy": [one[:count] for one in spent],
    }
    return decide(0, _METRICS, list(cells(names, values)), rule, asked)


def _advised(found: Decision, most: int) -> int:
    """The replicates that the sentence of a decision without a choice names; 0 for none."""
    needed = [one.replicates_needed for one in found.systems if one.replicates_needed]
    return min(*needed, most) if needed and found.chosen is None else 0


def left(decision: Decision) -> set[str]:
    """The systems among which the cheapest one that meets the needs is said to be."""
    return {one.system for one in decision.systems if one.verdict not in ("fails", "costs more")}


def cells(names: Sequence[str], values: Mapping[str, Sequence[Floats]]) -> Iterator[ResultCell]:
    """Cells of one point with these values; their intervals are not needed."""
    for metric, columns in values.items():
        for name, column in zip(names, columns, strict=True):
            mean = MeanInterval(float(np.nanmean(column)), _UNKNOWN, _UNKNOWN)
            whole = tuple(column.tolist())
            yield ResultCell(0, name, metric, mean, len(column), None, False, whole)


def _delivery(generator: np.random.Generator, law: str, mean: float, network: Floats) -> Floats:
    size = len(network)
    match law:
        case "share of 200" | "share of 30":
            events = int(law.removeprefix("share of "))
            return generator.binomial(events, mean, size) / events
        case "beta":
            return generator.beta(40.0 * mean, 40.0 * (1.0 - mean), size)
        case "skewed beta":
            return generator.beta(8.0 * mean, 8.0 * (1.0 - mean), size)
        case "erratic" | "half" | "all":
            loss = {"erratic": 0.25, "half": 0.5, "all": 1.0}[law]
            return 1.0 - loss * (generator.random(size) < (1.0 - mean) / loss)
        case "rare losses":  # a tenth is lost on average, where something is lost
            lossy = generator.random(size) < min(1.0, (1.0 - mean) / 0.1)
            return np.where(lossy, 1.0 - generator.beta(2.0, 18.0, size), 1.0)
    return mean + 0.5 * (1.0 - mean) * network


def _energy(generator: np.random.Generator, law: str, mean: float, network: Floats) -> Floats:
    size = len(network)
    match law:
        case "normal":
            return mean * (1.0 + 0.1 * generator.normal(size=size))
        case "log-normal":
            return mean * generator.lognormal(-0.125, 0.5, size)
        case "long log-normal":
            return mean * generator.lognormal(-0.5, 1.0, size)
        case "exponential":
            return mean * generator.exponential(size=size)
        case "Pareto":
            return mean * (1.0 + generator.pareto(2.5, size)) * 1.5 / 2.5
    return mean * (1.0 + 0.3 * network) * (1.0 + 0.02 * generator.normal(size=size))


def table(studies: int, most: int = 0) -> Iterator[tuple[str, int, Errors]]:
    """Law, replicates, and the worst of all cases and both rules, by wrong decisions.

    most: as of `errors`; only studies of ten replicates then.
    """
    for law, pair in LAWS.items():
        for replicates in (10,) if most else REPLICATES:
            of_cases = [
                errors(case, pair, replicates, rule, studies, most=most)
                for name, case in CASES.items()
                for rule in ((STATED, DEFAULT) if name in WITHOUT_NEED else (STATED,))
            ]  # fmt: skip
            yield law, replicates, max(of_cases, key=lambda one: one.wrong)


def skewed(
    studies: int, laws: Mapping[str, tuple[str, str]] = SKEWED_LAWS
) -> Iterator[tuple[str, str, int, Errors]]:
    """Number of systems, law, replicates, and the errors of `SKEWED_CASES`."""
    for name, case in SKEWED_CASES.items():
        for law, pair in laws.items():
            for replicates in SKEWED_REPLICATES:
                yield name, law, replicates, errors(case, pair, replicates, STATED, studies)


SYSTEMS = ("flooding", "gossip", "counter-broadcast")
RULES = {
    "no need": DecisionRule(),
    "delivery ratio ≥ 0.9, energy": DecisionRule((Need("delivery-ratio", 0.9),), "energy"),
    "delivery ratio ≥ 0.97, messages": DecisionRule((Need("delivery-ratio", 0.97),)),
    "latency p95 ≤ 0.2 s, max node load": DecisionRule(
        (Need("delivery-ratio", 0.8), Need("latency-p95", 0.2)), "max-node-load"
    ),
}


def halves(splits: int, replicates: int = 40) -> dict[str, tuple[float, float]]:
    """Rule -> how often the two halves of a real comparison contradict each other, and decide.

    They do if the choice of one half fails by the other half, or if no system is left by both.
    """
    runs = {system: observed(system, replicates) for system in SYSTEMS}
    found = {}
    for what, rule in RULES.items():
        generator, contradictions, decided = np.random.default_rng(40), 0, 0
        for _ in range(splits):
            order = generator.permutation(replicates)
            half = replicates // 2
            one, other = (_decided(runs, rule, rows) for rows in (order[:half], order[half:]))
            decided += one.chosen is not None
            fails = {ranked.system for ranked in other.systems if ranked.verdict == "fails"}
            contradictions += one.chosen in fails or not left(one) & left(other)
        found[what] = (contradictions / splits, decided / splits)
    return found


def _decided(
    runs: Mapping[str, Mapping[str, Floats]], rule: DecisionRule, rows: npt.NDArray[np.int64]
) -> Decision:
    metrics = [one for one in METRICS if one.name in runs[SYSTEMS[0]]]
    values = {one.name: [runs[system][one.name][rows] for system in SYSTEMS] for one in metrics}
    return decide(0, metrics, list(cells(SYSTEMS, values)), rule)


def main() -> None:
    """Print the tables."""
    for most in (0, MOST):
        for law, replicates, one in table(STUDIES, most):
            count = f"{replicates} to {most}" if most else f"{replicates}"
            sys.stdout.write(
                f"| {law} | {count} | {100.0 * one.wrong:.1f} % | {100.0 * one.misses:.1f} % | "
                f"{100.0 * one.excluded:.1f} % |\n"
            )
            sys.stdout.flush()
    for laws in (SKEWED_LAWS, GREAT_LOSSES):
        for name, law, replicates, one in skewed(STUDIES, laws):
            shares = f"{100.0 * one.wrong:.1f} % | {100.0 * one.misses:.1f} %"
            sys.stdout.write(f"| {name} | {law} | {replicates} | {shares} |\n")
            sys.stdout.flush()
    for what, (contradicted, decided) in halves(1_000).items():
        shares = f"{100.0 * contradicted:.1f} % | {100.0 * decided:.1f} %"
        sys.stdout.write(f"| {what} | {shares} |\n")


if __name__ == "__main__":
    main()
