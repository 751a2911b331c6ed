"""Judges of paper 1 (directional walks) [drw §4]: networks, and the steps of Figures 5 and 6."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from pathlib import Path

from halfway.papers.claims.thresholds import (
    DEGREE_TOLERANCE,
    HARD,
    MUCH,
    STEPS_TOLERANCE,
    VERY_NEAR,
    percent,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import (
    Judged,
    judge_number,
    judge_order,
    judge_range,
    judge_ratio,
)
from halfway.pipeline.reproduction.published import published
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

HERE = Path(__file__).parent
_row = partial(Verdict, "directional-walks")
_Estimate = tuple[float, float, float]  # value and its 95 % interval

STEPS_A_NODE = 200  # of a lone walk, for each node of its network

SIZES = (1500, 2000, 2500, 3000)  # [drw §4] Figure 6
SIZES_BOXES = (*SIZES, 3500, 4000)  # Figure 5
WALKS = ("directional-walk", "random-walk")


def judge_visits(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the claim of directional walks [drw §3] that a walk visits every node."""
    for n in SIZES:
        seen = summaries.find("visited", n=n)
        judged: Judged = "differs", f"a walk visits only {seen.minimum:.4f} of the nodes"
        if seen.minimum == 1.0:
            judged = "agrees", f"each of {seen.units} walks visits every node"
        yield _row(
            "section-3", {"n": n}, "share of the nodes that a lone walk visits",
            "eventually visits all the nodes in the network", *statistic(seen, "mean"),
            seen.networks, f'"eventually" means within {STEPS_A_NODE} n steps',
            *judged,
        )  # fmt: skip


def judge_networks(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the networks of directional walks: [drw §4] mean numbers of neighbours as printed, and
    how rare connected draws are.
    """
    for n, printed in zip(SIZES, (7.5, 10.0, 12.5, 15.0), strict=True):
        seen = summaries.find("degree", n=n)
        estimate = statistic(seen, "mean")
        yield _row(
            "section-4", {"n": n}, "mean degree", printed, *estimate, seen.networks,
            "nodes near the border have fewer neighbours than n π r²",
            *judge_number(printed, *estimate, relative=DEGREE_TOLERANCE, rounding=0.05),
        )  # fmt: skip
    seen = summaries.find("draws", n=1500)
    # At least one draw is needed, even where the interval of the mean ends below 1.
    share = (1 / seen.mean, 1 / seen.mean_high, 1 / max(seen.mean_low, 1.0))
    yield _row(
        "section-4", {"n": 1500}, "share of draws that are connected",
        "hard to obtain connected networks", *share, seen.networks,
        "1 / mean number of draws until a network is connected, at n = 1500; "
        f'"hard" means below {percent(HARD)}',
        *judge_order(*share, equal=HARD),
    )  # fmt: skip


def judge_figure_5(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 5 of directional walks: [drw §4.1] directionality decreases the time to
    intersection, and concentrates it."""
    at = partial(summaries.find, "steps", k=1, reading="heard")
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
        yield from _concentrated(summaries, n)
    for system in WALKS:
        last, before = (at(n=n, system=system) for n in (SIZES_BOXES[-1], SIZES_BOXES[-2]))
        change, low, high = ratio(last, before, "median")
        fall = (1 - change, 1 - high, 1 - low)
        yield _row(
            "figure-5", {"system": system}, "fall of the median steps, n = 3500 to n = 4000",
            "seems to converge as we increase the density", *fall, last.networks,
            'heard; "converge" means that the last 500 nodes lower the median by less than '
            f"{percent(VERY_NEAR)}",
            *judge_order(*fall, equal=VERY_NEAR),
        )  # fmt: skip


def _concentrated(summaries: Summaries, n: int) -> Iterator[Verdict]:
    """Judge the boxes of directional walks, in steps and relative to their own medians."""
    for metric, meaning in (("box", "in steps"), ("relative box", "relative to the median")):
        at = partial(summaries.find, metric, k=1, reading="heard", n=n)
        share = ratio(at(system=WALKS[0]), at(system=WALKS[1]), "mean")
        yield _row(
            "figure-5", {"n": n}, f"interquartile range {meaning}, directional / random",
            "much more concentrated", *share, at(system=WALKS[0]).networks,
            f'heard; over the pairs of a network, {meaning}; "much" means a factor of {MUCH:g}',
            *judge_order(*share, equal=1 / MUCH),
        )  # fmt: skip


def judge_step_lengths(summaries: Summaries) -> Iterator[Verdict]:
    """Judge, for Figure 5 of directional walks, whether shorter steps explain the constant time to
    a meeting.
    """
    for system, (less, more) in product(WALKS, pairwise(SIZES_BOXES)):
        before, after = (
            summaries.find("length / radius", n=n, system=system) for n in (less, more)
        )
        yield judge_ratio(
            "directional-walks", "step-lengths", {"n": f"{more} / {less}", "system": system},
            "mean length of a step, more / less dense", "the length of the steps decreases",
            after, before, "mean over all steps of both walks until they meet",
        )  # fmt: skip


def judge_figure_6(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 6 of directional walks [drw §4.2]: all 48 printed numbers, and the claim that k
    = 1 takes the fewest steps.
    """
    yield from _printed_steps(summaries, "figure-6", "heard")
    for system in WALKS:
        for n in SIZES:
            at = partial(summaries.find, "steps", n=n, system=system, reading="heard")
            for k in (10, 100):
                share = ratio(at(k=1), at(k=k), "mean")
                cell: dict[str, Scalar] = {"n": n, "system": system, "k": k}
                yield _row(
                    "figure-6", cell, f"mean steps, k = 1 / k = {k}",
                    "the smallest time to intersection with k = 1",
                    *share, at(k=1).networks, "heard", *judge_order(*share),
                )  # fmt: skip


def judge_figure_6_stepped_on(summaries: Summaries) -> Iterator[Verdict]:
    """Judge directional walks' 48 numbers of Figure 6 in the other interpretation of "meet"."""
    yield from _printed_steps(summaries, "figure-6-stepped-on", "stepped-on")


def _printed_steps(summaries: Summaries, figure: str, interpretation: str) -> Iterator[Verdict]:
    for row in published(HERE / "figure-6.csv"):
        seen = summaries.find("steps", reading=interpretation, **row.cell)
        estimate = statistic(seen, row.metric.split()[0])
        yield _row(
            figure, row.cell, row.metric, row.value, *estimate, seen.networks, interpretation,
            *judge_number(row.value, *estimate, relative=STEPS_TOLERANCE, rounding=row.rounding),
        )  # fmt: skip


def statistic(seen: Summary, name: str) -> _Estimate:
    """Return the mean or the median of a summary that is judged in paper 1, with its interval."""
    if name == "median":
        return seen.median, seen.median_low, seen.median_high
    return seen.mean, seen.mean_low, seen.mean_high
