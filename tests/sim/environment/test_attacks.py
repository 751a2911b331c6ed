"""Black holes: they take part in everything, and pass on no event of others."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.protocols.gossip import KINDS
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.faults import Crash, Fault, schedule
from halfway.world.graphs.network import Network
from halfway.world.outages import NODE_ATTACKS, NODE_HONEST
from halfway.world.workload.demand import Listed
from tests.networks import disk, line

EVENTS = 6


def run(network: Network, *faults: Fault, system: str = "flooding", publisher: int = 0,
        subscribers: tuple[int, ...] = (1, 2)) -> Simulation:  # fmt: skip
    """Events of one node, one a second from 1 s on."""
    demand = Listed(
        [(row, 0) for row in subscribers], [(1.0 + k, publisher, 0) for k in range(EVENTS)]
    )
    simulation = Simulation(
        system, network, workload=demand, seconds=20.0, faults=faults, journal=1 << 14,
        radio=IdealRadio(delay_s=0.001), hello=None,
    )  # fmt: skip
    simulation.run()
    return simulation


def received(simulation: Simulation, row: int) -> list[int]:
    """The events that the application of a row received."""
    reports, rows = simulation.reports()
    return sorted(reports["event"][rows == row].tolist())


def test_a_black_hole_receives_and_passes_nothing_on_while_it_attacks() -> None:
    attacked = run(line(3), Attack(kind="black-hole", node=1, at=2.5, for_=2.0))
    assert received(attacked, 1) == [*range(EVENTS)]
    assert received(attacked, 2) == [0, 1, 4, 5]
    honest = run(line(3))
    assert received(honest, 2) == [*range(EVENTS)]
    sent = [sum(one.outcome().sent.values()) for one in (attacked, honest)]
    assert sent[1] - sent[0] == 2 * 2  # what it withheld costs nothing, and goes no further


def test_a_black_hole_publishes_its_own_events() -> None:
    attacked = run(line(3), Attack(kind="black-hole", node=1), publisher=1, subscribers=(0, 2))
    assert received(attacked, 0) == received(attacked, 2) == [*range(EVENTS)]


def test_events_pass_around_a_black_hole_where_there_is_another_way() -> None:
    network = disk(n=30, radius=0.4, seed=2)
    rows = tuple(range(1, 30))
    attacked = run(network, Attack(kind="black-hole", share=0.2), subscribers=rows)
    assert attacked.outcome().delivery_ratio > 0.95


def test_a_black_hole_acknowledges_and_answers() -> None:
    """Only the kinds that carry events are withheld: a digest of gossip is none."""
    carried = KINDS.number("push")
    attacked = run(line(3), Attack(kind="black-hole", node=1), system="gossip")
    records, rows = attacked.journal()
    from_hole = records["kind"][(rows == 2) & (records["source"] == 1)]
    assert carried not in from_hole.tolist()
    assert received(attacked, 1) == [*range(EVENTS)]
    assert received(attacked, 2) == []


def test_the_schedule_has_attacks_beside_crashes() -> None:
    network = disk(n=40, radius=0.4, seed=1)
    some = schedule([Attack(kind="black-hole", share=0.25, at=3.0, for_=2.0),
                     Crash(node=0, at=4.0)], network, 3, 21.0)  # fmt: skip
    attacks = some.kind == NODE_ATTACKS
    assert attacks.sum() == (some.kind == NODE_HONEST).sum() == 10
    assert np.unique(some.t[attacks]).tolist() == [3.0]
    assert (np.diff(some.t) >= 0.0).all()


def test_impossible_attacks_are_refused() -> None:
    with pytest.raises(Problem, match="node, share: expected exactly one"):
        schedule([Attack(kind="black-hole")], line(3), 1, 20.0)
    with pytest.raises(Problem, match="at = -1"):
        schedule([Attack(kind="black-hole", node=1, at=-1.0)], line(3), 1, 20.0)
