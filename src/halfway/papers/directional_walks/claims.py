"""Judges of paper 1 (directional walks): every printed number, and every claim of §4."""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.estimates import around, ratio
from halfway.pipeline.reproduction.figures import Summaries, Summary
from halfway.pipeline.reproduction.judge import Judged, judge_number, judge_order, judge_range
from halfway.pipeline.reproduction.published import Published, published
from halfway.pipeline.reproduction.verdict import Verdict

HERE = Path(__file__).parent
_row = partial(Verdict, "directional-walks")
_Estimate = tuple[float, float, float]  # value and its 95 % interval

STEPS_TOLERANCE = 0.10  # both sides come from 100 networks; their own intervals are about that wide
LOAD_TOLERANCE = 0.03  # a mean over all nodes and permutations varies little
EXTREME_TOLERANCE = 0.15  # the largest of 10^5 loads depends on one bottleneck
PRINTED_PERMUTATIONS = 100  # [drw Fig. 9] 10 networks x 10 permutations
CLOSE, GOOD = 0.10, 0.25  # our interpretation of "very close" and "good at balancing"
FAR = 1.5  # a printed mean this many times the measured one is not an error of reading

SIZES = (1500, 2000, 2500, 3000)  # [drw §4] Figure 6
SIZES_LOAD = (*SIZES, 3500)  # Figures 7 and 8
WALKS = ("directional-walk", "random-walk")
PATH_INTERPRETATIONS = {
    **dict.fromkeys(WALKS, "heard"),
    "shortest-path": "true shortest paths, ties at random",
    "breadth-first-tree": "paths in one breadth-first tree with a random root",
}


def judge_networks(found: Summaries) -> Iterator[Verdict]:
    """Judge directional walks' networks: [drw §4] mean numbers of neighbours as printed, and how
    rare connected draws are."""
    for n, printed in zip(SIZES, (7.5, 10.0, 12.5, 15.0), strict=True):
        seen = found.find("degree", n=n)
        estimate = _statistic(seen, "mean")
        yield _row(
            "section-4", {"n": n}, "mean degree", printed, *estimate, seen.networks,
            "nodes near the border have fewer neighbours than n π r²",
            *judge_number(printed, *estimate, relative=0.05, rounding=0.05),
        )  # fmt: skip
    seen = found.find("draws", n=1500)
    # At least one draw is needed, even where the interval of the mean ends below 1.
    share = (1 / seen.mean, 1 / seen.mean_high, 1 / max(seen.mean_low, 1.0))
    yield _row(
        "section-4", {"n": 1500}, "share of draws that are connected",
        "hard to obtain", *share, seen.networks,
        "1 / mean draws until one is connected, at 1500; 'hard' is less than one in ten",
        *judge_order(*share, equal=0.1),
    )  # fmt: skip


def judge_figure_5(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 5 of directional walks: [drw §4.1] directionality decreases the time to
    intersection, and concentrates it."""
    at = partial(found.find, "steps", k=1, reading="heard")
    for n in (*SIZES, 3500, 4000):
        pure, directed = at(n=n, system="random-walk"), at(n=n, system="directional-walk")
        for statistic in ("median", "mean"):
            factor = ratio(pure, directed, statistic)
            yield _row(
                "figure-5", {"n": n}, f"{statistic} steps, random / directional", "6-10",
                *factor, pure.networks, "heard", *judge_range(6, 10, *factor),
            )  # fmt: skip
        boxes = [row.upper_quartile - row.lower_quartile for row in (directed, pure)]
        judged: Judged = ("differs", "the box is not even half as long")
        if 2 * boxes[0] < boxes[1]:
            judged = ("agrees", f"the box is {boxes[1] / boxes[0]:.1f} times shorter")
        yield _row(
            "figure-5", {"n": n}, "interquartile range of steps, directional / random",
            "much more concentrated", boxes[0] / boxes[1], None, None, pure.networks,
            "heard; 'much more' is a box less than half as long",
            *judged,
        )  # fmt: skip
    for system in WALKS:
        settling = _settling(*(at(n=n, system=system) for n in (1500, 2000, 3500, 4000)))
        yield _row(
            "figure-5", {"system": system}, "fall of the median steps, late / early",
            "converges with density", *settling, at(n=1500, system=system).networks,
            "heard; falls per ln n, 3500-4000 against 1500-2000; 1 for a power law",
            *judge_order(*settling),
        )  # fmt: skip


def _settling(early: Summary, less: Summary, late: Summary, least: Summary) -> _Estimate:
    """For claims on directional walks: the fall of the medians per ln n between the last two sizes,
    over that of the first two."""
    sizes = [int(row.parameters["n"]) for row in (early, less, late, least)]
    spans = math.log(sizes[1] / sizes[0]), math.log(sizes[3] / sizes[2])
    medians = [row.median for row in (early, less, late, least)]
    boots = [np.log(row.boot_median) for row in (early, less, late, least)]
    falls = math.log(medians[1] / medians[0]), math.log(medians[3] / medians[2])
    value = falls[1] / spans[1] / (falls[0] / spans[0])
    boot = (boots[3] - boots[2]) / spans[1] / ((boots[1] - boots[0]) / spans[0])
    return value, *around(value, boot, early.networks)


def judge_figure_6(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 6 of directional walks: [drw §4.2] all 48 printed numbers, and: k = 1 takes the
    fewest steps."""
    yield from _printed_steps(found, "figure-6", "heard")
    for system in WALKS:
        for n in SIZES:
            at = partial(found.find, "steps", n=n, system=system, reading="heard")
            for k in (10, 100):
                share = ratio(at(k=1), at(k=k), "mean")
                cell: dict[str, Scalar] = {"n": n, "system": system, "k": k}
                yield _row(
                    "figure-6", cell, f"mean steps, k = 1 / k = {k}", "smallest with k = 1",
                    *share, at(k=1).networks, "heard", *judge_order(*share),
                )  # fmt: skip


def judge_figure_6_stepped_on(found: Summaries) -> Iterator[Verdict]:
    """Judge directional walks' 48 numbers of Figure 6 in the other interpretation of "meet"."""
    yield from _printed_steps(found, "figure-6-stepped-on", "stepped-on")


def _printed_steps(found: Summaries, figure: str, interpretation: str) -> Iterator[Verdict]:
    for row in published(HERE / "figure-6.csv"):
        seen = found.find("steps", reading=interpretation, **row.cell)
        estimate = _statistic(seen, row.metric.split()[0])
        yield _row(
            figure, row.cell, row.metric, row.value, *estimate, seen.networks, interpretation,
            *judge_number(row.value, *estimate, relative=STEPS_TOLERANCE, rounding=row.rounding),
        )  # fmt: skip


def judge_figure_7(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 7 of directional walks: [drw §4.3] median and mean loads as printed; the
    centralised column is impossible."""
    for row, system in _columns("figure-7"):
        seen = found.find("load", n=row.cell["n"], system=system)
        estimate = _statistic(seen, row.metric.split()[0])
        judged = _impossible(found, row, system) or judge_number(
            row.value, *estimate, relative=LOAD_TOLERANCE, rounding=row.rounding
        )
        yield _row(
            "figure-7", {**row.cell, "system": system}, row.metric, row.value, *estimate,
            seen.networks, PATH_INTERPRETATIONS[system], *judged,
        )  # fmt: skip


def judge_figure_8(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 8 of directional walks: [drw §4.3] largest and smallest loads as printed."""
    for row, system in _columns("figure-8"):
        interpretation = f"{PATH_INTERPRETATIONS[system]}; of all nodes, permutations, networks"
        if row.metric == "minimum load":
            seen = found.find("load", n=row.cell["n"], system=system)
            load = seen.minimum
            judged = judge_number(row.value, load, load, load, relative=0.0, rounding=0.0)
        else:
            seen = found.find("largest load", n=row.cell["n"], system=system)
            load, interpretation = seen.maximum, f"{interpretation}: no interval"
            judged = _impossible(found, row, system) or _judged_maximum(row, seen)
        yield _row(
            "figure-8", {**row.cell, "system": system}, row.metric, row.value, load, None, None,
            seen.networks, interpretation, *judged,
        )  # fmt: skip


def _judged_maximum(row: Published, seen: Summary) -> Judged:
    """Judge a maximum load of directional walks: it depends on one bottleneck of one network, drawn
    once on each side."""
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
    """A table's printed values of directional walks by column, each with a system to compare with.

    The centralised column may mean either of two systems.
    """
    for system in PATH_INTERPRETATIONS:
        column = "shortest-path" if system == "breadth-first-tree" else system
        for row in published(HERE / f"{figure}.csv"):
            if row.cell["system"] == column:
                yield row, system


def judge_figure_9(found: Summaries) -> Iterator[Verdict]:
    """Judge Figure 9 of directional walks: [drw §4.3] how well each way of building paths balances
    the load."""
    for system, claim, most in (
        ("random-walk", "very close", CLOSE),
        ("directional-walk", "good at balancing", GOOD),
    ):
        for n in SIZES_LOAD:
            seen = found.find("load", n=n, system=system)
            skew = seen.mean / seen.median - 1
            yield _row(
                "figure-9", {"n": n, "system": system}, "mean / median load", claim, 1 + skew,
                None, None, seen.networks, f"heard; {claim}: within {most:.0%}".replace("%", " %"),
                "agrees" if abs(skew) <= most else "differs",
                f"the mean is {skew:+.0%} off the median".replace("%", " %"),
            )  # fmt: skip
    for system in ("shortest-path", "breadth-first-tree"):
        for n in SIZES_LOAD:
            seen = found.find("largest load", n=n, system=system)
            share = (seen.mean / n, seen.mean_low / n, seen.mean_high / n)
            yield _row(
                "figure-9", {"n": n, "system": system}, "largest load / n", "close to half",
                *share, seen.networks, PATH_INTERPRETATIONS[system],
                *judge_range(0.4, 0.6, *share, rounding=0.05),
            )  # fmt: skip


def _statistic(seen: Summary, name: str) -> _Estimate:
    if name == "median":
        return seen.median, seen.median_low, seen.median_high
    return seen.mean, seen.mean_low, seen.mean_high


def _impossible(found: Summaries, row: Published, system: str) -> Judged | None:
    """Why a printed column of loads cannot be shortest paths, in claims on directional walks; None
    if its mean load is about theirs.

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
