"""Black holes, which pass on no event of others, and liars, whose other records are false."""

import numpy as np
import pytest

from halfway.core.hello.messages import HELLO
from halfway.problem import Problem
from halfway.protocols.anti_entropy import messages as anti_entropy
from halfway.protocols.gossip import KINDS
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.fault_times import schedule
from halfway.world.faults import Crash, Fault
from halfway.world.graphs.network import Network
from halfway.world.outages import BLACK_HOLE_BEGINS, BLACK_HOLE_ENDS
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
        system, network, workload=demand, seconds=20.0, faults=faults, hello=None,
        radio=IdealRadio(delay_s=0.001), inspection=Inspection(received_records=1 << 14),
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
    records, rows = attacked.received_records()
    from_hole = records["kind"][(rows == 2) & (records["source"] == 1)]
    assert carried not in from_hole.tolist()
    assert received(attacked, 1) == [*range(EVENTS)]
    assert received(attacked, 2) == []


def lied(system: str, *faults: Fault, seed: int = 1, seconds: float = 30.0) -> Simulation:
    """A network of 30 nodes with hellos and checked records, under attacks."""
    network = disk(n=30, radius=0.4, seed=2)
    demand = Listed([(row, 0) for row in range(1, 30)], [(10.0 + k, 0, 0) for k in range(EVENTS)])
    simulation = Simulation(
        system, network, workload=demand, seconds=seconds, faults=faults,
        radio=IdealRadio(delay_s=0.001), hello=SentHellos(), seed=seed,
        inspection=Inspection(received_records=1 << 18, check=True),
    )  # fmt: skip
    simulation.run()
    return simulation


@pytest.mark.parametrize("system", ["gossip", "walk-overlay"])
def test_a_liar_sends_values_within_their_ranges_and_true_addresses(system: str) -> None:
    simulation = lied(system, Attack(kind="liar", share=0.1))
    liars = np.flatnonzero(simulation.engine.attacks.conduct)
    assert len(liars) == 3
    assert not simulation.engine.checks.refused.any()
    records, _ = simulation.received_records()
    hellos = records[records["kind"] == HELLO]
    false = np.isin(hellos["source"], liars)
    known = np.arange(-1, 30)
    heard = hellos["args"]
    assert np.isin(heard[~false], known).all()
    assert not np.isin(heard[false], known).all(axis=1).any()  # each hello names strangers
    assert (np.diff(hellos["sequence"][hellos["source"] == liars[0]]) >= 0).all()


@pytest.mark.parametrize(
    ("system", "kind", "column", "places", "all_ones"),
    [("walk-overlay", "chunk", "args", slice(1, 8), -1),
     ("anti-entropy", "digest", "reals", slice(0, 3), 2**anti_entropy.SPAN - 1)],
)  # fmt: skip
def test_a_liar_with_filters_only_sets_all_bits_of_filters_and_of_digests_of_events(
    system: str, kind: str, column: str, places: slice, all_ones: int
) -> None:
    attack = Attack(kind="liar", lies="filters", node=1)
    attacked, honest = (run(line(5), *faults, system=system) for faults in ((attack,), ()))
    number = attacked.instance.kinds.number(kind)
    records, _ = attacked.received_records()
    of_kind = records[records["kind"] == number]
    liars = of_kind["source"] == 1
    assert liars.any()
    assert (of_kind[column][liars][:, places] == all_ones).all()
    assert (of_kind[column][~liars][:, places] != all_ones).any()
    first = [one.received_records()[0] for one in (attacked, honest)]
    for one in first:  # the first record of the liar differs in nothing else
        one[column][:, places] = 0
    own = [one[(one["kind"] == number) & (one["source"] == 1)][:1] for one in first]
    assert own[0].tobytes() == own[1].tobytes()


def test_a_liar_with_hellos_only_falsifies_hellos() -> None:
    demand = Listed([(2, 0)], [(10.0 + k, 0, 0) for k in range(EVENTS)])
    kinds = set[int]()
    for faults in ([], [Attack(kind="liar", lies="hellos", node=1)]):
        simulation = Simulation(
            "gossip", line(3), workload=demand, seconds=20.0, faults=faults, hello=SentHellos(),
            inspection=Inspection(received_records=1 << 14),
        )  # fmt: skip
        simulation.run()
        records, _ = simulation.received_records()
        true = np.isin(records["args"][:, :2], [-1, 0, 1, 2]).all(axis=1)
        lies = (records["kind"] == HELLO) & (records["source"] == 1) & ~true
        assert lies.any() == bool(faults)
        kinds |= set(records["kind"].tolist())
        assert received(simulation, 2) == [*range(EVENTS)]
    assert len(kinds) > 1


def test_lies_are_the_same_for_the_same_seed_and_end_with_the_attack() -> None:
    liars = Attack(kind="liar", share=0.3)
    runs = (lied("walk-overlay", *faults, seconds=5.0) for faults in ([liars], [liars], []))
    digests = [run.outcome().digest for run in runs]
    assert digests[0] == digests[1] != digests[2]
    ended = lied("gossip", Attack(kind="liar", share=0.3, at=2.0, for_=3.0))
    assert ended.outcome().delivery_ratio == 1.0
    assert not ended.engine.attacks.conduct.any()


def test_a_liar_and_a_black_hole_are_two_attacks() -> None:
    both = (Attack(kind="liar", node=1), Attack(kind="black-hole", node=1, at=2.5, for_=2.0))
    attacked = run(line(3), *both)
    assert received(attacked, 2) == [0, 1, 4, 5]  # the node still lies, and forwards events again


def test_the_schedule_has_attacks_beside_crashes() -> None:
    network = disk(n=40, radius=0.4, seed=1)
    some = schedule([Attack(kind="black-hole", share=0.25, at=3.0, for_=2.0),
                     Crash(node=0, at=4.0)], network, 3, 21.0)  # fmt: skip
    attacks = some.kind == BLACK_HOLE_BEGINS
    assert attacks.sum() == (some.kind == BLACK_HOLE_ENDS).sum() == 10
    assert np.unique(some.t[attacks]).tolist() == [3.0]
    assert (np.diff(some.t) >= 0.0).all()


def test_impossible_attacks_are_refused() -> None:
    with pytest.raises(Problem, match="neither node nor share is given: expected exactly one"):
        schedule([Attack(kind="black-hole")], line(3), 1, 20.0)
    with pytest.raises(Problem, match="at = -1"):
        schedule([Attack(kind="black-hole", node=1, at=-1.0)], line(3), 1, 20.0)
