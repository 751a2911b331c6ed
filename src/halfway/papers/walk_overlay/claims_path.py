"""Paper 2, §VI-A judged: the nodes in the active path (Figure 8), and the statement of §VI that
connected networks are rare.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product

import numpy as np

from halfway.papers.claims.thresholds import HARD, STRAIGHT, VERY_NEAR, percent
from halfway.papers.walk_overlay import paired_estimates
from halfway.papers.walk_overlay.paired_estimates import (
    estimated,
    judge_ratio,
    means,
    slope,
    verdict_row,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_number, judge_order
from halfway.pipeline.reproduction.verdict import Verdict

SIZES = (1000, 2000, 3000)
WALKS = ("directional-walk", "random-walk")
_FEW = (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 75, 100, 250, 500)
COUNTS: dict[int, tuple[int, ...]] = {  # [dwo §VI] total numbers of publishers and subscribers
    1000: (*_FEW, 625, 750, 875),
    2000: (*_FEW, 1000, 1250, 1500, 1750),
    3000: (*_FEW, 1000, 1500, 1875, 2250, 2625),
}
PANELS = {1000: "figure-8ab", 2000: "figure-8cd", 3000: "figure-8ef"}  # directional, pure
PATHS = {  # metric -> the two interpretations of the "active path" [dwo §V-B]
    "active": "active path: all nodes of all walks",
    "needed": "active path: without the nodes that a walk left when it went back (i--)",
}
SETS = 10
NETWORKS = 100
MORE_NODES = "the more nodes we have in the network, the more nodes we have in the active path"
SHOWN = (2, 3, 5, 10, 20, 50, 100, 500)  # counts shown for claims about "all cases"
LOGARITHMIC = tuple(count for count in _FEW if count <= 100)  # n does not bound the path there


def judge_networks(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the statement of paper 2 that connected networks are rare [dwo §VI], as the networks of
    the active path show it.
    """
    seen = summaries.find("draws", n=1000, system=WALKS[0], initiators=2)
    share = (1 / seen.mean, 1 / seen.mean_high, 1 / max(seen.mean_low, 1.0))
    yield verdict_row(
        "section-6", {"n": 1000}, "share of draws that are connected",
        "hard to obtain connected networks", *share, seen.networks,
        "1 / mean number of draws until a network is connected, at n = 1000; "
        f'"hard" means below {percent(HARD)}',
        *judge_order(*share, equal=HARD),
    )  # fmt: skip


def judge_panels(n: int, summaries: Summaries) -> Iterator[Verdict]:
    """Judge one panel of Figure 8 [dwo §VI-A]: the nodes in the active path, at one size."""
    yield from _fewer(n, summaries)
    yield from _straight(n, summaries)
    yield from _reliable(n, summaries)


def judge_reached(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the active path [dwo §VI-A] if equation (4) is taken literally: a node's neighbours
    count from when the walk reaches the node."""
    reached = "equation (4) taken literally: N(v) counts as soon as the walk reaches v"
    for n, count in product(SIZES, SHOWN):
        at = partial(summaries.find, "active", n=n, initiators=count)
        cell: dict[str, Scalar] = {"n": n, "initiators": count}
        walk = at(system=WALKS[0], marking="reached")
        yield judge_ratio(
            "figure-8-reached", cell, "mean active nodes, DRW / PRW",
            "PRWs present larger active paths", walk, at(system=WALKS[1]), reached,
        )  # fmt: skip
        yield judge_ratio(
            "figure-8-reached", cell, "mean active nodes, counted when left / when reached", None,
            at(system=WALKS[0], marking="left"), walk,
            "Algorithm 2 and Figure 5 against equation (4); expected below 1",
        )  # fmt: skip


def judge_figure_8(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 8 [dwo §VI-A]: claims that compare the active path among the sizes."""
    yield from _logarithms(summaries)
    yield _dramatic(summaries)
    yield from _densities(summaries)


def _fewer(n: int, summaries: Summaries) -> Iterator[Verdict]:
    """Judge the active path of both kinds of walk: "overlay layers that use PRWs present larger
    active paths".
    """
    for (metric, meaning), count in product(PATHS.items(), COUNTS[n]):
        at = partial(summaries.find, metric, n=n, initiators=count)
        yield judge_ratio(
            PANELS[n], {"n": n, "initiators": count}, "mean active nodes, DRW / PRW",
            "PRWs present larger active paths", at(system=WALKS[0]), at(system=WALKS[1]), meaning,
        )  # fmt: skip


def _straight(n: int, summaries: Summaries) -> Iterator[Verdict]:
    """Judge the growth of the active path with the initiators: "the same logarithmic behavior"."""
    for system, which in product(WALKS, ("up to 100", "all")):
        counts = COUNTS[n] if which == "all" else LOGARITHMIC
        table, networks = means(summaries, "active", counts, n=n, system=system)
        straight = float(np.corrcoef(table[0], np.log(counts))[0, 1] ** 2)
        yield verdict_row(
            PANELS[n], {"n": n, "system": system, "initiators": which},
            "R² of mean active nodes over ln(initiators)", "the same logarithmic behavior",
            straight, None, None,
            networks, f"a line with R² above {STRAIGHT}; without an interval",
            "agrees" if straight > STRAIGHT else "differs",
            "each initiator is an active node itself: no logarithm can last"
            if which == "all" else "",
        )  # fmt: skip


def _logarithms(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the active path's base: "the base of the logarithm decreases as the density of the
    network is increased".
    """
    for system in WALKS:
        slopes = {n: _growth(summaries, n, system) for n in SIZES}
        networks = summaries.find("active", n=SIZES[0], system=system, initiators=2).networks
        for less, more in pairwise(SIZES):
            growth = estimated(slopes[less] / slopes[more], networks, log=True)
            yield verdict_row(
                "figure-8", {"system": system, "n": f"{less} / {more}"},
                "active nodes per ln(initiators), less / more dense",
                "the base of the logarithm decreases", *growth, networks,
                "up to 100 initiators; a smaller base gives a steeper line", *judge_order(*growth),
            )  # fmt: skip
            shares = (slopes[less] / less, slopes[more] / more)
            relative = estimated(shares[1] / shares[0], networks, log=True)
            if system == WALKS[1]:
                claim, opinion = "less dense networks grow faster", judge_order(*relative)
            else:
                opinion = judge_number(1.0, *relative, relative=VERY_NEAR, rounding=0.0)
                claim = "proportionally, almost identical"
            yield verdict_row(
                "figure-8", {"system": system, "n": f"{more} / {less}"},
                "share of n per ln(initiators), more / less dense", claim, *relative, networks,
                'up to 100 initiators; "proportionally" means per node of the network', *opinion,
            )  # fmt: skip


def _growth(summaries: Summaries, n: int, system: str) -> paired_estimates.Floats:
    return slope(means(summaries, "active", LOGARITHMIC, n=n, system=system)[0], LOGARITHMIC)


def _dramatic(summaries: Summaries) -> Verdict:
    """Judge the active path's base in both kinds of walk: "the change on the base is more dramatic
    for DRWs".
    """
    change = [
        np.abs(np.log(_growth(summaries, 3000, system) / _growth(summaries, 1000, system)))
        for system in WALKS
    ]
    networks = summaries.find("active", n=1000, system=WALKS[0], initiators=2).networks
    apart = estimated(change[1] - change[0], networks)
    return verdict_row(
        "figure-8", {}, "|ln slope(3000) / slope(1000)|, PRW - DRW",
        "the change on the base is more dramatic for DRWs", *apart, networks,
        "up to 100 initiators; a change in either direction counts",
        *judge_order(*apart, equal=0.0),
    )  # fmt: skip


def _densities(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the active path by size: "the more nodes we have in the network, the more nodes we have
    in the active path".
    """
    for system, (less, more) in product(WALKS, pairwise(SIZES)):
        for (metric, meaning), count in product(PATHS.items(), SHOWN):
            at = partial(summaries.find, metric, system=system, initiators=count)
            yield judge_ratio(
                "figure-8", {"system": system, "n": f"{less} / {more}", "initiators": count},
                "mean active nodes, less / more nodes", MORE_NODES, at(n=less), at(n=more), meaning,
            )  # fmt: skip
        full = [means(summaries, "active", SHOWN, n=n, system=system)[0] / n for n in (more, less)]
        networks = summaries.find("active", n=less, system=system, initiators=2).networks
        share = estimated((full[0] / full[1]).max(axis=1), networks, log=True)
        yield verdict_row(
            "figure-8", {"system": system, "n": f"{more} / {less}"},
            "largest ratio of shares of n that are active",
            "less dense networks are saturated before",
            *share, networks, f"over the numbers of initiators {', '.join(map(str, SHOWN))}",
            *judge_order(*share),
        )  # fmt: skip


def _reliable(n: int, summaries: Summaries) -> Iterator[Verdict]:
    """Judge the active path's spread: "DRWs present a more reliable performance": fewer outliers, a
    smaller spread"""
    at = partial(summaries.find, "active", n=n)
    shares = [
        float(np.mean([at(system=s, initiators=count).outliers for count in COUNTS[n]]))
        for s in WALKS
    ]
    networks = at(system=WALKS[0], initiators=2).networks
    yield verdict_row(
        PANELS[n], {"n": n}, "share of outliers, DRW / PRW", "using PRWs present more outliers",
        shares[0] / shares[1] if shares[1] else float("nan"), None, None, networks,
        "outliers are over 1.5 interquartile ranges away from their own box; mean over all numbers "
        "of initiators",
        "agrees" if shares[0] < shares[1] else "differs",
        f"{shares[0]:.2%} against {shares[1]:.2%}; no interval".replace("%", " %"),
    )  # fmt: skip
    for count in SHOWN:
        wide = [
            paired_estimates.variation(summaries, "active", n=n, system=s, initiators=count)
            for s in WALKS
        ]
        against = estimated(wide[0][0] / wide[1][0], networks, log=True)
        yield verdict_row(
            PANELS[n], {"n": n, "initiators": count},
            "coefficient of variation of active nodes, DRW / PRW",
            "a more reliable performance", *against, networks, "standard deviation / mean",
            *judge_order(*against),
        )  # fmt: skip
        apart = [
            wide[s][0] * paired_estimates.with_replicates(at(system=WALKS[s], initiators=count))
            for s in (0, 1)
        ]
        against = estimated(apart[0] / apart[1], networks, log=True)
        yield verdict_row(
            PANELS[n], {"n": n, "initiators": count},
            "standard deviation of active nodes, DRW / PRW",
            "a more reliable performance", *against, networks, "standard deviation in nodes",
            *judge_order(*against),
        )  # fmt: skip
