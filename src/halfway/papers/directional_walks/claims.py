"""Paper 1, judged: every printed number, and every claim of §4 as a row of its own."""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from halfway.papers.published import Published, published
from halfway.pipeline.judge import judge_number, judge_order, judge_range
from halfway.pipeline.measure import around, ratio
from halfway.pipeline.run import Scalar
from halfway.pipeline.study import Summaries, Summary
from halfway.pipeline.verdict import Verdict

HERE = Path(__file__).parent
_row = partial(Verdict, "directional-walks")
_Estimate = tuple[float, float, float]  # value and its 95 % interval

STEPS_TOLERANCE = 0.10  # both sides come from 100 networks; their own intervals are about that wide
LOAD_TOLERANCE = 0.03  # a mean over all nodes and permutations hardly varies
EXTREME_TOLERANCE = 0.15  # the largest of 10^5 loads hangs on a single bottleneck
PRINTED_PERMUTATIONS = 100  # [drw Fig. 9] 10 networks x 10 permutations
CLOSE = 0.10  # what "very close" is taken to mean

SIZES = (1500, 2000, 2500, 3000)
SIZES_LOAD = (*SIZES, 3500)
WALKS = ("directional-walk", "random-walk")
STATISTICS = ("median", "mean")


def judge_networks(found: Summaries) -> Iterator[Verdict]:
    """[drw §4] mean numbers of neighbours as printed, and how rare connected draws are."""
    for n, printed in zip(SIZES, (7.5, 10.0, 12.5, 15.0), strict=True):
        seen = found.find("degree", n=n)
        estimate = (seen.mean, seen.mean_low, seen.mean_high)
        yield _row(
            "section-4", {"n": n}, "mean degree", printed, *estimate, seen.networks,
            "nodes near the border have fewer neighbours than n π r²",
            *judge_number(printed, *estimate, relative=0.05, rounding=0.05),
        )  # fmt: skip
    seen = found.find("draws", n=1500)
    share = (1 / seen.mean, 1 / seen.mean_high, 1 / seen.mean_low)
    yield _row(
        "section-4", {"n": 1500}, "share of draws that are connected",
        "hard to obtain", *share, seen.networks,
        "1 / mean number of draws until one is connected; 'hard' is less than one in ten",
        *judge_order(*share, equal=0.1),
    )  # fmt: skip


def judge_figure_5(found: Summaries) -> Iterator[Verdict]:
    """[drw §4.1] directionality decreases the time to intersection, and concentrates it."""
    at = partial(found.find, "steps", k=1, reading="heard")
    for n in (*SIZES, 3500, 4000):
        pure, directed = at(n=n, system="random-walk"), at(n=n, system="directional-walk")
        for statistic in STATISTICS:
            factor = ratio(pure, directed, statistic)  # type: ignore[arg-type]
            yield _row(
                "figure-5", {"n": n}, f"{statistic} steps, random / directional", "6-10",
                *factor, pure.networks, "heard", *judge_range(6, 10, *factor),
            )  # fmt: skip
        boxes = [row.upper_quartile - row.lower_quartile for row in (directed, pure)]
        yield _row(
            "figure-5", {"n": n}, "interquartile range of steps, directional / random",
            "much more concentrated", boxes[0] / boxes[1], None, None, pure.networks, "heard",
            *(
                ("agrees", f"the box is {boxes[1] / boxes[0]:.1f} times shorter")
                if 2 * boxes[0] < boxes[1]
                else ("differs", "the box is not even half as long")
            ),
        )  # fmt: skip
    for system in WALKS:
        settling = _settling(*(at(n=n, system=system) for n in (1500, 2000, 3500, 4000)))
        yield _row(
            "figure-5", {"system": system}, "median steps 2000/1500 over 4000/3500 nodes",
            "converges with density", *settling, at(n=1500, system=system).networks,
            "heard; below 1 where the early fall is the steeper", *judge_order(*settling),
        )  # fmt: skip


def _settling(early: Summary, less: Summary, late: Summary, least: Summary) -> _Estimate:
    """How much steeper the medians fall between the first two sizes than between the last two."""
    value = math.log(less.median / early.median) - math.log(least.median / late.median)
    logs = [np.log(row.boot_median) for row in (early, less, late, least)]
    boot = logs[1] - logs[0] - logs[3] + logs[2]
    low, high = around(value, boot, early.networks)
    return math.exp(value), math.exp(low), math.exp(high)


def judge_figure_6(found: Summaries) -> Iterator[Verdict]:
    """[drw §4.2] all 48 printed numbers, and: k = 1 takes the fewest steps."""
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
    """The 48 printed numbers of Figure 6 in the other reading of "meet"."""
    yield from _printed_steps(found, "figure-6-stepped-on", "stepped-on")


def _printed_steps(found: Summaries, figure: str, reading: str) -> Iterator[Verdict]:
    for row in published(HERE / "figure-6.csv"):
        seen = found.find("steps", reading=reading, **row.cell)
        estimate = _statistic(seen, row.metric.split()[0])
        yield _row(
            figure, row.cell, row.metric, row.value, *estimate, seen.networks, reading,
            *judge_number(row.value, *estimate, relative=STEPS_TOLERANCE, rounding=row.rounding),
        )  # fmt: skip


def judge_figure_7(found: Summaries) -> Iterator[Verdict]:
    """[drw §4.3] median and mean loads as printed; the centralised column is not what it says."""
    for row, system in _columns("figure-7"):
        seen = found.find("load", n=row.cell["n"], system=system)
        estimate = _statistic(seen, row.metric.split()[0])
        opinion, reason = judge_number(
            row.value, *estimate, relative=LOAD_TOLERANCE, rounding=row.rounding
        )
        if system == "shortest-path":
            opinion, reason = "impossible as printed", _impossible(found, row.cell)
        yield _row(
            "figure-7", {**row.cell, "system": system}, row.metric, row.value, *estimate,
            seen.networks, _path_reading(system), opinion, reason,
        )  # fmt: skip


def judge_figure_8(found: Summaries) -> Iterator[Verdict]:
    """[drw §4.3] largest and smallest loads as printed."""
    for row, system in _columns("figure-8"):
        cell = {**row.cell, "system": system}
        if row.metric == "minimum load":
            seen = found.find("load", n=row.cell["n"], system=system)
            least = seen.minimum
            opinion, reason = judge_number(
                row.value, least, least, least, relative=0.0, rounding=0.0
            )
            yield _row(
                "figure-8", cell, row.metric, row.value, least, None, None, seen.networks,
                f"{_path_reading(system)}; of all nodes, permutations, networks", opinion, reason,
            )  # fmt: skip
            continue
        seen = found.find("largest load", n=row.cell["n"], system=system)
        # A maximum has no bootstrap. One bottleneck of one network decides it, so the interval is
        # where single permutations' maxima lie, from their median up.
        estimate = (seen.maximum, seen.median, seen.maximum)
        opinion, reason = judge_number(
            row.value, *estimate, relative=EXTREME_TOLERANCE, rounding=0.0
        )
        if system == "shortest-path":
            opinion, reason = "impossible as printed", _impossible(found, row.cell)
        elif seen.units < PRINTED_PERMUTATIONS:
            opinion = "not comparable"
            reason = (
                f"the largest of {seen.units} permutations here, of {PRINTED_PERMUTATIONS} there"
            )
        yield _row(
            "figure-8", cell, row.metric, row.value, *estimate, seen.networks,
            f"{_path_reading(system)}; interval: from the median of the permutations' largest up",
            opinion, reason,
        )  # fmt: skip


def _columns(figure: str) -> list[tuple[Published, str]]:
    """A table's printed values by column, each with the system that it is held against."""
    rows = [
        (row, system)
        for row in published(HERE / f"{figure}.csv")
        for system in _stand_ins(str(row.cell["system"]))
    ]
    order = (*WALKS, "shortest-path", "breadth-first-tree")
    return sorted(rows, key=lambda pair: order.index(pair[1]))


def judge_figure_9(found: Summaries) -> Iterator[Verdict]:
    """[drw §4.3] which way of building paths balances the load, and how badly the others do."""
    for system in WALKS:
        for n in SIZES_LOAD:
            seen = found.find("load", n=n, system=system)
            skew = seen.mean / seen.median
            close = abs(skew - 1) <= CLOSE
            yield _row(
                "figure-9", {"n": n, "system": system}, "mean / median load",
                "very close" if system == "random-walk" else "good at balancing", skew, None, None,
                seen.networks, f"heard; close means within {CLOSE:.0%}".replace("%", " %"),
                "agrees" if close or (system == "directional-walk" and skew < 1.25) else "differs",
                f"the mean is {skew - 1:+.0%} of the median".replace("%", " %"),
            )  # fmt: skip
    for system in ("shortest-path", "breadth-first-tree"):
        for n in SIZES_LOAD:
            seen = found.find("largest load", n=n, system=system)
            share = (seen.mean / n, seen.mean_low / n, seen.mean_high / n)
            yield _row(
                "figure-9", {"n": n, "system": system}, "largest load / n", "close to half",
                *share, seen.networks, _path_reading(system),
                *judge_range(0.4, 0.6, *share, rounding=0.05),
            )  # fmt: skip


def _statistic(seen: Summary, name: str) -> _Estimate:
    if name == "median":
        return seen.median, seen.median_low, seen.median_high
    return seen.mean, seen.mean_low, seen.mean_high


def _stand_ins(system: str) -> tuple[str, ...]:
    """What may be meant by a column: the centralised one is tried two ways."""
    return (system, "breadth-first-tree") if system == "shortest-path" else (system,)


def _path_reading(system: str) -> str:
    return {
        "shortest-path": "true shortest paths, ties at random",
        "breadth-first-tree": "paths in one breadth-first tree with a random root",
    }.get(system, "heard")


def _impossible(found: Summaries, cell: dict[str, Scalar]) -> str:
    """Why the printed column cannot be shortest paths: its means are no lengths of theirs."""
    mean = found.find("load", n=cell["n"], system="shortest-path").mean
    printed = next(
        row.value
        for row in published(HERE / "figure-7.csv")
        if row.metric == "mean load" and row.cell == {**cell, "system": "shortest-path"}
    )
    return (
        "a mean load is the mean number of nodes on a path; shortest paths have "
        f"{mean:.0f}, the printed column {printed:g}"
    )
