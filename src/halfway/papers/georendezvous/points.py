"""The points of paper 3: one function for each measurement, with the parameters that determine its
result.
"""

from halfway.pipeline.plan.run import Point, Scalar

DEGREE = 45.0  # [geo §4] "an average network degree of 45 neighbors per node"
PAIRS = 20  # [geo §4] "20 different uniformly distributed publisher-subscriber paths"
# GeoRendezvous in the parameters of a point. Seeds depend on it, so it keeps its former value.
CELLS = "cell-hash"
TREE_INTERPRETATIONS = ("all links once", "once a point", "once a subscriber")


def _point(measurement: str, cost_ms: float, n: int, **others: Scalar) -> Point:
    """Return a point of GeoRendezvous's studies on networks of n nodes."""
    path = f"halfway.papers.georendezvous.{measurement}"
    return Point(path, {"n": n, "degree": DEGREE, **others}, ("n", "degree"), cost_ms)


def detour_point(n: int, points: int, tried: int, interpretation: str = "known") -> Point:
    """Return the study point of GeoRendezvous's detours: pairs on n nodes whose subscribers try
    `tried` of `points` points."""
    return _point(
        "measurements:detours",
        0.5 + n / 500 + points / 10,
        n,
        system=CELLS,
        points=points,
        tried=tried,
        reading=interpretation,
        pairs=PAIRS,
    )


def tree_point(clients: int, interpretation: str) -> Point:
    """Return the study point of GeoRendezvous's trees: notifications to `clients` subscribers on
    600 nodes [geo Fig. 3d].
    """
    return _point(
        "measurements:trees",
        2.0 + clients / 5,
        600,
        system=CELLS,
        points=8,
        tried=2,
        clients=clients,
        reading=interpretation,
        pairs=PAIRS,
    )


def theorem_point(n: int, k: float) -> Point:
    """Return the study point of GeoRendezvous's theorem: every node tried as a rendezvous of 20
    pairs.
    """
    return _point("measurements:nice_places", 1.0 + n / 80, n, k=k, pairs=PAIRS)


def signalling_point(points: int) -> Point:
    """Return the study point of GeoRendezvous's signalling: stable subscribers of their own topics,
    message by message.
    """
    return _point("beyond:signalling", 120.0, 150, system=CELLS, points=points, pairs=5)


def loss_point(system: str, points: int, tried: int, replicas: int, loss: str) -> Point:
    """Return the study point of GeoRendezvous's loss: topics whose cell, or network, loses nodes at
    once.

    replicas: of a key in its cell; 0: all members. directional-walk: the nodes die that
    GeoRendezvous with these points would lose.
    """
    # The name `keepers` enters keys and random streams: another one would change published runs.
    return _point(
        "loss:loss",
        800.0,
        150,
        system=system,
        points=points,
        tried=tried,
        keepers=replicas,
        loss=loss,
        pairs=3,
    )


def rival_point(system: str) -> Point:
    """Return the study point of GeoRendezvous's rivals: paths between the same pairs on the same
    networks of 600 nodes.
    """
    points, tried = (8, 2) if system == CELLS else (1, 1)
    return _point(
        "beyond:rivals", 20.0, 600, system=system, points=points, tried=tried, pairs=PAIRS
    )


def mobility_point(speed: float) -> Point:
    """Return the study point of GeoRendezvous's mobility: random waypoint at a mean speed in m/s,
    with radios of 100 m.
    """
    return _point(
        "mobility:mobility", 800.0, 150, system=CELLS, points=8, tried=2, speed=speed, pairs=10
    )
