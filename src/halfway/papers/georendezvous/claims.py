"""Paper 3 (GeoRendezvous), judged: each sentence of §§3-4 about Figure 3 as verdict rows.

The available text has curves without values, so the claims in words are judged.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from halfway.papers.claims.thresholds import LIMITED, MUCH, NEAR, VANISHING, VERY_NEAR, percent
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import Judged, judge_order, judge_range, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import around, ratio
from halfway.pipeline.statistics.summary import Summary

_Estimate = tuple[float, float, float]  # value and its 95 % interval

SIZES = (80, 150, 300, 600, 1000, 1500, 2000, 3000)
POINTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
FEW_POINTS = (1, 2, 4, 8, 16)
CLIENTS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)
SIZES_SHOWN = (300, 600, 3000)  # Figure 3(a); the paper does not say which
FAIR_SIZES = (600, 1000, 2000, 3000)
SLACKS = (0.25, 0.5, 1.0)
FEW_SUBSCRIBERS = "With less than 8 subscribers, it is better to have multiple rendezvous"
MANY_SUBSCRIBERS = "increasingly better than having only 1"
# The ticks of Figure 3 that the text has: the axis of (c) begins at 1.05, that of (d)
# goes from 0.55 to 1, by 0.05.
AXIS_C, AXIS_D, TICK = 1.05, (0.55, 1.0), 0.05
INTERPRETATIONS = {
    "known": "the home knows that it is the home, so a notification ends when it reaches the home",
    "toured": "every message traverses the home perimeter",
}


def _row(
    figure: str, cell: dict[str, Scalar], metric: str, claim: str | None, estimate: _Estimate,
    seen: Summary, interpretation: str, judged: Judged,
) -> Verdict:  # fmt: skip
    return Verdict(
        "georendezvous", figure, cell, metric, claim, *estimate, seen.networks, interpretation,
        *judged,
    )  # fmt: skip


def _below(
    figure: str, cell: dict[str, Scalar], metric: str, claim: str, estimate: _Estimate,
    seen: Summary, interpretation: str, equal: float = 1.0,
) -> Verdict:  # fmt: skip
    """Return the verdict row of a claim about GeoRendezvous that the estimate is less than
    `equal`.
    """
    judged = judge_order(*estimate, equal=equal)
    return _row(figure, cell, metric, claim, estimate, seen, interpretation, judged)


def _near_one(estimate: _Estimate, tolerance: float) -> Judged:
    return judge_range(1 - tolerance, 1 + tolerance, *estimate, rounding=0.0)


def _overhead(summaries: Summaries, **where: str | int) -> tuple[_Estimate, Summary]:
    """Return GeoRendezvous's overhead in claims: the ratio of averages, paired by network."""
    path, direct = summaries.find("path", **where), summaries.find("direct", **where)
    return ratio(path, direct, "mean"), path


def judge_figure_3a(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's Figure 3a: [geo §4] fewer than 8 cells suffice, and more than 8 hardly
    help."""
    yield from _judged_3a(summaries, "figure-3a", "known")


def judge_figure_3a_toured(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the sentence about GeoRendezvous's Figure 3a if every message traverses the home
    perimeter.
    """
    yield from _judged_3a(summaries, "figure-3a-toured", "toured")


def _judged_3a(summaries: Summaries, figure: str, interpretation: str) -> Iterator[Verdict]:
    meaning = INTERPRETATIONS[interpretation]
    for n in SIZES_SHOWN:
        estimate, seen = _overhead(summaries, n=n, points=7, reading=interpretation)
        yield _below(
            figure, {"n": n, "points": 7}, "path / direct path, ratio of averages",
            "latencies similar to those of a direct path", estimate, seen,
            f'{meaning}; "similar" means at most {percent(NEAR)} longer', 1 + NEAR,
        )  # fmt: skip
        yield _below(
            figure, {"n": n}, "gain of a cell beyond 8 / of one up to 8",
            "the benefits of using more than 8 rendezvous cells are limited",
            _late_gain(summaries, n, interpretation), seen,
            f'{meaning}; "limited" means less than {percent(LIMITED)}', LIMITED,
        )  # fmt: skip


def _late_gain(summaries: Summaries, n: int, interpretation: str) -> _Estimate:
    """Return the mean gain of GeoRendezvous's cells 9 to 16 in Figure 3a, divided by that of the
    cells 2 to 8. The gain of a cell is the decrease of the path's length.
    """
    rows = [
        summaries.find("path", n=n, points=points, reading=interpretation) for points in (1, 8, 16)
    ]
    # [1 + resamples] the means, then their bootstrap replicates
    one_point, eight, sixteen = (np.array([row.mean, *row.boot_mean]) for row in rows)
    gain = (eight - sixteen) / 8 / ((one_point - eight) / 7)
    return float(gain[0]), *around(gain[0], gain[1:], rows[0].networks)


def judge_figure_3b(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's Figure 3b: [geo §4] "dictated by the number of rendezvous cells",
    "independent of the network size"."""
    for points in FEW_POINTS:
        _, middle = _overhead(summaries, n=600, points=points)
        for n in SIZES:
            if n == 600:
                continue
            estimate = _against(summaries, n, points)
            yield _row(
                "figure-3b", {"points": points, "n": n}, "overhead / overhead at n = 600",
                "largely independent of the network size", estimate, middle,
                f"{INTERPRETATIONS['known']}; within ±{percent(VERY_NEAR)}",
                _near_one(estimate, VERY_NEAR),
            )  # fmt: skip
    spread = _spreads(summaries)
    judged: Judged = "differs", "sizes matter half as much, or more"
    if spread < 1 / MUCH:
        judged = "agrees", "sizes matter less than numbers of cells"
    yield Verdict(
        "georendezvous", "figure-3b", {}, "spread over sizes / spread over numbers of cells",
        "dictated by the number of rendezvous cells", spread, None, None,
        summaries.find("path", n=600, points=8).networks,
        "the widest range of overheads over sizes, divided by the narrowest range over numbers of "
        "cells",
        *judged,
    )  # fmt: skip


def _against(summaries: Summaries, n: int, points: int) -> _Estimate:
    """Return GeoRendezvous's overhead at a size over that at 600, on other networks: the two vary
    independently.
    """
    values = []
    spread = 0.0
    for size in (n, 600):
        (value, low, high), _ = _overhead(summaries, n=size, points=points)
        values.append(value)
        spread += (math.log(high / low) / 2) ** 2
    value, half = values[0] / values[1], math.exp(math.sqrt(spread))
    return value, value / half, value * half


def _spreads(summaries: Summaries) -> float:
    table = np.array(
        [[_overhead(summaries, n=n, points=p)[0][0] for p in FEW_POINTS] for n in SIZES]
    )
    return float(np.ptp(table, axis=0).max() / np.ptp(table, axis=1).min())


def judge_figure_3c(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's Figure 3c: [geo §4] "with only 2 rendezvous cells, we stay close to the
    average direct" path."""
    row = partial(_below, "figure-3c", {"tried": 2})
    estimate, seen = _overhead(summaries, n=600, points=8, tried=2)
    yield row(
        "path / direct path, ratio of averages",
        "close to the average direct publisher-subscriber path", estimate, seen,
        f'{INTERPRETATIONS["known"]}; "close" means at most {percent(NEAR)} longer', 1 + NEAR,
    )  # fmt: skip
    all_eight = summaries.find("path", n=600, points=8, tried=8)
    yield row(
        "path by the 2 closest / by all 8", "close to the result achieved by 8 rendezvous cells",
        ratio(seen, all_eight, "mean"), seen,
        f'"close" means at most {percent(NEAR)} longer', 1 + NEAR,
    )  # fmt: skip
    unplaced = summaries.find("path", n=600, points=2, tried=2)
    against = ratio(seen, unplaced, "mean")
    yield _row(
        "figure-3c", {"tried": 2}, "path by the 2 closest of 8 / by 2 alone", None, against, seen,
        f"{INTERPRETATIONS['known']}; expected below 1", ours(judge_order(*against)),
    )  # fmt: skip
    shown = [_overhead(summaries, n=600, points=8, tried=tried)[0] for tried in range(1, 9)]
    yield _on_axis("figure-3c", "least overhead", AXIS_C, (AXIS_C, math.inf), min(shown), seen,
                   INTERPRETATIONS["known"])  # fmt: skip


def judge_figure_3d(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's Figure 3d: [geo §4] better below 8 subscribers, nearly the same at 8,
    increasingly better beyond."""
    for interpretation in ("all links once", "once a point", "once a subscriber"):
        at = {
            k: (
                summaries.find("many", clients=k, reading=interpretation),
                summaries.find("one", clients=k, reading=interpretation),
            )
            for k in CLIENTS
        }
        row = partial(_below, "figure-3d", seen=at[8][0], interpretation=interpretation)
        metric = "tree of 8 points / of 1"
        for k in (1, 2, 4, 6):
            share = ratio(*at[k], "mean")
            yield row({"clients": k}, metric, FEW_SUBSCRIBERS, share)
        share = ratio(*at[8], "mean")
        yield _row(
            "figure-3d", {"clients": 8}, metric, "nearly the same as in a single-rendezvous tree",
            share,
            at[8][0], f'{interpretation}; "nearly" means within {percent(VERY_NEAR)}',
            _near_one(share, VERY_NEAR),
        )  # fmt: skip
        yield row(
            {"clients": 8},
            "tree ratio at 1 / at 8",
            "the cost of the multiple-rendezvous tree grows",
            _later(at[1], at[8]),
        )
        yield row(
            {"clients": 32}, "tree ratio at 32 / at 8", MANY_SUBSCRIBERS, _later(at[32], at[8])
        )
        yield row({"clients": 32}, metric, MANY_SUBSCRIBERS, ratio(*at[32], "mean"))
        shown = [ratio(*pair, "mean") for pair in at.values()]
        for what, end, within, extreme in (
            ("least tree ratio", AXIS_D[0], (AXIS_D[0], AXIS_D[0] + TICK), min(shown)),
            ("greatest tree ratio", AXIS_D[1], (AXIS_D[1] - TICK, AXIS_D[1]), max(shown)),
        ):
            yield _on_axis("figure-3d", what, end, within, extreme, at[8][0], interpretation)


def _on_axis(
    figure: str, metric: str, end: float, within: tuple[float, float], estimate: _Estimate,
    seen: Summary, interpretation: str,
) -> Verdict:  # fmt: skip
    """Return the verdict on an extreme of a curve, which the axis of GeoRendezvous's figure
    encloses.

    end: the tick at the end of the axis. within: where the extreme must lie, up to the next tick if
    the paper's text has one.
    """
    return Verdict(
        "georendezvous", figure, {"reading": interpretation}, metric, end, *estimate,
        seen.networks, f"{interpretation}; the printed value is the end of the axis, which "
        "encloses the curve and ends within one tick of the curve",
        *judge_range(*within, *estimate, rounding=0.0),
    )  # fmt: skip


def _later(late: tuple[Summary, Summary], early: tuple[Summary, Summary]) -> _Estimate:
    """Return one tree ratio of GeoRendezvous's Figure 3d over another, with all four trees paired
    by network.
    """
    value = late[0].mean / late[1].mean / (early[0].mean / early[1].mean)
    resampled = [np.log(row.boot_mean) for row in (*late, *early)]
    boot = resampled[0] - resampled[1] - resampled[2] + resampled[3]
    low, high = around(math.log(value), boot, late[0].networks)
    return value, math.exp(low), math.exp(high)


def judge_theorem(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's [geo Theorem 3.1]: its two premises, and that the share of good places
    does not vanish."""
    yield from _premises(summaries)
    for k in SLACKS:
        for n in FAIR_SIZES[1:]:
            least, share = summaries.find("share", n=600, k=k), summaries.find("share", n=n, k=k)
            yield _below(
                "theorem-3.1", {"k": k, "n": n}, "share of good places at n = 600 / here",
                "it does not vanish", _independent(least, share), share,
                f'"vanish" means a fall by a factor above {VANISHING:g}', VANISHING,
            )  # fmt: skip


def _premises(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the premises of [geo Theorem 3.1]: Δ and E[l] / L stay put as the network grows."""
    for n in FAIR_SIZES[1:]:
        at = partial(summaries.find, k=SLACKS[0])
        growth = _independent(at("growth", n=n), at("growth", n=600))
        yield _row(
            "theorem-3.1", {"n": n}, "largest |N(X,2r)| / |N(X,r)|, here / at n = 600",
            "for a constant Δ", growth, at("growth", n=n),
            'Δ of a network is the largest value at the ends of its pairs; "constant" means within '
            f"{percent(VERY_NEAR)}", _near_one(growth, VERY_NEAR),
        )  # fmt: skip
        reach = _independent(at("reach", n=600), at("reach", n=n))
        yield _below(
            "theorem-3.1", {"n": n}, "E[l] / L at n = 600 / here", "∀L, E [l] /L", reach,
            at("reach", n=n), f"one ε for all L, so no fall by a factor above {VANISHING:g}",
            VANISHING,
        )  # fmt: skip


def _independent(above: Summary, below: Summary) -> _Estimate:
    """Return GeoRendezvous's ratio of two means over different networks, whose intervals add."""
    parts = [math.log(row.mean_high / row.mean_low) / 2 for row in (above, below)]
    value, half = above.mean / below.mean, math.exp(math.hypot(*parts))
    return value, value / half, value * half
