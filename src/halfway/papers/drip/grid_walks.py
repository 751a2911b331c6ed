"""Walks on a torus, as DRIP §V-C assumes, until two walks meet, or until all destinations have a
copy.
"""

import math

import numpy as np
import numpy.typing as npt

from halfway.papers.drip.analysis import reach
from halfway.pipeline.plan.run import Observations, Run

_MOST_STEPS = 400_000  # after these, random walks on a grid count as never having met
Steps = npt.NDArray[np.int64]


def grid_meetings(run: Run) -> Observations:
    """Simulate DRIP's meeting of two walks on a torus of N points, within α; a unit is a pair.

    Both move one step at a time, from uniform positions; the distance is counted in steps.
    deviation: the standard deviation of the meeting times over their mean, one for the network.
    """
    rng = np.random.default_rng(run.workload_seed)
    side = math.isqrt(run["grid"])
    alpha = reach(side * side, run["brokers"])
    gap = rng.integers(side, size=(run["draws"], 2))
    met = np.full(run["draws"], np.nan)
    for step in range(_MOST_STEPS):
        near = np.isnan(met) & (_distance(gap, side) <= alpha)
        met[near] = step
        if not np.isnan(met).any():
            break
        for _ in range(2):  # both walk
            _walk(gap, rng, side)
    times = met[np.isfinite(met)]
    return {
        "meeting": times,
        "never met": np.isnan(met).astype(np.float64),
        "deviation": np.array([times.std() / times.mean()]),
    }


def grid_deliveries(run: Run) -> Observations:
    """Simulate DRIP's delivery on a torus of N points; a unit is an event.

    m brokers with a copy and l destinations walk from uniform positions, one step at a time. A
    destination has a copy when it is within α of one of the m. complete: steps until all l have it.
    """
    rng = np.random.default_rng(run.workload_seed)
    side, draws = math.isqrt(run["N"]), run["draws"]
    alpha = reach(side * side, run["k"])
    copies = rng.integers(side, size=(draws, 1, run["m"], 2))
    destinations = rng.integers(side, size=(draws, run["l"], 1, 2))
    lacks = np.ones((draws, run["l"]), np.bool_)
    complete = np.full(draws, np.nan)
    for step in range(_MOST_STEPS):
        lacks &= (_distance(copies - destinations, side) > alpha).all(axis=2)
        complete[np.isnan(complete) & ~lacks.any(axis=1)] = step
        if not np.isnan(complete).any():
            break
        for walkers in (copies, destinations):
            _walk(walkers, rng, side)
    return {"complete": complete[np.isfinite(complete)]}


def _distance(gap: Steps, side: int) -> Steps:
    """Return the steps between points of the walks' torus, by their gaps [..., 2]."""
    gap = np.abs(gap) % side
    return np.asarray(np.minimum(gap, side - gap).sum(axis=-1))


def _walk(at: Steps, rng: np.random.Generator, side: int) -> None:
    """Move each point [..., 2] of a torus by one step."""
    towards = rng.integers(4, size=at.shape[:-1])
    at[..., 0] += (towards == 0).astype(np.int64) - (towards == 1)
    at[..., 1] += (towards == 2).astype(np.int64) - (towards == 3)
    at %= side
