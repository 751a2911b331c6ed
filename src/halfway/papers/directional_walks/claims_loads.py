"""Judges of paper 1's Figures 7 to 9 [drw §4.3]: the loads of nodes by the paths of walks, as
printed and under other interpretations of pairs and weights, and how well they are balanced.
"""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import (
    EXTREME_TOLERANCE,
    FAR,
    LOAD_TOLERANCE,
    NEAR,
    VERY_NEAR,
    percent,
)
from halfway.papers.directional_walks.claims import HERE, SIZES, WALKS, statistic
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import Judged, judge_number, judge_order, judge_range
from halfway.pipeline.reproduction.published import Published, published
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

_row = partial(Verdict, "directional-walks")

PRINTED_PERMUTATIONS = 100  # [drw Fig. 9] 10 networks x 10 permutations
SIZES_LOAD = (*SIZES, 3500)  # Figures 7 and 8
BALANCES = (("gini", "Gini coefficient"), ("largest / mean", "largest / mean"))
PATH_INTERPRETATIONS = {
    **dict.fromkeys(WALKS, "heard"),
    "shortest-path": "true shortest paths, with a random choice among equal paths",
    "breadth-first-tree": "paths in one breadth-first tree with a random root",
}
# Other interpretations of Figures 7 and 8: system, pairs, owner of the raised weights.
LOAD_INTERPRETATIONS = (
    ("directional-walk", "both ways", "walk"),
    ("random-walk", "both ways", "walk"),
    ("directional-walk", "permutation", "node"),
)


def judge_figure_7(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 7 of directional walks: [drw §4.3] median and mean loads as printed; the
    centralised column is impossible."""
    for row, system in _columns("figure-7"):
        seen = summaries.find("load", n=row.cell["n"], system=system)
        estimate = statistic(seen, row.metric.split()[0])
        judged = _impossible(summaries, row, system) or judge_number(
            row.value, *estimate, relative=LOAD_TOLERANCE, rounding=row.rounding
        )
        yield _row(
            "figure-7", {**row.cell, "system": system}, row.metric, row.value, *estimate,
            seen.networks, PATH_INTERPRETATIONS[system], *judged,
        )  # fmt: skip


def judge_figure_8(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 8 of directional walks [drw §4.3]: the largest loads as printed.

    The smallest load is 2 by construction: every node is once a source and once a target.
    """
    for row, system in _columns("figure-8"):
        if row.metric == "minimum load":
            continue
        seen = summaries.find("largest load", n=row.cell["n"], system=system)
        yield _row(
            "figure-8", {**row.cell, "system": system}, row.metric, row.value, seen.maximum, None,
            None, seen.networks,
            f"{PATH_INTERPRETATIONS[system]}; maximum over all nodes, permutations and networks, "
            "without an interval",
            *(_impossible(summaries, row, system) or judged_maximum(row, seen)),
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


def judge_figure_9(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 9 of directional walks: [drw §4.3] how well each way of building paths balances
    the load, alone and against the others."""
    for system, claim, most in (
        ("random-walk", "the mean and median are very close", VERY_NEAR),
        ("directional-walk", "good at balancing the load", NEAR),
    ):
        for n in SIZES_LOAD:
            seen = summaries.find("load", n=n, system=system)
            skew = seen.mean / seen.median
            yield _row(
                "figure-9", {"n": n, "system": system}, "mean / median load", claim, skew,
                None, None, seen.networks, f"heard; within {percent(most)}; without an interval",
                "agrees" if abs(skew - 1) <= most else "differs",
                f"the mean is {skew - 1:+.0%} off the median".replace("%", " %"),
            )  # fmt: skip
    for n in SIZES_LOAD:
        yield from _balance(summaries, n)
    for system in ("shortest-path", "breadth-first-tree"):
        for n in SIZES_LOAD:
            seen = summaries.find("largest load", n=n, system=system)
            share = (seen.mean / n, seen.mean_low / n, seen.mean_high / n)
            yield _row(
                "figure-9", {"n": n, "system": system}, "largest load / n",
                "route close to half of the traffic", *share, seen.networks,
                f'{PATH_INTERPRETATIONS[system]}; "close" means within {percent(NEAR)}',
                *judge_range(0.5 * (1 - NEAR), 0.5 * (1 + NEAR), *share, rounding=0.0),
            )  # fmt: skip


def _balance(summaries: Summaries, n: int) -> Iterator[Verdict]:
    """Judge the balance of the loads of directional walks against the others, paired by network."""
    for metric, what in BALANCES:
        at = partial(summaries.find, metric, n=n)
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
            f'heard; "almost" means at most {percent(VERY_NEAR)} more',
            *judge_order(*share, equal=1 + VERY_NEAR),
        )  # fmt: skip


def _impossible(summaries: Summaries, row: Published, system: str) -> Judged | None:
    """Return why a printed column of loads cannot be shortest paths, in claims on directional
    walks, or None if its mean load is about theirs.

    A mean load is the mean number of nodes on a path, and a shortest path has the fewest nodes
    between its ends: the measured value is that of such a column, up to the choice of networks.
    """
    if system != "shortest-path":
        return None
    seen = summaries.find("load", n=row.cell["n"], system="shortest-path")
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


def _at(summaries: Summaries, cell: dict[str, Scalar], metric: str) -> Summary:
    return summaries.find(metric, **cell)


def judge_load_interpretations(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figures 7 and 8 of directional walks [drw §4.3] under other interpretations:
    pairs both ways, and raised weights that belong to the nodes.
    """
    for system, pairing, weights in LOAD_INTERPRETATIONS:
        variant: dict[str, Scalar] = {"pairing": pairing, "weights": weights}
        words = f"heard; pairs: {pairing}; weights of the {weights}"
        for figure in ("figure-7", "figure-8"):
            for row in published(HERE / f"{figure}.csv"):
                if row.cell["system"] != system or row.metric == "minimum load":
                    continue
                at = partial(_at, summaries, {"n": row.cell["n"], "system": system, **variant})
                if figure == "figure-8":
                    seen = at("largest load")
                    estimate: tuple[float, float | None, float | None] = (seen.maximum, None, None)
                    judged = judged_maximum(row, seen)
                else:
                    seen = at("load")
                    value, low, high = estimate = statistic(seen, row.metric.split()[0])
                    judged = judge_number(
                        row.value, value, low, high, relative=LOAD_TOLERANCE, rounding=row.rounding
                    )
                yield Verdict(
                    "directional-walks", "figures-7-8-interpretations", {**row.cell, **variant},
                    row.metric, row.value, *estimate, seen.networks, words, *judged,
                )  # fmt: skip
