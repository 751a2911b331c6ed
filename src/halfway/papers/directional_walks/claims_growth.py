"""Judge of paper 1's growth study: the growth of each cost with the number of nodes."""

import math
from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import NEAR, RARE, TOO_SENSITIVE, VERY_NEAR, percent
from halfway.papers.directional_walks.claims import WALKS
from halfway.papers.directional_walks.growth_points import CELLS, DEGREES, LARGEST_DEGREE
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order, judge_range, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import around
from halfway.pipeline.statistics.exponents import exponent, slopes
from halfway.pipeline.statistics.summary import Summary

_FIGURE, _LARGEST = "growth", "growth-largest"
_row = partial(Verdict, "directional-walks", _FIGURE)
_CLAUSE = "must not be too sensitive to the total number of nodes in the network"
_DECADES = 3  # sizes of the last two decades
# A straight line of n^(1/2) hops; a loop-erased random walk in the plane has dimension 5/4
# (Kenyon, Acta Math. 185, 2000), and the back pointers of a random walk lead along one.
_STRAIGHT, _LOOP_ERASED = 1 / 2, 5 / 8


def judge_growth(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the growth study of paper 1 [drw §1]: the growth of directional walks and of their
    rivals with the number of nodes, by exponents fitted to the medians.
    """
    for degree in DEGREES:
        at = partial(_sizes, summaries, degree=degree)
        steps = at("steps", system=WALKS[0])
        yield _sensitivity(_FIGURE, steps, degree)
        yield _sensitivity(_FIGURE, steps[-_DECADES:], degree)
        pure = at("steps", system=WALKS[1])
        yield _expected(pure, degree, WALKS[1], "median steps", 1 - NEAR, 1 + NEAR,
                        "proportional to n: a share of all nodes")  # fmt: skip
        low, high = _STRAIGHT * (1 - VERY_NEAR), _LOOP_ERASED * (1 + VERY_NEAR)
        for system in WALKS:
            yield _expected(at("path", system=system), degree, system, "median path", low, high,
                            "between a straight line, 1/2, and a loop-erased walk, 5/8; "
                            f"{percent(VERY_NEAR)} for small n")  # fmt: skip
            yield from _with_steps(summaries, degree, system)
        yield _joined(summaries, degree)
    dense = _sizes(summaries, "path", degree=DEGREES[-1], system=CELLS)
    yield _expected(dense, DEGREES[-1], CELLS, "median path", _STRAIGHT * (1 - NEAR),
                    _STRAIGHT * (1 + NEAR), "a straight line")  # fmt: skip


def judge_largest(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the largest networks of paper 1's growth study [drw §1], and count pairs that do not
    meet.
    """
    yield _sensitivity(_LARGEST, _sizes(summaries, "steps"), LARGEST_DEGREE)
    for lost in _sizes(summaries, "unmet"):
        estimate = (lost.mean, lost.mean_low, lost.mean_high)
        yield Verdict(
            "directional-walks", _LARGEST, {"degree": LARGEST_DEGREE, "n": lost.parameters["n"]},
            "share of the pairs that do not meet", None, *estimate, lost.networks,
            f"ours: at most {percent(RARE)}; both ends are in the giant component",
            *ours(judge_range(0.0, RARE, *estimate, rounding=0.0)),
        )  # fmt: skip


def _sizes(summaries: Summaries, metric: str, **where: Scalar) -> list[Summary]:
    """Return the summaries of a metric of paper 1's growth study, in the order of n."""
    rows = summaries.select(metric, **where)
    return sorted(rows, key=lambda row: float(row.parameters["n"]))


def _sensitivity(figure: str, steps: list[Summary], degree: int) -> Verdict:
    """Return the verdict of directional walks' sensitivity [drw §1] to n, over the given sizes."""
    slope = exponent(steps, "n", "median")
    first, last = (math.log10(float(row.parameters["n"])) for row in (steps[0], steps[-1]))
    span = f"10^{first:.0f} to 10^{last:.0f}"
    return Verdict(
        "directional-walks", figure, {"degree": degree, "system": WALKS[0], "sizes": span},
        "exponent of n, median steps", _CLAUSE, *slope, steps[-1].networks,
        f'heard; "too sensitive" means an exponent above {TOO_SENSITIVE:g}; flooding has 1',
        *judge_order(*slope, equal=TOO_SENSITIVE, what="exponent of the steps"),
    )  # fmt: skip


def _expected(
    sizes: list[Summary],
    degree: int,
    system: str,
    what: str,
    least: float,
    most: float,
    meaning: str,
) -> Verdict:
    """Return our expectation of an exponent of directional walks or a rival, as a verdict."""
    slope = exponent(sizes, "n", "median")
    return _row(
        {"degree": degree, "system": system}, f"exponent of n, {what}", None, *slope,
        sizes[0].networks, f"ours: {meaning}",
        *ours(judge_range(least, most, *slope, rounding=0.0)),
    )  # fmt: skip


def _with_steps(summaries: Summaries, degree: int, system: str) -> Iterator[Verdict]:
    """Yield our expectation that state and messages of directional walks grow as the steps do."""
    steps, boot_steps = slopes(
        _sizes(summaries, "steps", degree=degree, system=system), "n", "median"
    )
    for metric in ("state", "messages"):
        sizes = _sizes(summaries, metric, degree=degree, system=system)
        value, boot = slopes(sizes, "n", "median")
        apart = value - steps
        interval = around(apart, boot - boot_steps, sizes[0].networks)
        yield _row(
            {"degree": degree, "system": system}, f"exponent of n, median {metric} minus steps",
            None, apart, *interval, sizes[0].networks,
            f"ours: as the steps, at most {VERY_NEAR:g} more and {NEAR:g} less, as a pure walk "
            f"comes back to its nodes; the exponent itself is {value:.3f}",
            *ours(judge_range(-NEAR, VERY_NEAR, apart, *interval, rounding=0.0)),
        )  # fmt: skip


def _joined(summaries: Summaries, degree: int) -> Verdict:
    """Return our expectation in the growth study that cell routing, a rival of directional walks,
    joins pairs on the largest network.
    """
    lost = _sizes(summaries, "unmet", degree=degree, system=CELLS)[-1]
    estimate = (lost.mean, lost.mean_low, lost.mean_high)
    n = lost.parameters["n"]
    return _row(
        {"degree": degree, "system": CELLS, "n": n}, "share of the pairs without a path", None,
        *estimate, lost.networks,
        f"ours: at most {percent(VERY_NEAR)}; cells of a populated component must percolate",
        *ours(judge_range(0.0, VERY_NEAR, *estimate, rounding=0.0)),
    )  # fmt: skip
