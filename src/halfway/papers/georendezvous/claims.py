"""Paper 3 (GeoRendezvous), judged: each sentence of §§3-4 about Figure 3 as verdict rows.

The available text has curves without values, so the claims in words are judged. The number that a
word is taken to mean is a constant here, and part of the row's reading.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from halfway.pipeline.judge import judge_number, judge_order, judge_range
from halfway.pipeline.measure import around, ratio
from halfway.pipeline.study import Summaries, Summary
from halfway.pipeline.verdict import Verdict

_row = partial(Verdict, "georendezvous")
_Estimate = tuple[float, float, float]  # value and its 95 % interval

SIMILAR = 0.25  # "similar to", "close to" a direct path: at most a quarter longer
STABLE = 0.10  # "quite stable and largely independent of the network size": ±10 %
NEARLY = 0.10  # "nearly the same", "close to the result achieved by 8"
LIMITED = 0.2  # "limited": a further cell gains less than a fifth of one of the first 8
VANISHING = 1.25  # a share that falls by more than a fifth over five times the nodes is vanishing

SIZES = (80, 150, 300, 600, 1000, 1500, 2000, 3000)
POINTS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
FEW_POINTS = (1, 2, 4, 8, 16)
CLIENTS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)
SIZES_SHOWN = (300, 600, 3000)  # Figure 3(a); the paper does not say which
FAIR_SIZES = (600, 1000, 2000, 3000)
SLACKS = (0.25, 0.5, 1.0)
READINGS = {
    "known": "the home knows that it is the home: a notification ends on reaching it",
    "toured": "every message traverses the home perimeter",
}


def overhead(row: Summary, direct: Summary) -> _Estimate:
    """The ratio of averages, paired by network."""
    return ratio(row, direct, "mean")


def _overhead(found: Summaries, **where: str | int) -> tuple[_Estimate, Summary]:
    path, direct = found.find("path", **where), found.find("direct", **where)
    return overhead(path, direct), path


def judge_networks(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] The mean degree."""
    for n in SIZES:
        seen = found.find("degree", n=n)
        estimate = (seen.mean, seen.mean_low, seen.mean_high)
        yield _row(
            "section-4", {"n": n}, "mean degree", 45, *estimate, seen.networks,
            "the radius counts the border", *judge_number(45, *estimate, relative=0.02),
        )  # fmt: skip


def judge_figure_3a(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] Fewer than 8 cells suffice, and more than 8 hardly help."""
    yield from _judged_3a(found, "figure-3a", "known")


def judge_figure_3a_toured(found: Summaries) -> Iterator[Verdict]:
    """The same if every message traverses the home perimeter."""
    yield from _judged_3a(found, "figure-3a-toured", "toured")


def _judged_3a(found: Summaries, figure: str, reading: str) -> Iterator[Verdict]:
    meaning = READINGS[reading]
    for n in SIZES_SHOWN:
        estimate, seen = _overhead(found, n=n, points=7, reading=reading)
        yield _row(
            figure, {"n": n, "points": 7}, "path / direct path, ratio of averages",
            "similar to a direct path", *estimate, seen.networks,
            f"{meaning}; similar: at most {SIMILAR:.0%} longer".replace("%", " %"),
            *judge_order(*estimate, equal=1 + SIMILAR),
        )  # fmt: skip
        gain = _late_gain(found, n, reading)
        yield _row(
            figure, {"n": n}, "gain of a cell beyond 8 / of one up to 8",
            "limited beyond 8", *gain, seen.networks,
            f"{meaning}; limited: less than {LIMITED:.0%}".replace("%", " %"),
            *judge_order(*gain, equal=LIMITED),
        )  # fmt: skip


def _late_gain(found: Summaries, n: int, reading: str) -> _Estimate:
    """How much a cell from the 9th to the 16th shortens the path, over one of the first 8."""
    means, resampled = [], []
    rows = [found.find("path", n=n, points=points, reading=reading) for points in (1, 8, 16)]
    for row in rows:
        means.append(row.mean)
        resampled.append(np.asarray(row.boot_mean))
    value = (means[1] - means[2]) / 8 / ((means[0] - means[1]) / 7)
    boot = (resampled[1] - resampled[2]) / 8 / ((resampled[0] - resampled[1]) / 7)
    return value, *around(value, boot, rows[0].networks)


def judge_figure_3b(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] "dictated by the number of rendezvous cells", "independent of the network size"."""
    for points in FEW_POINTS:
        _, middle = _overhead(found, n=600, points=points)
        for n in SIZES:
            if n == 600:
                continue
            estimate = _against(found, n, points)
            yield _row(
                "figure-3b", {"points": points, "n": n}, "overhead / overhead at n = 600",
                "largely independent of the network size", *estimate, middle.networks,
                f"{READINGS['known']}; within ±{STABLE:.0%}".replace("%", " %"),
                *judge_range(1 - STABLE, 1 + STABLE, *estimate, rounding=0.0),
            )  # fmt: skip
    spread = _spreads(found)
    yield _row(
        "figure-3b", {}, "spread over sizes / spread over numbers of cells",
        "dictated by the number of rendezvous cells", spread, None, None,
        found.find("path", n=600, points=8).networks,
        "the widest range of overheads over sizes, over the narrowest over numbers of cells",
        *(
            ("agrees", "sizes matter less than numbers of cells")
            if spread < 0.5
            else ("differs", "sizes matter half as much, or more")
        ),
    )  # fmt: skip


def _against(found: Summaries, n: int, points: int) -> _Estimate:
    """Overhead at a size over that at 600, on other networks: the two vary independently."""
    values = []
    spread = 0.0
    for size in (n, 600):
        (value, low, high), _ = _overhead(found, n=size, points=points)
        values.append(value)
        spread += (math.log(high / low) / 2) ** 2
    value, half = values[0] / values[1], math.exp(math.sqrt(spread))
    return value, value / half, value * half


def _spreads(found: Summaries) -> float:
    table = np.array([[_overhead(found, n=n, points=p)[0][0] for p in FEW_POINTS] for n in SIZES])
    return float(np.ptp(table, axis=0).max() / np.ptp(table, axis=1).min())


def judge_figure_3c(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] "with only 2 rendezvous cells, we stay close to the average direct" path."""
    estimate, seen = _overhead(found, n=600, points=8, tried=2)
    yield _row(
        "figure-3c", {"tried": 2}, "path / direct path, ratio of averages",
        "close to the direct path", *estimate, seen.networks,
        f"{READINGS['known']}; close: at most {SIMILAR:.0%} longer".replace("%", " %"),
        *judge_order(*estimate, equal=1 + SIMILAR),
    )  # fmt: skip
    all_eight = found.find("path", n=600, points=8, tried=8)
    share = ratio(seen, all_eight, "mean")
    yield _row(
        "figure-3c", {"tried": 2}, "path by the 2 closest / by all 8", "close to 8 cells",
        *share, seen.networks, f"close: at most {NEARLY:.0%} longer".replace("%", " %"),
        *judge_order(*share, equal=1 + NEARLY),
    )  # fmt: skip
    unplaced = found.find("path", n=600, points=2, tried=2)
    better = ratio(seen, unplaced, "mean")
    yield _row(
        "figure-3c", {"tried": 2}, "path by the 2 closest of 8 / by 2 alone", "confront with 3(a)",
        *better, seen.networks, READINGS["known"], *judge_order(*better),
    )  # fmt: skip


def judge_figure_3d(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] better below 8 subscribers, nearly the same at 8, increasingly better beyond."""
    for reading in ("all links once", "once a point", "once a subscriber"):
        at = {
            k: (found.find("many", clients=k, reading=reading),
                found.find("one", clients=k, reading=reading))
            for k in CLIENTS
        }  # fmt: skip
        networks = at[8][0].networks
        for k in (1, 2, 4, 6):
            share = ratio(*at[k], "mean")
            yield _row(
                "figure-3d", {"clients": k}, "tree of 8 points / of 1", "< 1 below 8 subscribers",
                *share, networks, reading, *judge_order(*share),
            )  # fmt: skip
        share = ratio(*at[8], "mean")
        yield _row(
            "figure-3d", {"clients": 8}, "tree of 8 points / of 1", "nearly the same",
            *share, networks, reading,
            *judge_range(1 - NEARLY, 1 + NEARLY, *share, rounding=0.0),
        )  # fmt: skip
        share = _later(at[32], at[8])
        yield _row(
            "figure-3d", {"clients": 32}, "tree ratio at 32 / at 8", "increasingly better",
            *share, networks, reading, *judge_order(*share),
        )  # fmt: skip
        share = ratio(*at[32], "mean")
        yield _row(
            "figure-3d", {"clients": 32}, "tree of 8 points / of 1", "better than only 1",
            *share, networks, reading, *judge_order(*share),
        )  # fmt: skip


def _later(late: tuple[Summary, Summary], early: tuple[Summary, Summary]) -> _Estimate:
    """A tree ratio over another, all four paired by network."""
    value = late[0].mean / late[1].mean / (early[0].mean / early[1].mean)
    resampled = [np.log(row.boot_mean) for row in (*late, *early)]
    boot = resampled[0] - resampled[1] - resampled[2] + resampled[3]
    low, high = around(math.log(value), boot, late[0].networks)
    return value, math.exp(low), math.exp(high)


def judge_theorem(found: Summaries) -> Iterator[Verdict]:
    """[geo Theorem 3.1] The share of good places has a lower bound, and does not vanish."""
    for k in SLACKS:
        for n in FAIR_SIZES:
            share, bound = found.find("share", n=n, k=k), found.find("bound", n=n, k=k)
            below = ratio(bound, share, "mean")
            yield _row(
                "theorem-3.1", {"k": k, "n": n}, "promised bound / share of good places", "< 1",
                *below, share.networks, "Δ, E[l] and L of each network",
                *judge_order(*below),
            )  # fmt: skip
        for n in FAIR_SIZES[1:]:
            least, share = found.find("share", n=600, k=k), found.find("share", n=n, k=k)
            fall = _independent(least, share)
            yield _row(
                "theorem-3.1", {"k": k, "n": n}, "share of good places at n = 600 / here",
                "does not vanish", *fall, share.networks,
                f"vanishing: a factor above {VANISHING:g}", *judge_order(*fall, equal=VANISHING),
            )  # fmt: skip


def _independent(above: Summary, below: Summary) -> _Estimate:
    """A ratio of means of different networks, whose intervals add."""
    parts = [math.log(row.mean_high / row.mean_low) / 2 for row in (above, below)]
    value, half = above.mean / below.mean, math.exp(math.hypot(*parts))
    return value, value / half, value * half
