"""Beyond paper 3: mobile publishers and subscribers that choose their rendezvous point again.

[geo §1] "subscribers concern only with their own position and pick a better rendezvous node as they
move" — the paper states this and does not measure it.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.papers.georendezvous.message_run import best_point
from halfway.pipeline.plan.run import Observations, Run
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.unit_disk import draw_positions
from halfway.world.mobility.motion import Legs, positions, still
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.demand import Drawn

REACH_M = 100.0  # the radius in metres, for speeds in metres per second
SECONDS, SETTLED_S, EVERY_S = 120.0, 5.0, 0.5
DATA = ("notify", "notify-client")  # the rest is signalling; beacons are counted separately
BEACON = "hello"


def mobility(run: Run) -> Observations:
    """Measure GeoRendezvous's mobility, random waypoint at a mean speed; a unit is a topic of one
    publisher and one subscriber.

    best of all, best of tried: share of the seconds in which the point of the last event received
    has the fewest hops of all points, of the closest ones. delivered: the run's delivery ratio.
    signalling, beacons: transmissions a node and minute. crossings: new cells a node and minute.
    stranded: messages of the whole run that ended without a route.
    """
    n, pairs = run["n"], run["pairs"]
    radius = radius_of_degree(n, run["degree"])
    legs = _legs(n, run["speed"] / REACH_M * radius, run.network_seed)
    events = int((SECONDS - 2.0) / EVERY_S * pairs)
    demand = Drawn(
        n, pairs, 1, 1, events=events, every_s=EVERY_S / pairs, start_s=1.5, seed=run.workload_seed
    )
    simulation = Simulation(
        "georendezvous", motion=Motion(legs, radius), workload=demand, seconds=SECONDS,
        seed=run.random_seed, stretch=False,
        options={"points": run["points"], "tried": run["tried"], "bridges": 0, "home_memory_s": 0},
    )  # fmt: skip
    ends = np.array(
        [
            [int(a[0]), int(b[0])]
            for a, b in zip(
                simulation.demand.publishers, simulation.demand.subscribers, strict=True
            )
        ]
    )
    seen = []
    with run.timed("run"):
        for second in np.arange(SETTLED_S, SECONDS - 1.0):
            simulation.run(second)
            seen.append(_has_best(simulation, legs, radius, ends, run["tried"], float(second)))
        outcome = simulation.run()
    if full := outcome.shortfalls.get("entries without room"):
        raise RuntimeError(f"{full} entries found no room: GeoRendezvous needs larger tables")
    shares = np.array(seen, float).mean(axis=0)  # [pairs, 2]
    return {"best of all": shares[:, 0], "best of tried": shares[:, 1], **_costs(outcome)}


def _legs(n: int, speed: float, seed: int) -> Legs:
    if speed == 0.0:
        return still(draw_positions(n, seed))
    return random_waypoint(
        n, 1.0, 1.0, speed=(0.5 * speed, 1.5 * speed), seconds=SECONDS, seed=seed
    )


def _has_best(
    simulation: Simulation,
    legs: Legs,
    radius: float,
    ends: npt.NDArray[np.int64],
    tried: int,
    now: float,
) -> npt.NDArray[np.bool_]:
    """Return [pairs, 2]: whether a mobile GeoRendezvous client has the best of all points, and the
    best of its closest points: no other one has a shorter path now.
    """
    rules = simulation.instance.rules
    network = replace(
        simulation.environment.start, position=np.clip(positions(legs, now), 0.0, 1.0)
    )
    paths = CellRoutes(network, radius).paths(ends, rules.points, int(rules.key))
    hops = np.where(paths.through < 0, np.iinfo(np.int32).max, paths.through + paths.traversal)
    newest = [best_point(simulation, int(row), int(publisher)) for publisher, row in ends]
    known = np.array([best is not None for best in newest])
    point = np.array([0 if best is None else best[0] for best in newest])
    mine = hops[np.arange(len(ends)), point]
    order = np.argsort(paths.distance, axis=1, kind="stable")[:, :tried]
    closest = np.take_along_axis(hops, order, axis=1).min(axis=1)
    return np.stack([known & (mine <= hops.min(axis=1)), known & (mine <= closest)], axis=1)


def _costs(outcome: Outcome) -> Observations:
    each = outcome.nodes * outcome.seconds / 60.0
    sent = sum(count for kind, count in outcome.sent.items() if kind not in (*DATA, BEACON))
    return {
        "delivered": np.array([outcome.delivery_ratio]),
        "signalling": np.array([sent / each]),
        "beacons": np.array([outcome.sent[BEACON] / each]),
        "crossings": np.array([outcome.sent.get("gone", 0) / each]),
        "stranded": np.array([float(outcome.shortfalls.get("messages without a route", 0))]),
    }
