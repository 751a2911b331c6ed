"""The distance radio of moving nodes: a hop takes a time in direct ratio to its length."""

from typing import Any

import numpy as np
import pytest

from halfway.core.compiler.lent import lent
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import DistanceRadio
from halfway.sim.radio.moving_distances import position_at
from halfway.sim.simulation import Simulation
from halfway.world.faults import Partition
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.mobility.motion import Legs, positions, still
from halfway.world.mobility.random_waypoint import WaypointMotion, random_waypoint
from halfway.world.workload.demand import Drawn, Listed

SECONDS = 10.0
RADIO = DistanceRadio(delay_s=0.25, speed=2.0)


def flooded(demand: Any, radio: DistanceRadio = RADIO, **given: Any) -> Simulation:
    """A flood without delays before its repetitions."""
    return Simulation(
        "flooding", given.pop("network", None), workload=demand, seconds=SECONDS, radio=radio,
        options={"repeat_delay_s": 0.0}, discovery_delay_s=0.0, **given,
    )  # fmt: skip


def away(speed: float) -> Legs:
    """Node 0 rests; node 1 leaves it along a line."""
    at = np.zeros(2)
    return Legs(
        np.arange(3), at, np.full(2, SECONDS), at, at, np.array([0.0, speed * SECONDS]), at
    )  # fmt: skip


def test_nodes_that_rest_have_the_delays_of_a_static_network() -> None:
    network = unit_disk(np.random.default_rng(3).random((60, 2)), 0.25)
    assert network.position is not None
    demand = Drawn(60, 3, 2, 15, events=12, every_s=0.5, seed=5)
    radio = DistanceRadio(delay_s=0.001, speed=50.0)
    given = {"motion": Motion(still(network.position), 0.25)}, {"network": network}
    moving, static = (flooded(demand, radio, **one).run() for one in given)
    assert moving.delivered == static.delivered > 0
    assert moving.latency_s.mean == pytest.approx(static.latency_s.mean, rel=1e-6)
    assert moving.latency_s.max == pytest.approx(static.latency_s.max, rel=1e-6)
    assert moving.sent == static.sent


def test_a_hop_is_as_long_as_the_nodes_are_apart_when_it_departs() -> None:
    demand = Listed([(1, 0)], [(t, 0, 0) for t in (1.0, 3.0, 5.0)])
    made = flooded(demand, motion=Motion(away(0.5), 100.0))
    made.deliveries.delivery_log = []
    made.run()
    delays = np.concatenate([delay for _, _, delay in made.deliveries.delivery_log])
    assert delays.tolist() == pytest.approx([0.25 + 0.5 * t / 2.0 for t in (1.0, 3.0, 5.0)])


def test_a_node_out_of_reach_when_the_record_is_due_does_not_receive_it() -> None:
    """At 1 s node 1 is 3 m away, but at 1.25 s + 1.5 s it is beyond 5 m."""
    outcome = flooded(Listed([(1, 0)], [(1.0, 0, 0)]), motion=Motion(away(3.0), 5.0)).run()
    assert (outcome.sent, outcome.delivered) == ({"flood": 1}, 0)


def test_every_other_neighbour_still_receives_it() -> None:
    places = [[0, 0], [1, 0], [0, 2], [3, 0]]
    demand = Listed([(row, 0) for row in (1, 2, 3)], [(1.0, 0, 0)])
    apart = Partition(nodes=frozenset({2}), at=1.5, for_=8.0)  # its record is due at 2.25 s
    outcome = flooded(demand, motion=Motion(still(places), 3.5), faults=[apart]).run()
    assert outcome.delivered == 2
    assert outcome.latency_s.max == pytest.approx(0.25 + 3.0 / 2.0)


@pytest.mark.parametrize(("success", "least", "most"), [(0.0, 0, 0), (0.5, 20, 60), (1.0, 80, 80)])
def test_receptions_fail_with_the_given_probability(success: float, least: int, most: int) -> None:
    demand = Listed([(1, 0)], [(1.0 + 0.1 * k, 0, 0) for k in range(80)])
    radio = DistanceRadio(delay_s=0.01, speed=100.0, success=success)
    outcome = flooded(demand, radio, motion=Motion(still([[0, 0], [1, 0]]), 2.0)).run()
    assert least <= outcome.delivered <= most


def test_motion_that_comes_window_by_window_gives_the_same_run() -> None:
    n, side = 40, 100.0
    given = {"speed": (2.0, 8.0), "seconds": SECONDS, "seed": 2}
    demand = Drawn(n, 2, 2, 10, events=20, every_s=0.3, seed=1)
    radio = DistanceRadio(speed=1000.0)
    courses = random_waypoint(n, side, side, **given), WaypointMotion(n, side, side, **given)
    one, other = (flooded(demand, radio, motion=Motion(course, 22.0)).run() for course in courses)
    assert one.delivered == other.delivered > 0
    assert one.latency_s.mean == pytest.approx(other.latency_s.mean)


def test_a_position_is_that_of_the_leg_of_the_time() -> None:
    legs = random_waypoint(20, 50.0, 50.0, speed=(2.0, 8.0), seconds=60.0, seed=4)
    for t in (0.0, 7.3, 33.1, 60.0):
        found = [position_at(lent(legs), row, t) for row in range(20)]
        assert np.allclose(found, positions(legs, t))
