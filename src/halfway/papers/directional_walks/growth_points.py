"""The points of paper 1's growth study: systems, mean degrees and numbers of nodes."""

from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Scale

GROWTH = "halfway.papers.directional_walks.growth:growth"
CELLS = "georendezvous"
DEGREES = (12, 15, 20)
# A pair of pure walks needs 0.4 n steps, so networks below 10^7 nodes suffice for its exponent. A
# pair of directional walks makes 2 10^7 steps at 10^9 nodes. They take a minute: `largest_points`.
_LARGEST: dict[Scale, dict[str, int]] = {
    "quick": {"directional-walk": 6, "random-walk": 5, CELLS: 6},
    "paper": {"directional-walk": 8, "random-walk": 6, CELLS: 9},
}
REPLICATES: dict[Scale, int] = {"quick": 6, "paper": 20}
# The largest networks have one mean degree. Below: their powers of ten nodes, and their number.
LARGEST_DEGREE = 15
_LARGEST_POWERS: dict[Scale, tuple[int, ...]] = {"quick": (4, 5, 6), "paper": (7, 8, 9)}
LARGEST_REPLICATES: dict[Scale, int] = {"quick": 6, "paper": 6}
_PAIRS, _FEW_PAIRS = 5, 1  # pairs of walks in a network; the second from 10^8 nodes on
# Microseconds of the steps for each node: steps for a node, times microseconds of a step.
_US_A_NODE = {"directional-walk": 0.03 * 2.5, "random-walk": 0.4 * 0.8}


def growth_point(n: int, degree: int, system: str) -> Point:
    """Return the experiment point of paper 1's growth study: pairs on lazy networks of n nodes."""
    pairs = _PAIRS if n < 10**8 else _FEW_PAIRS
    parameters: dict[str, Scalar] = {"n": n, "degree": degree, "system": system, "pairs": pairs}
    cost_ms = 1.0 + pairs * _US_A_NODE.get(system, 0.0) * n / 1e3 + n / 1e6
    return Point(GROWTH, parameters, ("n", "degree"), cost_ms)


def growth_points(scale: Scale) -> list[Point]:
    """Declare the points of paper 1's growth study at a scale, from 10^3 nodes in powers of ten."""
    return [
        growth_point(10**power, degree, system)
        for system, largest in _LARGEST[scale].items()
        for degree in DEGREES
        for power in range(3, largest + 1)
    ]


def largest_points(scale: Scale) -> list[Point]:
    """Declare the points of directional walks on the largest networks of paper 1's growth study."""
    return [
        growth_point(10**power, LARGEST_DEGREE, "directional-walk")
        for power in _LARGEST_POWERS[scale]
    ]
