"""Judges of paper 1 (directional walks): every printed number, and every claim of §4."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from pathlib import Path

from halfway.papers.claims.thresholds import (
    DEGREE_TOLERANCE,
    EXTREME_TOLERANCE,
    FAR,
    HARD,
    LOAD_TOLERANCE,
    MUCH,
    NEAR,
    STEPS_TOLERANCE,
    VERY_NEAR,
    percent,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.estimates import ratio
from halfway.pipeline.reproduction.figures import Summaries, Summary
from halfway.pipeline.reproduction.judge import (
    Judged,
    judge_number,
    judge_order,
    judge_range,
    judge_ratio,
)
from halfway.pipeline.reproduction.published import Published, published
from halfway.pipeline.reproduction.verdict import Verdict

HERE = Path(__file__).parent
_row = partial(Verdict, "directional-walks")
_Estimate = tuple[float, float, float]  # value and its 95 % interval

STEPS_A_NODE = 200  # of a lone walk, for each node of its network
PRINTED_PERMUTATIONS = 100  # [drw Fig. 9] 10 networks x 10 permutations

SIZES = (1500, 2000, 2500, 3000)  # [drw §4] Figure 6
SIZES_BOXES = (*SIZES, 3500, 4000)  # Figure 5
SIZES_LOAD = (*SIZES, 3500)  # Figures 7 and 8
WALKS = ("directional-walk", "random-walk")
BALANCES = (("gini", "Gini coefficient"), ("largest / mean", "largest / mean"))
PATH_INTERPRETATIONS = {
    **dict.fromkeys(WALKS, "heard"),
    "shortest-path": "true shortest paths, ties at random",
    "breadth-first-tree": "paths in one breadth-first tree with a random root",
}


def judge_visits(found: Summaries) -> Iterator[Verdict]:
    """Judge the claim of directional walks [drw §3] that a walk visits every node."""
    for n in SIZES:
        seen = found.find("visited", n=n)
        judged: Judged = "differs", f"a walk visits only {seen.minimum:.4f} of the nodes"
        if seen.minimum == 1.0:
            judged = "agrees", f"each of {seen.units} walks visits every node"
        yield _row(
            "section-3", {"n": n}, "share of the nodes that a lone walk visits",
            "eventually visits all the nodes in the network", *statistic(seen, "mean"),
            seen.networks, f"eventually: within {STEPS_A_NODE} n steps",
            *judged,
        )  # fmt: skip


def judge_networks(found: Summaries) -> Iterator[Verdict]:
    """Judge the networks of directional walks: [drw §4] mean numbers of neighbours as printed, and
    how rare connected draws are.
    """
    for n, printed in zip(SIZES, (7.5, 10.0, 12.5, 15.0), strict=True):
        seen = found.find("degree", n=n)
        estimate = statistic(seen, "mean")
        yield _row(
            "section-4", {"n": n}, "mean degree", printed, *estimate, seen.networks,
            "nodes near the border have fewer neighbours than n π r²",
            *judge_number(printed, *estimate, relative=DEGREE_TOLERANCE, rounding=0.05),
        )  # fmt: skip
    seen = found.find("draws", n=1500)
    # At least one draw is needed, even where the interval of the mean ends below 1.
    share = (1 / seen.mean, 1 / seen.mean_high, 1 / max(seen.mean_low, 1.0))
    yield _row(
        "section-4", {"n": 1500}, "share of draws that are connected",
        "hard to obtain connected networks", *share, seen.networks,
        f"1 / mean draws until one is connected, at 1500; hard: below {percent(HARD)}",
        *judge_order(*share, equal=HARD),
    )  # fmt: skip


def judge_figure_5(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 5 of directional walks: [drw §4.1] directionality decreases the time to
    intersection, and concentrates it."""
    at = partial(found.find, "steps", k=1, reading="heard")
    for n in SIZES_BOXES:
        pure, directed = at(n=n, system="random-walk"), at(n=n, system="directional-walk")
        for statistic in ("median", "mean"):
            factor = ratio(pure, directed, statistic)
            yield _row(
                "figure-5", {"n": n}, f"{statistic} steps, random / directional",
                "a multiplicative factor of 6-10", *factor, pure.networks, "heard",
                *judge_range(6, 10, *factor),
            )  # fmt: skip
    for n in SIZES_BOXES:
        yield from _concentrated(found, n)
    for system in WALKS:
        last, before = (at(n=n, system=system) for n in (SIZES_BOXES[-1], SIZES_BOXES[-2]))
        change, low, high = ratio(last, before, "median")
        fall = (1 - change, 1 - high, 1 - low)
        yield _row(
            "figure-5", {"system": system}, "fall of the median steps, n = 3500 to n = 4000",
            "seems to converge as we increase the density", *fall, last.networks,
            f"heard; converged: the last 500 nodes lower it by less than {percent(VERY_NEAR)}",
            *judge_order(*fall, equal=VERY_NEAR),
        )  # fmt: skip


def _concentrated(found: Summaries, n: int) -> Iterator[Verdict]:
    """Judge the boxes of directional walks, in steps and relative to their own medians."""
    for metric, meaning in (("box", "in steps"), ("relative box", "relative to the median")):
        at = partial(found.find, metric, k=1, reading="heard", n=n)
        share = ratio(at(system=WALKS[0]), at(system=WALKS[1]), "mean")
        yield _row(
            "figure-5", {"n": n}, f"interquartile range {meaning}, directional / random",
            "much more concentrated", *share, at(system=WALKS[0]).networks,
            f"heard; of the pairs of a network, {meaning}; much: a factor of {MUCH:g}",
            *judge_order(*share, equal=1 / MUCH),
        )  # fmt: skip


def judge_step_lengths(found: Summaries) -> Iterator[Verdict]:
    """Judge, for Figure 5 of directional walks, whether shorter steps explain the constant time to
    a meeting.
    """
    for system, (less, more) in product(WALKS, pairwise(SIZES_BOXES)):
        before, after = (found.find("length / radius", n=n, system=system) for n in (less, more))
        yield judge_ratio(
            "directional-walks", "step-lengths", {"n": f"{more} / {less}", "system": system},
            "mean length of a step, more / less dense", "the length of the steps decreases",
            after, before, "of all steps of both walks until they meet",
        )  # fmt: skip


def judge_figure_6(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 6 of directional walks [drw §4.2]: all 48 printed numbers, and the claim that k
    = 1 takes the fewest steps.
    """
    yield from _printed_steps(found, "figure-6", "heard")
    for system in WALKS:
        for n in SIZES:
            at = partial(found.find, "steps", n=n, system=system, reading="heard")
            for k in (10, 100):
                share = ratio(at(k=1), at(k=k), "mean")
                cell: dict[str, Scalar] = {"n": n, "system": system, "k": k}
                yield _row(
                    "figure-6", cell, f"mean steps, k = 1 / k = {k}",
                    "the smallest time to intersection with k = 1",
                    *share, at(k=1).networks, "heard", *judge_order(*share),
                )  # fmt: skip


def judge_figure_6_stepped_on(found: Summaries) -> Iterator[Verdict]:
    """Judge directional walks' 48 numbers of Figure 6 in the other interpretation of "meet"."""
    yield from _printed_steps(found, "figure-6-stepped-on", "stepped-on")


def _printed_steps(found: Summaries, figure: str, interpretation: str) -> Iterator[Verdict]:
    for row in published(HERE / "figure-6.csv"):
        seen = found.find("steps", reading=interpretation, **row.cell)
        estimate = statistic(seen, row.metric.split()[0])
        yield _row(
            figure, row.cell, row.metric, row.value, *estimate, seen.networks, interpretation,
            *judge_number(row.value, *estimate, relative=STEPS_TOLERANCE, rounding=row.rounding),
        )  # fmt: skip


def judge_figure_7(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 7 of directional walks: [drw §4.3] median and mean loads as printed; the
    centralised column is impossible."""
    for row, system in _columns("figure-7"):
        seen = found.find("load", n=row.cell["n"], system=system)
        estimate = statistic(seen, row.metric.split()[0])
        judged = _impossible(found, row, system) or judge_number(
            row.value, *estimate, relative=LOAD_TOLERANCE, rounding=row.rounding
        )
        yield _row(
            "figure-7", {**row.cell, "system": system}, row.metric, row.value, *estimate,
            seen.networks, PATH_INTERPRETATIONS[system], *judged,
        )  # fmt: skip


def judge_figure_8(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 8 of directional walks [drw §4.3]: the largest loads as printed.

    The smallest load is 2 by construction: every node is once a source and once a target.
    """
    for row, system in _columns("figure-8"):
        if row.metric == "minimum load":
            continue
        seen = found.find("largest load", n=row.cell["n"], system=system)
        yield _row(
            "figure-8", {**row.cell, "system": system}, row.metric, row.value, seen.maximum, None,
            None, seen.networks,
            f"{PATH_INTERPRETATIONS[system]}; of all nodes, permutations, networks: no interval",
            *(_impossible(found, row, system) or judged_maximum(row, seen)),
        )  # fmt: skip


def judged_maximum(row: Published, seen: Summary) -> Judged:
    """Judge a maximum load of directional walks, which depends on one bottleneck of one network,
    drawn once on each side.
    """
    off = f"{seen.maximum / row.value - 1:+.1%} from the printed value".replace("%", " %")
    span = f"the permutations' own maxima run from {seen.minimum:.0f} to {seen.maximum:.0f}"
    if seen.units < PRINTED_PERMUTATIONS:
        few = f"of {seen.units} permutations here, of {PRINTED_PERMUTATIONS} there"
        return "not comparable", f"{off}; the largest {few}"
    if abs(seen.maximum - row.value) <= EXTREME_TOLERANCE * row.value:
        return "agrees", f"{off}, inside ±{100 * EXTREME_TOLERANCE:.0f} %"
    if seen.minimum <= row.value <= seen.maximum:
        return "not comparable", f"{off}; {span}"
    return "differs", f"{off}; {span}"


def _columns(figure: str) -> Iterator[tuple[Published, str]]:
    """Yield a table's printed values of directional walks by column, each with a system to compare
    with.

    The centralised column may mean either of two systems.
    """
    for system in PATH_INTERPRETATIONS:
        column = "shortest-path" if system == "breadth-first-tree" else system
        for row in published(HERE / f"{figure}.csv"):
            if row.cell["system"] == column:
                yield row, system


def judge_figure_9(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 9 of directional walks: [drw §4.3] how well each way of building paths balances
    the load, alone and against the others."""
    for system, claim, most in (
        ("random-walk", "the mean and median are very close", VERY_NEAR),
        ("directional-walk", "good at balancing the load", NEAR),
    ):
        for n in SIZES_LOAD:
            seen = found.find("load", n=n, system=system)
            skew = seen.mean / seen.median
            yield _row(
                "figure-9", {"n": n, "system": system}, "mean / median load", claim, skew,
                None, None, seen.networks, f"heard; within {percent(most)}; no interval",
                "agrees" if abs(skew - 1) <= most else "differs",
                f"the mean is {skew - 1:+.0%} off the median".replace("%", " %"),
            )  # fmt: skip
    for n in SIZES_LOAD:
        yield from _balance(found, n)
    for system in ("shortest-path", "breadth-first-tree"):
        for n in SIZES_LOAD:
            seen = found.find("largest load", n=n, system=system)
            share = (seen.mean / n, seen.mean_low / n, seen.mean_high / n)
            yield _row(
                "figure-9", {"n": n, "system": system}, "largest load / n",
                "route close to half of the traffic", *share, seen.networks,
                f"{PATH_INTERPRETATIONS[system]}; close: within {percent(NEAR)}",
                *judge_range(0.5 * (1 - NEAR), 0.5 * (1 + NEAR), *share, rounding=0.0),
            )  # fmt: skip


def _balance(found: Summaries, n: int) -> Iterator[Verdict]:
    """Judge the balance of the loads of directional walks against the others, paired by network."""
    for metric, what in BALANCES:
        at = partial(found.find, metric, n=n)
        walk = at(system="random-walk")
        for system in ("directional-walk", "shortest-path", "breadth-first-tree"):
            share = ratio(walk, at(system=system), "mean")
            yield _row(
                "figure-9", {"n": n, "system": system}, f"{what} of loads, random walk / this",
                "the best strategy to balance the load", *share, walk.networks,
                f"heard; a smaller {what} is a better balance", *judge_order(*share),
            )  # fmt: skip
        share = ratio(at(system="directional-walk"), walk, "mean")
        yield _row(
            "figure-9", {"n": n}, f"{what} of loads, directional / random",
            "almost as efficiently as pure Random Walks", *share, walk.networks,
            f"heard; almost: at most {percent(VERY_NEAR)} more",
            *judge_order(*share, equal=1 + VERY_NEAR),
        )  # fmt: skip


def statistic(seen: Summary, name: str) -> _Estimate:
    """Return the mean or the median of a summary of directional walks, with its interval."""
    if name == "median":
        return seen.median, seen.median_low, seen.median_high
    return seen.mean, seen.mean_low, seen.mean_high


def _impossible(found: Summaries, row: Published, system: str) -> Judged | None:
    """Return why a printed column of loads cannot be shortest paths, in claims on directional
    walks, or None if its mean load is about theirs.

    A mean load is the mean number of nodes on a path, and a shortest path has the fewest nodes
    between its ends: the measured value is that of such a column, up to the choice of networks.
    """
    if system != "shortest-path":
        return None
    seen = found.find("load", n=row.cell["n"], system="shortest-path")
    means = {
        other.cell["system"]: other.value
        for other in published(HERE / "figure-7.csv")
        if other.metric == "mean load" and other.cell["n"] == row.cell["n"]
    }
    printed, walks = means["shortest-path"], means["directional-walk"]
    if printed <= FAR * seen.mean_high:
        return None
    own = f", and the paper's own walks have {walks:g}" if printed > walks else ""
    return "impossible as printed", (
        f"its mean load is a path of {printed:g} nodes; shortest paths have {seen.mean:.0f}{own}: "
        "the column is another system's"
    )
