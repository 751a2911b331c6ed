"""Batteries: a node whose energy is used up goes down for good, and the lifetime is measured."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.comparison.evaluation.metrics import metrics_for, observations
from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.energy import Batteries, Power
from halfway.sim.run_settings import NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.mobility.random_waypoint import WaypointMotion
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, line

IDLE = Power(tx_w=0.0, rx_w=0.0, idle_w=0.001, bit_rate=1e15)


def chain(batteries: Any, **given: Any) -> Simulation:
    """A chain 0 - 1 - 2; node 0 publishes an event each second, and node 2 subscribes."""
    demand = Listed([(2, 0)], [(k + 0.5, 0, 0) for k in range(30)])
    given = {"seconds": 30.0, **given}
    nodes = NodeSettings(power=IDLE, batteries=batteries)
    return Simulation("flooding", line(3), workload=demand, nodes=nodes, **given)


def test_a_node_without_energy_forwards_nothing_any_more() -> None:
    outcome = chain([math.inf, 0.0099, math.inf]).run()
    assert outcome.lifetime == (10.0, 2)
    assert outcome.delivered == 10  # the events before 10 s
    assert outcome.expected == 30


def test_the_dead_are_down_in_the_accounting() -> None:
    run = chain([0.0049, math.inf, 0.0099])
    outcome = run.run()
    assert outcome.unpublished == 25
    assert (outcome.expected, outcome.delivered) == (5, 5)
    assert run.environment.down_s(30.0).tolist() == [25.0, 0.0, 20.0]
    assert run.energy().total == pytest.approx([0.005, 0.030, 0.010])


def test_the_dead_do_not_come_back_with_the_end_of_a_crash() -> None:
    faults = [Crash(node=1, at=9.5, for_=5.0)]
    outcome = chain([math.inf, 0.0089, math.inf], faults=faults).run()
    assert outcome.lifetime == (9.0, 2)
    assert outcome.delivered == 9
    # It is down already when its energy is found to be used up.
    assert chain([math.inf, 0.00949, math.inf], faults=faults).run().delivered == 9


def test_a_node_that_is_down_saves_energy() -> None:
    faults = [Crash(node=1, at=2.0, for_=5.0)]
    assert chain([math.inf, 0.0099, math.inf], faults=faults).run().lifetime == (15.0, 2)


def test_energy_that_is_used_up_at_the_end_counts() -> None:
    assert chain(0.0299).run().lifetime == (30.0, 0)


def test_large_batteries_change_nothing() -> None:
    for system in ("flooding", "gossip"):
        demand = Drawn(150, 2, 1, 20, events=15, seed=4)
        one, other = (
            Simulation(system, disk(), workload=demand, seconds=25.0, seed=4, nodes=some).run()
            for some in (None, NodeSettings(batteries=1e9))
        )
        assert one.digest == other.digest
        assert math.isnan(other.lifetime.first_dead_s)
        assert other.lifetime.alive == 150
        assert "lifetime" not in one.to_dict()
        assert other.to_dict() == one.to_dict() | {"lifetime": {"first_dead_s": None, "alive": 150}}


def test_moving_nodes_have_batteries_too() -> None:
    course = WaypointMotion(9, 9.0, 9.0, speed=(1.0, 2.0), pause=(0.0, 0.0), seconds=20.0, seed=1)
    run = Simulation(
        "flooding", motion=Motion(course, 9.0), workload=Drawn(9, events=15, seed=1), seconds=20.0,
        nodes=NodeSettings(power=IDLE, batteries=0.0079),
    )  # fmt: skip
    outcome = run.run()
    assert outcome.lifetime == (8.0, 0)
    assert outcome.unpublished > 0


def test_a_battery_holds_energy() -> None:
    with pytest.raises(Problem, match="battery_j = 0: expected a number above 0"):
        Batteries(0.0, 3)
    batteries = Batteries([1.0, 2.0], 2)
    assert batteries.used_up(np.array([1.5, 1.5]), 3.0).tolist() == [0]
    assert batteries.used_up(np.array([1.6, 2.5]), 4.0).tolist() == [1]


def test_a_scenario_takes_batteries_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b\ngate,roof\nroof,yard\n", "utf-8")
    (tmp_path / "cells.csv").write_text("node,battery_j\nroof,0.0128\ngate,\n", "utf-8")
    text = '[network]\nkind = "file"\npath = "links.csv"\n[power]\nbattery_j = "cells.csv"\n'
    (tmp_path / "scenario.toml").write_text(text, "utf-8")
    run = simulation_of(read_scenario(tmp_path / "scenario.toml"))
    outcome = run.run()
    assert outcome.lifetime is not None
    assert outcome.lifetime.alive == 2
    (tmp_path / "cells.csv").write_text("node,battery_j\nrof,0.0128\n", "utf-8")
    with pytest.raises(Problem, match="'rof': the network has no such node"):
        simulation_of(read_scenario(tmp_path / "scenario.toml"))


def test_a_comparison_has_metrics_of_batteries_only_where_nodes_have_them(tmp_path: Path) -> None:
    text = '[network]\nkind = "unit-disk"\nn = 20\ndegree = 8.0\n'
    bare, with_batteries = tmp_path / "bare.toml", tmp_path / "with.toml"
    bare.write_text(text, "utf-8")
    with_batteries.write_text(text + "[power]\nbattery_j = 0.02\n", "utf-8")
    one, other = read_scenario(bare), read_scenario(with_batteries)
    names = {metric.name for metric in metrics_for([one, other])}
    assert names - {metric.name for metric in metrics_for([one])} == {
        "first-node-dead", "nodes-alive"
    }  # fmt: skip
    assert not {"first-node-dead", "nodes-alive"} & observations(simulation_of(one)).keys()
    observed = observations(simulation_of(other))
    assert observed["nodes-alive"].tolist() == [0.0]
    assert 0.0 < observed["first-node-dead"][0] < 20.0
