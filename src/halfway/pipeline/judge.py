"""Opinions: a published number, range or order beside what we measured. Pure."""

import math

from halfway.pipeline.verdict import Opinion

WIDEST = 0.25  # half an interval wider than this share of the value cannot make it agree
Judged = tuple[Opinion, str]


def judge_number(
    published: float,
    measured: float,
    low: float,
    high: float,
    *,
    relative: float,
    rounding: float = 0.5,
) -> Judged:
    """Agrees if within `relative` (0.1 is ±10 %) of the printed value, or if the printed value,
    give or take its rounding, lies inside our 95 % interval [low, high]; else differs. An interval
    too wide to tell (`WIDEST`) makes nothing agree.

    Without an interval (nan: one network) a number out of tolerance cannot be told from chance.
    """
    if math.isnan(measured):
        return "not comparable", "nothing was measured"
    off = _off(published, measured)
    if abs(measured - published) <= relative * abs(published):
        return "agrees", f"{off}, inside ±{100 * relative:g} %"
    if math.isnan(low) or math.isnan(high):
        return "not comparable", f"{off}, and one network gives no interval"
    interval = f"[{low:.4g}, {high:.4g}]"
    if low - rounding <= published <= high + rounding:
        if high - low > 2 * WIDEST * abs(measured):
            return "not comparable", f"{off}, and our interval {interval} is too wide to tell"
        return "agrees", f"{off}, the printed value is inside our interval {interval}"
    return "differs", f"{off}, outside ±{100 * relative:g} % and outside our interval {interval}"


def judge_range(
    least: float, most: float, measured: float, low: float, high: float, *, rounding: float = 0.5
) -> Judged:
    """Agrees if the measured value lies in the printed range, give or take its rounding, or if our
    interval reaches into it; else differs."""
    if math.isnan(measured):
        return "not comparable", "nothing was measured"
    printed = f"{least:g} to {most:g}"
    if least - rounding <= measured <= most + rounding:
        return "agrees", f"{measured:.4g} is within {printed}"
    if math.isnan(low) or math.isnan(high):
        return "not comparable", f"{measured:.4g} is not in {printed}; one network, no interval"
    interval = f"[{low:.4g}, {high:.4g}]"
    if high >= least - rounding and low <= most + rounding:
        return "agrees", f"{measured:.4g} is not in {printed}, but our interval {interval} meets it"
    return "differs", f"{measured:.4g} {interval} is not in {printed}"


def judge_order(value: float, low: float, high: float, *, equal: float = 1.0) -> Judged:
    """A claim "a is less than b", from the paired ratio a/b (or difference, with `equal=0`).

    Agrees if the 95 % interval lies below equality, differs if above; same trend if only the
    estimate lies below. For "greater", hand over b/a.
    """
    if math.isnan(value):
        return "not comparable", "nothing was measured"
    what = "ratio" if equal else "difference"
    shown = f"{what} {value:.4g} [{low:.4g}, {high:.4g}]"
    if math.isnan(low) or math.isnan(high):
        shown = f"{what} {value:.4g}, one network, no interval"
    if high < equal:
        return "agrees", f"{shown}, below {equal:g}"
    if low > equal:
        return "differs", f"{shown}, the other way round"
    if value < equal:
        return "same trend", f"{shown}, does not exclude {equal:g}"
    return "not comparable", f"{shown}, cannot be told from {equal:g}"


def _off(published: float, measured: float) -> str:
    if published == 0:
        return f"{measured:+.4g} from a printed 0"
    return f"{100 * (measured / published - 1):+.1f} % from the printed value"
