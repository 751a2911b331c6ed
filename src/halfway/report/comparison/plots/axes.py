"""The axes of the SVG plots of a comparison: scales, ticks and labels."""

import math
from collections.abc import Iterable
from typing import NamedTuple

_WIDE = 40.0  # above this ratio of the ends an axis is logarithmic
_BELOW = 3.0  # room below the least value on a logarithmic axis
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Axis(NamedTuple):
    """An axis of a comparison plot: a scale from values to positions, linear or logarithmic, with
    ticks.
    """

    low: float
    high: float
    first: float  # the position of `low`, in the units of the picture
    last: float
    log: bool
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return a value's position on a plot's axis; values beyond the ends are drawn at
        the ends.
        """
        low, high, one = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, one = math.log(low), math.log(high), math.log(one)
        return self.first + (one - low) / (high - low) * (self.last - self.first)


def axis(values: Iterable[float], first: float, last: float, log: bool | None = None) -> Axis:
    """Return a plot's axis for finite values. log=None: logarithmic if they are not negative and
    far apart.

    A logarithmic axis has its zeros at its low end, with a tick of their own.
    A linear axis of positive values begins at 0 if that wastes less than half of it.
    """
    known = [value for value in values if math.isfinite(value)]
    if log or log is None:
        positive = [value for value in known if value > 0.0]
        wide = bool(positive) and max(positive) > _WIDE * min(positive)
        if positive and (log or (wide and min(known) >= 0.0)):
            zero_tick = log is None and min(known) == 0.0
            return _logarithmic(min(positive), max(positive), first, last, zero_tick)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low > 0.0 and low < 0.5 * high:
        low = 0.0
    if high <= low:
        margin = abs(high) * 0.05 or 1.0
        low, high = low - margin, high + margin
    step = _step((high - low) / 4.5)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    count = round((high - low) / step)
    ticks = tuple(low + k * step for k in range(count + 1))
    return Axis(low, high, first, last, False, ticks)


def label(value: float) -> str:
    """Return the text of a tick on a plot's axis, with as few digits as possible."""
    if value == 0.0:
        return "0"
    if 0.001 <= abs(value) < 1e6:
        return f"{value:,.4g}" if abs(value) < 1000.0 else f"{value:,.0f}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(power)}"


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))


def with_intervals(values: Iterable[float], ends: Iterable[float]) -> list[float]:
    """Return the values for an axis of a comparison plot: the drawn values, and the ends of
    intervals as far as they may reach.

    An end that is close to 0 would leave no room for the values on a logarithmic axis. Where 0 is
    drawn, such an end is 0; elsewhere it stays in sight of the least value.
    """
    known = [value for value in values if math.isfinite(value)]
    positive = [value for value in known if value > 0.0]
    if not positive or min(known) < 0.0:
        return [*known, *(end for end in ends if math.isfinite(end))]
    least = min(positive) / _BELOW
    low = 0.0 if 0.0 in known else least
    return [*known, *(end if end >= least else low for end in ends if math.isfinite(end))]


def _logarithmic(low: float, high: float, first: float, last: float, zero: bool) -> Axis:
    if high <= low * 1.05:
        low, high = low / 1.5, high * 1.5
    low, high = low / (_BELOW if zero else 1.08), high * 1.08
    fine = (1.0, 2.0, 5.0) if high < 200 * low else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in fine]
    within = tuple(tick for tick in ticks if low <= tick <= high)
    return Axis(low, high, first, last, True, (0.0, *within) if zero else within)
