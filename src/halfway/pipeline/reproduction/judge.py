"""The judgement of a measured value against a published number, range or order."""

import math

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

WIDEST = 0.25  # maximum half-width of an interval, as a share of the value, for "agrees"
RELEVANT = 0.01  # of a ratio: a smaller distance from 1 is a trend at most
Judged = tuple[Opinion, str]
_OURS: dict[Opinion, Opinion] = {"agrees": "ours holds", "differs": "ours fails"}


def ours(judged: Judged) -> Judged:
    """Return the judgement of a statement of ours, which no paper prints, such as an
    expectation.
    """
    opinion, reason = judged
    return _OURS.get(opinion, "ours open"), reason


def judge_number(
    published: float,
    measured: float,
    low: float,
    high: float,
    *,
    relative: float,
    rounding: float = 0.5,
) -> Judged:
    """Judge a measured value against a paper's printed number.

    The value agrees in two cases: it is within `relative` (0.1 is ±10 %) of the printed value, or
    the printed value with its rounding lies inside our 95 % interval [low, high]. Otherwise it
    differs. An interval wider than `WIDEST` cannot make a value agree. Without an interval (nan:
    one network), a value out of tolerance is not comparable: the deviation may be chance.
    """
    if math.isnan(measured):
        return "not comparable", "nothing was measured"
    off = f"{measured:+.4g} from a printed 0"
    if published != 0:
        off = f"{100 * (measured / published - 1):+.1f} % from the printed value"
    if abs(measured - published) <= relative * abs(published):
        return "agrees", f"{off}, inside ±{100 * relative:g} %"
    if math.isnan(low) or math.isnan(high):
        return "not comparable", f"{off}, and one network gives no interval"
    interval = f"[{low:.4g}, {high:.4g}]"
    if low - rounding <= published <= high + rounding:
        if high - low > 2 * WIDEST * abs(measured):
            return "not comparable", f"{off}, and our interval {interval} is too wide to decide"
        return "agrees", f"{off}, the printed value is inside our interval {interval}"
    return "differs", f"{off}, outside ±{100 * relative:g} % and outside our interval {interval}"


def judge_range(
    least: float, most: float, measured: float, low: float, high: float, *, rounding: float = 0.5
) -> Judged:
    """Judge a measured value against a paper's printed range.

    Agrees if the value lies in the range, plus or minus its rounding. Outside, it differs if our
    interval does not overlap the range; else it is not comparable.
    """
    if math.isnan(measured):
        return "not comparable", "nothing was measured"
    printed = f"{least:g} to {most:g}"
    if least - rounding <= measured <= most + rounding:
        return "agrees", f"{measured:.4g} is within {printed}"
    outside = f"{measured:.4g} is not in {printed}"
    if math.isnan(low) or math.isnan(high):
        return "not comparable", f"{outside}; one network, no interval"
    interval = f"[{low:.4g}, {high:.4g}]"
    if high >= least - rounding and low <= most + rounding:
        return "not comparable", f"{outside}, but our interval {interval} overlaps it"
    return "differs", f"{measured:.4g} {interval} is not in {printed}"


def judge_order(
    value: float,
    low: float,
    high: float,
    *,
    equal: float = 1.0,
    what: str = "",
    relevant: float | None = None,
) -> Judged:
    """Judge the order "a is less than b" by the paired ratio a/b (or difference, with `equal=0`).

    `what` names another value that must lie below `equal`. relevant: the least distance from
    `equal` that counts as an order; by default `RELEVANT` around 1, and 0 around other values.

    Agrees if the 95 % interval lies below equality, and differs if it lies above. If the interval
    has equality, or the distance is not relevant, only the estimate has a direction: same trend
    below, opposite trend above. For "greater", pass b/a.
    """
    if math.isnan(value):
        return "not comparable", "nothing was measured"
    what = what or ("ratio" if equal else "difference")
    shown = f"{what} {value:.4g} [{low:.4g}, {high:.4g}]"
    if math.isnan(low) or math.isnan(high):
        shown = f"{what} {value:.4g}, one network, no interval"
    if relevant is None:
        relevant = RELEVANT if equal == 1.0 else 0.0
    if value == equal:
        return "not comparable", f"{shown}, equal"
    side = "below" if value < equal else "above"
    if not (high < equal or low > equal):
        reason = f"{shown}, does not exclude {equal:g}"
    elif abs(value - equal) < relevant:
        reason = f"{shown}, less than {relevant:g} {side} {equal:g}"
    else:
        return "agrees" if side == "below" else "differs", f"{shown}, {side} {equal:g}"
    return "same trend" if side == "below" else "opposite trend", reason


def judge_ratio(
    paper: str,
    figure: str,
    cell: dict[str, Scalar],
    metric: str,
    claim: str | None,
    summary: Summary,
    other: Summary,
    interpretation: str,
) -> Verdict:
    """Judge the statement that the mean of `summary` is less than the mean of `other`, by a paired
    estimate of the ratio.

    claim: the paper's clause; None for a statement of ours.
    """
    share = ratio(summary, other, "mean")
    opinion = judge_order(*share) if claim else ours(judge_order(*share))
    return Verdict(
        paper, figure, cell, metric, claim, *share, summary.networks, interpretation, *opinion
    )
