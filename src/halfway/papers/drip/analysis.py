"""The analysis of DRIP §V-C: the time until all destinations have a copy, and the number of brokers
for a given time.
"""

import math
from collections.abc import Callable

import numpy as np

from halfway.pipeline.plan.run import Observations, Run


def reach(grid: float, brokers: float) -> float:
    """Return α, on which the analysis of DRIP depends, in steps: two regions of brokers meet within
    this distance [drip §V-C].
    """
    return 2.0 * math.sqrt(grid / (math.pi * brokers))


def exact_mean(destinations: int, copies: int) -> float:
    """Return DRIP's exact mean delay times λ, H_l / m: l minima are drawn, each among m
    exponentials of rate λ, and the largest counts.

    It follows from equation (1): the largest of l independent exponentials of rate r has the mean
    (1 + 1/2 + … + 1/l) / r [e.g. Feller, An Introduction to Probability Theory 2, §I.6].
    """
    return sum(1.0 / j for j in range(1, destinations + 1)) / copies


def printed_mean(destinations: int, copies: int, rate: float = 1.0) -> float:
    """Return DRIP's mean as printed [drip §V-C], "(l² + 3l) / 4mλ": the truncation with the sign of
    its last term inverted.
    """
    return destinations * (destinations + 3) / (4.0 * copies * rate)


def printed_meeting(grid: float, brokers: float) -> float:
    """Return DRIP's meeting time as printed [drip §V-C], 1/λ in steps, "0.5N(0.34 log N - 2 +
    α/(2^α - 1))", α = 2 sqrt(N / π k)."""
    alpha = reach(grid, brokers)
    tail = 0.0 if alpha > 60.0 else alpha / (2.0**alpha - 1.0)
    return 0.5 * grid * (0.34 * math.log(grid) - 2.0 + tail)


def corrected_meeting(grid: float, brokers: float) -> float:
    """Return DRIP's meeting time 1/λ, in steps, for two walks from uniform starts on a torus of N
    points.

    The mean first passage time of a diffusion from a uniform start in a disc of the torus' area to
    a smaller disc in its centre [Redner, A Guide to First-Passage Processes, §6.3]: N/π (s - s²/4 -
    3/4 - ln(s)/2), where s is the share of the area that the smaller disc covers. The distance of
    two walks has the variance 1 per step and axis. The smaller disc has the area of all points
    within α steps. Whole steps make α half a step shorter on average.
    """
    share = 2.0 * (reach(grid, brokers) - 0.5) ** 2 / grid
    if share >= 1.0:
        return 0.0
    return grid / math.pi * (share - share**2 / 4 - 0.75 - math.log(share) / 2)


def printed_delivery(grid: float, brokers: float, destinations: int, copies: int) -> float:
    """Return DRIP's equation (2) as printed: steps until all destinations have a copy."""
    return printed_mean(destinations, copies, 1.0 / printed_meeting(grid, brokers))


def corrected_delivery(grid: float, brokers: float, destinations: int, copies: int) -> float:
    """Return DRIP's equation (2) with the exact mean of equation (1) and the corrected meeting
    time.
    """
    return exact_mean(destinations, copies) * corrected_meeting(grid, brokers)


def brokers_for(
    requested: float,
    destinations: int,
    copies: int,
    grid: float,
    delivery: Callable[[float, float, int, int], float],
) -> float:
    """Return the number of brokers k for a requested mean time (steps), by DRIP's analysis, or nan
    if no k has that time.

    [drip §V-C] "given a requested ET_mcmd, we can derive a proper value of the number of broker
    nodes k". delivery: one of the two forms of equation (2), which grow with k. k is a real number
    above destinations + copies and at most N.
    """
    low, high = float(destinations + copies), grid
    if (
        not delivery(grid, low, destinations, copies)
        < requested
        <= delivery(grid, high, destinations, copies)
    ):
        return math.nan
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if delivery(grid, middle, destinations, copies) < requested:
            low = middle
        else:
            high = middle
    return high


def waits(run: Run) -> Observations:
    """Draw times of DRIP's equation (1): l destinations, m copies, λ = 1; a unit is an event."""
    rng = np.random.default_rng(run.workload_seed)
    found = rng.exponential(size=(run["draws"], run["destinations"], run["copies"]))
    return {"wait": found.min(axis=2).max(axis=1)}
