"""The random waypoint mobility model, from a stationary or a uniform start."""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded, uniform
from halfway.problem import Problem
from halfway.world.graphs.network import LARGEST
from halfway.world.mobility.motion import Legs

_SMALLEST = 1e-6  # m, m/s: below it, quotients of lengths and speeds overflow


class _Waypoint(NamedTuple):
    """The parameters of random waypoint: metres, metres a second, seconds."""

    width: float
    height: float
    slow: float
    fast: float
    short: float
    long: float
    pausing: float  # probability of a pause at t = 0; negative if all nodes depart at t = 0
    bands: int  # doublings from slow to fast


def random_waypoint(
    n: int,
    width: float,
    height: float,
    *,
    speed: tuple[float, float],
    pause: tuple[float, float] = (0.0, 0.0),
    seconds: float,
    seed: int,
    start: Literal["stationary", "uniform"] = "stationary",
) -> Legs:
    """Draw random waypoint paths: straight to a uniform point of [0, width] x [0, height], pause.

    Each leg draws its speed, and then its pause, uniformly from (low, high). The random state of
    node i depends on (seed, i), so other nodes and longer runs do not change its path. No leg
    starts at or after `seconds`.

    start="stationary" draws time 0 from the model's stationary distribution (Navidi & Camp, IEEE
    TMC 3(1), 2004): the right shares of nodes are paused or moving, and the probability of a speed
    v is in proportion to 1/v, and of a leg to its length. No warm-up is needed. It requires low >
    0: slow legs last long, and without a least speed there is no stationary distribution.
    start="uniform" is the naive start of many papers: each node departs from a uniform point at t =
    0. The mean speed then falls for a long time, from (low + high)/2 towards (high -
    low)/ln(high/low), which is 0 for low = 0 (Yoon, Liu & Noble, INFOCOM 2003), and the nodes
    gather in the centre. Discard the beginning, or avoid this start. Raises Problem for bad values.
    """
    course = WaypointMotion(
        n, width, height, speed=speed, pause=pause, seconds=seconds, seed=seed, start=start
    )
    return course.legs(0.0, seconds)


class WaypointMotion:
    """The random waypoint model as a source of paths, window by window, without past legs in
    memory.

    Arguments as of `random_waypoint`. A window that begins before the end of the last window
    restarts the model.
    """

    def __init__(
        self,
        n: int,
        width: float,
        height: float,
        *,
        speed: tuple[float, float],
        pause: tuple[float, float] = (0.0, 0.0),
        seconds: float,
        seed: int,
        start: Literal["stationary", "uniform"] = "stationary",
    ) -> None:
        _check_waypoint(n, width, height, speed, pause, seconds, seed, start)
        (slow, fast), (short, long) = speed, pause
        trip = _mean_distance(width, height) * _mean_slowness(slow, fast)
        rest = (short + long) / 2.0
        pausing = rest / (rest + trip) if start == "stationary" else -1.0
        bands = math.ceil(math.log2(fast / slow)) if start == "stationary" else 0
        area, chance = (float(width), float(height)), float(pausing)
        speeds = float(slow), float(fast), float(short), float(long)
        self._model = _Waypoint(*area, *speeds, chance, bands)
        self.n, self._seed, self._seconds, self._cycle = n, seed, float(seconds), rest + trip
        self._begin()

    def _begin(self) -> None:
        n, last = self.n, np.tile([0.0, -1.0, 0.0, 0.0, 0.0, 0.0], (self.n, 1))
        self._ahead = _Ahead(np.empty(n, np.uint64), last, np.zeros(n), np.empty((n, 5)))
        _draw_starts(self._model, np.uint64(self._seed), self._ahead)
        self._until = 0.0

    def legs(self, t0: float, t1: float) -> Legs:
        """Return random waypoint legs in [t0, t1] seconds; none starts at or after `seconds`."""
        if t0 < self._until:
            self._begin()
        until = float(min(t1, self._seconds))  # a whole number would be another type
        capacity = int(self.n * (1.2 * max(until - self._until, 0.0) / self._cycle + 3.0)) + 64
        self._until = t1
        first, columns = np.empty(self.n + 1, np.int64), [np.empty(capacity) for _ in range(6)]
        i, k = 0, 0
        while i < self.n:
            i, k = _write_legs(self._model, until, self._ahead, Legs(first, *columns), i, k)
            if i < self.n:  # the estimate was low: grow and repeat this node
                columns = [np.concatenate((column, np.empty(capacity))) for column in columns]
        return Legs(first, *(column[:k].copy() for column in columns))


def _mean_distance(width: float, height: float) -> float:
    """Return the mean distance of two uniform waypoints in a rectangle (Ghosh 1951)."""
    b, a = sorted((width, height))
    if b < 1e-4 * a:  # nearly a line: the formula below loses its digits
        return a / 3.0
    d = math.hypot(a, b)
    square = (a**3 / b**2 + b**3 / a**2 + d * (3.0 - (a / b) ** 2 - (b / a) ** 2)) / 15.0
    return square + (b * b / a * math.acosh(d / b) + a * a / b * math.acosh(d / a)) / 6.0


def _mean_slowness(slow: float, fast: float) -> float:
    """Return random waypoint's mean of 1/v for uniform v, in s/m; finite even if slow = 0."""
    if slow == fast:
        return 1.0 / slow
    low = max(slow, fast * 1e-9)
    return math.log(fast / low) / (fast - low)


def _expect(holds: bool, what: str, remedy: str = "") -> None:
    if not holds:
        raise Problem(what, where="random waypoint", remedy=remedy)


def _check_waypoint(
    n: int,
    width: float,
    height: float,
    speed: tuple[float, float],
    pause: tuple[float, float],
    seconds: float,
    seed: int,
    start: str,
) -> None:
    _expect(1 <= n < 2**31, f"n = {n}: expected 1 to 2^31 - 1 nodes")
    for name, length in (("width", width), ("height", height)):
        what = f"{name} = {length:g}: expected a finite length >= {_SMALLEST:g}"
        _expect(_SMALLEST <= length < LARGEST, what)
    what = f"start = '{start}': expected 'stationary' or 'uniform'"
    _expect(start in ("stationary", "uniform"), what)
    what = f"speed = ({speed[0]:g}, {speed[1]:g}): expected 0 <= low <= high, high > 0"
    _expect(0.0 <= speed[0] <= speed[1] < LARGEST and speed[1] > 0.0, what)
    for value in speed:
        _expect(
            not 0.0 < value < _SMALLEST, f"speed = {value:g}: expected 0, or at least {_SMALLEST:g}"
        )
    what = (
        "speed: expected low > 0 for a stationary start, because otherwise the mean speed falls "
        "for ever"
    )
    _expect(start == "uniform" or speed[0] > 0.0, what, "use low > 0, or start = 'uniform'")
    what = f"pause = ({pause[0]:g}, {pause[1]:g}): expected 0 <= low <= high"
    _expect(0.0 <= pause[0] <= pause[1] < LARGEST, what)
    _expect(0.0 < seconds < LARGEST, f"seconds = {seconds:g}: expected a positive, finite time")
    _expect(0 <= seed < 2**64, f"seed = {seed}: expected an integer from 0 to 2^64 - 1")


@inlined
def _point(model, word):
    word = advanced(word)
    x = uniform(mixed(word)) * model.width
    word = advanced(word)
    return word, x, uniform(mixed(word)) * model.height


@inlined
def _between(word, low, high):
    word = advanced(word)
    # From 1 - u, which is never 0: a node of speed 0 would never arrive.
    return word, low + (1.0 - uniform(mixed(word))) * (high - low)


@inlined
def _slow_speed(model, word):
    # Density 1/v without a logarithm, whose last bit differs between machines: all doublings of
    # the speed are equally likely, and inside one a uniform speed is accepted with low/v.
    while model.bands > 0:
        word = advanced(word)
        low = model.slow
        for _ in range(pick(mixed(word), model.bands)):
            low *= 2.0
        word = advanced(word)
        part = 1.0 + uniform(mixed(word))
        word = advanced(word)
        if uniform(mixed(word)) * part < 1.0 and low * part <= model.fast:
            return word, low * part
    return word, model.slow


@inlined
def _moving_start(model, word):
    # At a moment of the stationary process, the probability of a leg is proportional to its
    # duration, distance / speed: distance and speed are independent, each with its weight.
    widest = math.sqrt(model.width * model.width + model.height * model.height)
    while True:
        word, x, y = _point(model, word)
        word, x1, y1 = _point(model, word)
        far = math.sqrt((x1 - x) * (x1 - x) + (y1 - y) * (y1 - y))
        word = advanced(word)
        if uniform(mixed(word)) * widest < far:
            break
    word, v = _slow_speed(model, word)
    word = advanced(word)
    part = uniform(mixed(word))
    return word, x + part * (x1 - x), y + part * (y1 - y), x1, y1, (1.0 - part) * far / v


@inlined
def _pause_left(model, word):
    # The current pause is weighted by its length; the moment in it is uniform.
    word = advanced(word)
    low, high = model.short * model.short, model.long * model.long
    whole = math.sqrt(low + uniform(mixed(word)) * (high - low))
    word = advanced(word)
    return word, uniform(mixed(word)) * whole


@inlined
def _trip(model, word, x, y):
    word, x1, y1 = _point(model, word)
    word, v = _between(word, model.slow, model.fast)
    return word, x1, y1, math.sqrt((x1 - x) * (x1 - x) + (y1 - y) * (y1 - y)) / v


class _Ahead(NamedTuple):
    """The state of random waypoint per node: random state, last leg written, and next leg."""

    word: npt.NDArray[np.uint64]  # [n]
    last: npt.NDArray[np.float64]  # [n, 6] t0, t1, x0, y0, x1, y1; t1 < t0 before the first
    t: npt.NDArray[np.float64]  # [n] seconds, start of the next leg
    leg: npt.NDArray[np.float64]  # [n, 5] x0, y0, x1, y1 of the next leg, and its duration


@kernel
def _draw_starts(model, seed, ahead):
    for i in range(ahead.word.shape[0]):
        word = advanced(seeded(seed, i))
        t = 0.0
        if uniform(mixed(word)) < model.pausing or model.pausing < 0.0:
            word, x, y = _point(model, word)
            if model.pausing > 0.0:
                word, t = _pause_left(model, word)
            word, x1, y1, duration = _trip(model, word, x, y)
        else:
            word, x, y, x1, y1, duration = _moving_start(model, word)
        ahead.word[i], ahead.t[i] = word, t
        ahead.leg[i] = (x, y, x1, y1, duration)


@inlined
def _write(legs, k, leg):
    legs.t0[k], legs.t1[k] = leg[0], leg[1]
    legs.x0[k], legs.y0[k], legs.x1[k], legs.y1[k] = leg[2], leg[3], leg[4], leg[5]


@kernel
def _write_legs(model, until, ahead, legs, begin, k):
    # Write the legs of nodes from `begin` on, from entry k on; return where it stopped (full). A
    # node's legs are the last one written before and those that begin before `until`: at least one.
    capacity = legs.t0.shape[0]
    for i in range(begin, legs.first.shape[0] - 1):
        legs.first[i] = begun = k
        # A node is stored only if all its legs fit.
        word, t = ahead.word[i], ahead.t[i]
        x, y, x1, y1 = ahead.leg[i, 0], ahead.leg[i, 1], ahead.leg[i, 2], ahead.leg[i, 3]
        duration = ahead.leg[i, 4]
        last = ahead.last[i].copy()
        if last[1] >= last[0]:
            if k == capacity:
                return i, begun
            _write(legs, k, last)
            k += 1
        while t < until or k == begun:
            if k == capacity:
                return i, begun
            last[:] = (t, t + duration, x, y, x1, y1)
            _write(legs, k, last)
            k += 1
            word, rest = _between(word, model.short, model.long)
            t, x, y = t + duration + rest, x1, y1
            word, x1, y1, duration = _trip(model, word, x, y)
        ahead.word[i], ahead.t[i], ahead.last[i] = word, t, last
        ahead.leg[i] = (x, y, x1, y1, duration)
    legs.first[-1] = k
    return legs.first.shape[0] - 1, k
