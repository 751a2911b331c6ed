"""DRIP §V-C: the time until all destinations have a copy; exact, as printed, by Monte Carlo."""

import math

import numpy as np
import numpy.typing as npt

from halfway.pipeline.plan.run import Observations, Run

_MOST_STEPS = 400_000  # after these, two random walks on a grid count as never having met


def exact_mean(destinations: int, copies: int, rate: float = 1.0) -> float:
    """DRIP's exact mean of the largest of l minima of m exponentials: H_l / (m rate).

    It follows from equation (1): the largest of l independent exponentials of rate r has the mean
    (1 + 1/2 + … + 1/l) / r [e.g. Feller, An Introduction to Probability Theory 2, §I.6].
    """
    return sum(1.0 / j for j in range(1, destinations + 1)) / (copies * rate)


def printed_mean(destinations: int, copies: int, rate: float = 1.0) -> float:
    """DRIP's mean as printed [drip §V-C], "(l² + 3l) / 4mλ": the truncation with the sign of its
    last term inverted."""
    return destinations * (destinations + 3) / (4.0 * copies * rate)


def printed_meeting(grid: float, brokers: int) -> float:
    """DRIP's meeting time as printed [drip §V-C], 1/λ in steps,
    "0.5N(0.34 log N - 2 + α/(2^α - 1))", α = 2 sqrt(N / π k)."""
    reach = 2.0 * math.sqrt(grid / (math.pi * brokers))
    tail = 0.0 if reach > 60.0 else reach / (2.0**reach - 1.0)
    return 0.5 * grid * (0.34 * math.log(grid) - 2.0 + tail)


def waits(run: Run) -> Observations:
    """Draw times of DRIP's equation (1): l destinations, m copies, λ = 1; a unit is an event."""
    rng = np.random.default_rng(run.workload_seed)
    found = rng.exponential(size=(run["draws"], run["destinations"], run["copies"]))
    return {"wait": found.min(axis=2).max(axis=1)}


def grid_meetings(run: Run) -> Observations:
    """Simulate DRIP's meeting of two walks on a torus of N points, within α; a unit is a pair.

    Both move one step at a time, from uniform positions; the distance is counted in steps.
    """
    rng = np.random.default_rng(run.workload_seed)
    side = math.isqrt(run["grid"])
    reach = 2.0 * math.sqrt(side * side / (math.pi * run["brokers"]))
    gap = rng.integers(side, size=(run["draws"], 2))
    met = np.full(run["draws"], np.nan)
    for step in range(_MOST_STEPS):
        near = np.isnan(met) & (_apart(gap, side) <= reach)
        met[near] = step
        if not np.isnan(met).any():
            break
        for _ in range(2):  # both walk
            _walk(gap, rng, side)
    return {"meeting": met[np.isfinite(met)], "never met": np.isnan(met).astype(np.float64)}


def _apart(gap: npt.NDArray[np.int64], side: int) -> npt.NDArray[np.int64]:
    return np.asarray(np.minimum(gap, side - gap).sum(axis=1))


def _walk(gap: npt.NDArray[np.int64], rng: np.random.Generator, side: int) -> None:
    towards = rng.integers(4, size=len(gap))
    gap[:, 0] += (towards == 0).astype(np.int64) - (towards == 1)
    gap[:, 1] += (towards == 2).astype(np.int64) - (towards == 3)
    gap %= side
