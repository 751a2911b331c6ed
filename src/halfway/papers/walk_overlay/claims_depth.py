"""Paper 2, §VI-B judged: the depth of the overlay, Figures 9 and 10."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from halfway.papers.claims.thresholds import UNCORRELATED, VERY_NEAR
from halfway.papers.walk_overlay.claims_path import COUNTS, SIZES, WALKS
from halfway.papers.walk_overlay.paired_estimates import (
    Floats,
    correlation,
    estimated,
    judge_ratio,
    means,
    verdict_row,
    with_replicates,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import Judged, judge_order, judge_range
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import difference

FIRST = (2, 3, 4, 5, 6, 7, 8, 9, 10)  # [dwo Fig. 10]
MANY = (50, 75, 100, 250, 500)  # the depth has reached its maximum there
_ALONE = (2, 10, 100)
_POOLS = ((FIRST, "2 to 10"), (MANY, "50 to 500"), *(((c,), str(c)) for c in _ALONE))


def judge_figure_9(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the overlay's depth [dwo §VI-B]: "depths are very similar for all cases", and the
    largest is "reached very early"."""
    for n in SIZES:
        for count in COUNTS[n]:
            at = partial(summaries.find, "depth", n=n, initiators=count)
            apart = difference(at(system=WALKS[0]), at(system=WALKS[1]), "mean")
            yield verdict_row(
                "figure-9", {"n": n, "initiators": count}, "mean depth, DRW - PRW",
                "depths are very similar for all cases", *apart, at(system=WALKS[0]).networks,
                f"\"very similar\" means less than {VERY_NEAR} of the network's extent apart",
                *judge_range(-VERY_NEAR, VERY_NEAR, *apart, rounding=0.0),
            )  # fmt: skip
        for system in WALKS:
            seen = summaries.find("depth", n=n, initiators=10, system=system)
            missing = (1 - seen.mean, 1 - seen.mean_high, 1 - seen.mean_low)
            yield verdict_row(
                "figure-9", {"n": n, "system": system, "initiators": 10}, "1 - mean depth",
                "is reached very early", *missing, seen.networks,
                f'"reached" means within {VERY_NEAR} of the maximum; '
                '"very early" means with ten initiators',
                *judge_order(*missing, equal=VERY_NEAR),
            )  # fmt: skip


def judge_figure_10(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the overlay's depth [dwo §VI-B] for few initiators, and its correlation with the active
    nodes."""
    for n in SIZES:
        for system in WALKS:
            at = partial(summaries.find, "depth", n=n, system=system)
            cell: dict[str, Scalar] = {"n": n, "system": system}
            yield judge_ratio(
                "figure-10", cell, "mean depth, two / three initiators",
                "importantly increased when having three", at(initiators=2), at(initiators=3),
                "mean depth",
            )  # fmt: skip
            later = estimated(_later_rise(summaries, n, system), at(initiators=2).networks)
            yield verdict_row(
                "figure-10", cell, "largest later rise of depth - that from 2 to 3",
                "importantly increased when having three", *later, at(initiators=2).networks,
                '"importantly" means more than any later rise between 3 and 10 initiators',
                *judge_order(*later, equal=0.0),
            )  # fmt: skip
        at = partial(summaries.find, "depth", n=n, initiators=2)
        yield judge_ratio(
            "figure-10", {"n": n, "initiators": 2}, "mean depth, PRW / DRW",
            "the directionality of DRWs leads to increase the depth", at(system=WALKS[1]),
            at(system=WALKS[0]), "mean depth",
        )  # fmt: skip
    for n, system, (counts, which) in product(SIZES, WALKS, _POOLS):
        r = correlation(summaries, counts, n=n, system=system)
        yield verdict_row(
            "figure-10", {"n": n, "system": system, "initiators": which},
            "correlation of active nodes and depth", "there exists no correlation", *r,
            summaries.find("depth", n=n, system=system, initiators=2).networks,
            "Pearson's r over all overlays with these numbers of initiators; "
            f'"no correlation" means an interval that contains 0, or |r| below {UNCORRELATED}',
            *_uncorrelated(*r),
        )  # fmt: skip

    yield from _impacts(summaries)


def _impacts(summaries: Summaries) -> Iterator[Verdict]:
    """Judge that density has more impact on the active nodes of the overlay than its depth."""
    for system, count in product(WALKS, _ALONE):
        networks = summaries.find("active", n=SIZES[0], system=system, initiators=count).networks
        value = estimated(_impact(summaries, system, count), networks)
        yield verdict_row(
            "figure-10", {"system": system, "initiators": count},
            "variance of active nodes that depth explains - that density explains",
            "other factors, as the density of the network, have more impact", *value,
            networks,
            "depth explains r² within a size, averaged over the sizes; density explains the share "
            "of the variance between the sizes", *judge_order(*value, equal=0.0),
        )  # fmt: skip


def _impact(summaries: Summaries, system: str, count: int) -> Floats:
    """Return [1 + resamples]: the share of the variance of active nodes that depth explains, minus
    the share that density explains.
    """
    names = ("active", "depth", "active squared", "depth squared", "active x depth")
    # [sizes, 1 + resamples] of each name
    a, d, aa, dd, ad = (
        np.array(
            [
                with_replicates(summaries.find(name, n=n, system=system, initiators=count))
                for n in SIZES
            ]
        )
        for name in names
    )
    within, between = (aa - a * a).mean(axis=0), a.var(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_depth = ((ad - a * d) ** 2 / ((aa - a * a) * (dd - d * d))).mean(axis=0)
        return np.asarray(by_depth - between / (between + within))


def _later_rise(summaries: Summaries, n: int, system: str) -> Floats:
    rises = np.diff(means(summaries, "depth", FIRST, n=n, system=system)[0])
    return np.asarray(rises[:, 1:].max(axis=1) - rises[:, 0])


def _uncorrelated(r: float, low: float, high: float) -> Judged:
    shown = f"r = {r:.2f} [{low:.2f}, {high:.2f}]"
    if abs(r) < UNCORRELATED:
        return "agrees", f"{shown}, |r| below {UNCORRELATED:g}"
    if low <= 0 <= high:
        return "not comparable", f"{shown}, not distinguishable from 0"
    return "differs", f"{shown}: overlays with more nodes span more"
