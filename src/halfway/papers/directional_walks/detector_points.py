"""The detectors of paper 1, §2: the points of the figure, random networks in four scenarios.

The paper prints no numbers for §2. Networks, faults, periods and time-outs are ours.
"""

from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Scale

DETECTION = "halfway.papers.directional_walks.detectors:detection"
SCENARIOS = ("calm", "deaths", "loss", "slow nodes")
SIZES: dict[Scale, int] = {"quick": 40, "paper": 100}
DEGREE = 12.0
REFRESH_S = 10.0  # between two launches of a walk; 0: launched once, as printed
PATHS, PROBES, MERGED, GOSSIP = "path-heartbeat", "walk-probe", "path-gossip", "gossip-counters"
# Gossip by broadcast, the fair baseline: as many transmissions as GOSSIP, with a time-out as short
# as those of the walks.
BROADCAST = "gossip-counters by broadcast"
# A system, and the refresh time of its walks.
PRINTED = (PATHS, 0.0)
DETECTORS = (
    PRINTED,
    (PATHS, REFRESH_S),
    (PROBES, 0.0),
    (MERGED, REFRESH_S),
    (GOSSIP, 0.0),
    (BROADCAST, 0.0),
    ("heartbeat", 0.0),
    ("swim", 0.0),
)
MONITORS = (
    "every node is a member, and monitors all others; networks: n points uniform in the unit "
    "square, redrawn until connected, mean degree 12 without borders; neighbours are given, and "
    "lost ones known after 2.5 s; a second between heartbeats, walks, gossip and pings"
)
TIME_OUTS = (
    "time-outs: the defaults of each system; 5 s for heartbeats, 8 s for path-gossip, 20 s for "
    "walk-probe and gossip-counters; hops on paths are repeated three times"
)
GOSSIPS = (
    "gossip-counters sends its counters to one random neighbour in a period; by broadcast, it "
    "sends them to all neighbours at once, and waits for 5 s"
)
HARSH = (
    "scenarios: calm; deaths of a tenth of the nodes at once; loss of a tenth of the records; and "
    "slow nodes, a tenth of all, which stand still for 4 s in each 20 s"
)
_COST_MS = {PATHS: 3000.0, MERGED: 1500.0, "heartbeat": 1500.0}


def detection_points(scale: Scale) -> list[Point]:
    """Declare the points of the detectors of paper 1, §2: each detector in each scenario."""
    return [
        _point(SIZES[scale], system, refresh_s, scenario)
        for scenario in SCENARIOS
        for system, refresh_s in DETECTORS
    ]


def _point(n: int, system: str, refresh_s: float, scenario: str) -> Point:
    parameters: dict[str, Scalar] = {
        "n": n,
        "degree": DEGREE,
        "system": system,
        "refresh_s": refresh_s,
        "scenario": scenario,
    }
    cost_ms = _COST_MS.get(system, 500.0) * (n / 40) ** 2
    return Point(DETECTION, parameters, ("n", "degree"), cost_ms)
