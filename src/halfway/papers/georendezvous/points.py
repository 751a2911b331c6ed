"""The points of paper 3: one function for each measurement, with what determines its result."""

from halfway.pipeline.plan.run import Point, Scalar

WHERE = "halfway.papers.georendezvous.measurements"
BEYOND = "halfway.papers.georendezvous.beyond"
LOSS = "halfway.papers.georendezvous.loss"
MOBILITY = "halfway.papers.georendezvous.mobility"
DEGREE = 45.0  # [geo §4] "an average network degree of 45 neighbors per node"
PAIRS = 20  # [geo §4] "20 different uniformly distributed publisher-subscriber paths"
NETWORK = ("n", "degree")
# GeoRendezvous in the parameters of a point. Seeds depend on it, so it keeps its former value.
CELLS = "cell-hash"


def detour_point(n: int, points: int, tried: int, reading: str = "known") -> Point:
    """Pairs on a network of n nodes whose subscribers try `tried` of `points` points."""
    parameters: dict[str, Scalar] = {
        "n": n,
        "degree": DEGREE,
        "system": CELLS,
        "points": points,
        "tried": tried,
        "reading": reading,
        "pairs": PAIRS,
    }
    return Point(f"{WHERE}:detours", parameters, NETWORK, 0.5 + n / 500 + points / 10)


def tree_point(clients: int, reading: str) -> Point:
    """Notifications to `clients` subscribers on a network of 600 nodes [geo Fig. 3d]."""
    parameters: dict[str, Scalar] = {
        "n": 600,
        "degree": DEGREE,
        "system": CELLS,
        "points": 8,
        "tried": 2,
        "clients": clients,
        "reading": reading,
        "pairs": PAIRS,
    }
    return Point(f"{WHERE}:trees", parameters, NETWORK, 2.0 + clients / 5)


def theorem_point(n: int, k: float) -> Point:
    """Every node tried as a rendezvous of 20 pairs."""
    parameters: dict[str, Scalar] = {"n": n, "degree": DEGREE, "k": k, "pairs": PAIRS}
    return Point(f"{WHERE}:nice_places", parameters, NETWORK, 1.0 + n / 80)


def signalling_point(points: int) -> Point:
    """Stable subscribers of their own topics, message by message."""
    parameters: dict[str, Scalar] = {
        "n": 150,
        "degree": DEGREE,
        "system": CELLS,
        "points": points,
        "pairs": 5,
    }
    return Point(f"{BEYOND}:signalling", parameters, NETWORK, 120.0)


def loss_point(system: str, points: int, tried: int, replicas: int, loss: str) -> Point:
    """Topics whose rendezvous cell, or network, loses nodes at once.

    replicas: of a key in its cell; 0: all members. directional-walk: the nodes die that
    GeoRendezvous with these points would lose.
    """
    parameters: dict[str, Scalar] = {
        "n": 150,
        "degree": DEGREE,
        "system": system,
        "points": points,
        "tried": tried,
        "keepers": replicas,
        "loss": loss,
        "pairs": 3,
    }
    return Point(f"{LOSS}:loss", parameters, NETWORK, 800.0)


def rival_point(system: str) -> Point:
    """Paths between the same pairs on the same networks of 600 nodes."""
    points, tried = (8, 2) if system == CELLS else (1, 1)
    parameters: dict[str, Scalar] = {
        "n": 600,
        "degree": DEGREE,
        "system": system,
        "points": points,
        "tried": tried,
        "pairs": PAIRS,
    }
    return Point(f"{BEYOND}:rivals", parameters, NETWORK, 20.0)


def mobility_point(speed: float) -> Point:
    """Random waypoint at a mean speed in m/s, with radios of 100 m."""
    parameters: dict[str, Scalar] = {
        "n": 150,
        "degree": DEGREE,
        "system": CELLS,
        "points": 8,
        "tried": 2,
        "speed": speed,
        "pairs": 10,
    }
    return Point(f"{MOBILITY}:mobility", parameters, NETWORK, 800.0)
