"""Beyond paper 3: subscribers and publishers that move, and choose their rendezvous point anew.

[geo §1] "subscribers concern only with their own position and pick a better rendezvous node as they
move" — the paper says it and does not measure it.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous.routes import CellRoutes
from halfway.pipeline.plan.run import Observations, Run
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.unit_disk import draw_positions
from halfway.world.mobility.motion import Legs, positions, still
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.demand import Drawn

REACH_M = 100.0  # what the radius stands for, so that speeds are in metres a second
SECONDS, SETTLED_S, EVERY_S = 120.0, 5.0, 0.5
DATA = ("notify", "note")  # all else is signalling; beacons are counted by themselves
BEACON = "hello"


def mobility(run: Run) -> Observations:
    """Random waypoint at a mean speed; a unit is a topic of one publisher and one subscriber.

    best of all, best of tried: share of the seconds in which the point that the last event came
    through has the fewest hops of all points, of the closest ones. delivered: the run's ratio.
    signalling, beacons: transmissions a node and minute. crossings: new cells a node and minute.
    stranded: messages of the whole run that ended for want of a way on.
    """
    n, pairs = run["n"], run["pairs"]
    radius = radius_of_degree(n, run["degree"])
    legs = _legs(n, run["speed"] / REACH_M * radius, run.network_seed)
    events = int((SECONDS - 2.0) / EVERY_S * pairs)
    demand = Drawn(
        n, pairs, 1, 1, events=events, every_s=EVERY_S / pairs, start_s=1.5, seed=run.workload_seed
    )
    simulation = Simulation(
        "cell-hash", motion=Motion(legs, radius), workload=demand, seconds=SECONDS,
        seed=run.dice_seed, stretch=False,
        options={"points": run["points"], "tried": run["tried"]},
    )  # fmt: skip
    ends = np.array([[int(a[0]), int(b[0])] for a, b in zip(
        simulation.demand.publishers, simulation.demand.subscribers, strict=True)])  # fmt: skip
    seen = []
    with run.timed("run"):
        for second in np.arange(SETTLED_S, SECONDS - 1.0):
            simulation.run(second)
            seen.append(_has_best(simulation, legs, radius, ends, run["tried"], float(second)))
        told = simulation.run()
    if full := told.shortfalls.get("entries without room"):
        raise RuntimeError(f"{full} entries found no room: cell hashing needs larger tables")
    shares = np.array(seen, float).mean(axis=0)  # [pairs, 2]
    return {"best of all": shares[:, 0], "best of tried": shares[:, 1], **_costs(told)}


def _legs(n: int, speed: float, seed: int) -> Legs:
    if speed == 0.0:
        return still(draw_positions(n, seed))
    return random_waypoint(
        n, 1.0, 1.0, speed=(0.5 * speed, 1.5 * speed), seconds=SECONDS, seed=seed
    )


def _has_best(
    simulation: Simulation, legs: Legs, radius: float, ends: npt.NDArray[np.int64], tried: int,
    now: float,
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """[pairs, 2] whether no other point, no other of the closest, has a shorter way now."""
    rules, state = simulation.instance.rules, simulation.instance.state
    network = replace(
        simulation.environment.start, position=np.clip(positions(legs, now), 0.0, 1.0)
    )
    ways = CellRoutes(network, radius).ways(ends, rules.points, int(rules.key))
    hops = np.where(ways.through < 0, np.iinfo(np.int32).max, ways.through + ways.tour)
    heard = state.heard[ends[:, 1]]
    newest = heard["event"].argmax(axis=1)
    pair = np.arange(len(ends))
    mine = hops[pair, heard["number"][pair, newest]]
    order = np.argsort(ways.off, axis=1, kind="stable")[:, :tried]
    closest = np.take_along_axis(hops, order, axis=1).min(axis=1)
    known = heard["event"][pair, newest] >= 0
    return np.stack([known & (mine <= hops.min(axis=1)), known & (mine <= closest)], axis=1)


def _costs(told: Outcome) -> Observations:
    each = told.nodes * told.seconds / 60.0
    sent = sum(count for kind, count in told.sent.items() if kind not in (*DATA, BEACON))
    return {
        "delivered": np.array([told.delivery_ratio]),
        "signalling": np.array([sent / each]),
        "beacons": np.array([told.sent[BEACON] / each]),
        "crossings": np.array([told.sent.get("gone", 0) / each]),
        "stranded": np.array([float(told.shortfalls.get("messages without a way on", 0))]),
    }
