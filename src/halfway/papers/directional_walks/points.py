"""The points of paper 1's figures: one function for each measurement, with the parameters that
determine its result.
"""

from halfway.papers.directional_walks.claims import STEPS_A_NODE, WALKS
from halfway.pipeline.plan.run import Point, Scalar

MEETINGS = "halfway.papers.directional_walks.measurements:meetings"
STEP_LENGTHS = "halfway.papers.directional_walks.measurements:step_lengths"
VISITS = "halfway.papers.directional_walks.measurements:visits"
LOADS = "halfway.papers.directional_walks.measurements:loads"
LOADS_READ = "halfway.papers.directional_walks.measurements:loads_read"

RADIUS = 0.04  # [drw §4] unit square, not a torus
NETWORK = ("n", "radius")
RATIOS = (1, 10, 100)  # [drw §4.2] steps of one walk while the other makes one
PAIRS = 100


def meeting_point(n: int, system: str, k: int, interpretation: str) -> Point:
    """Return the experiment point of paper 1's meetings: pairs of walks on a network of n nodes."""
    parameters: dict[str, Scalar] = {
        "n": n,
        "radius": RADIUS,
        "system": system,
        "k": k,
        "reading": interpretation,
        "pairs": PAIRS,
    }
    return Point(MEETINGS, parameters, NETWORK, _meeting_cost_ms(n, system, k))


def step_point(n: int, system: str) -> Point:
    """Return the experiment point for the step lengths of paper 1's walks on n nodes."""
    parameters: dict[str, Scalar] = {"n": n, "radius": RADIUS, "system": system, "pairs": 20}
    return Point(STEP_LENGTHS, parameters, NETWORK, 20.0)


def visit_point(n: int) -> Point:
    """Return the experiment point of paper 1's lone walks on a network of n nodes."""
    parameters: dict[str, Scalar] = {
        "n": n,
        "radius": RADIUS,
        "system": WALKS[0],
        "walks": 5,
        "steps a node": STEPS_A_NODE,
    }
    return Point(VISITS, parameters, NETWORK, 0.2 * n)


def load_point(n: int, system: str, permutations: int) -> Point:
    """Return the experiment point of paper 1's loads: permutations routed on a network of n
    nodes.
    """
    parameters: dict[str, Scalar] = {
        "n": n,
        "radius": RADIUS,
        "system": system,
        "reading": "heard",
        "permutations": permutations,
    }
    one_pair = _meeting_cost_ms(n, system, 1) / PAIRS if system in WALKS else 0.02
    return Point(LOADS, parameters, NETWORK, 2.0 + one_pair * n * permutations)


def interpretation_point(
    n: int, system: str, pairing: str, weights: str, permutations: int
) -> Point:
    """Return the experiment point of paper 1's loads under another interpretation of pairs and
    weights.
    """
    loads = load_point(n, system, permutations)
    parameters = {**loads.parameters, "pairing": pairing, "weights": weights}
    return Point(LOADS_READ, parameters, NETWORK, loads.cost_ms)


def _meeting_cost_ms(n: int, system: str, k: int) -> float:
    # Rough steps a pair (half more for each tenfold k) times the measured time of a step.
    steps, step_ns = (4e5, 60) if system == "directional-walk" else (3e6, 12)
    return 1.0 + PAIRS * (steps / n) * (1.5 ** (len(str(k)) - 1)) * step_ns * 1e-6
