"""Replays, wormholes and floods, against slow twins and by hand."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import EVERYONE
from halfway.core.records.trace_columns import WHAT, what_of
from halfway.problem import Problem
from halfway.scenario.schema import converted, plain
from halfway.sim.engine.changes import merged, other_ends
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.radio.csma import SENSORS
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.fault_times import schedule
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.outages import (
    BLACK_HOLE_BEGINS,
    FLOOD_BEGINS,
    FULL_FILTERS_BEGIN,
    WORMHOLE_BEGINS,
)
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line

HOP, WAIT = 0.001, 10.0
Kind = Literal["replay", "wormhole", "flood", "liar"]
NEW_KINDS: tuple[Kind, ...] = ("replay", "wormhole", "flood")
EVENTS = 6
Heard = tuple[float, int, int, int]  # time, receiver, source, event


def run(network: Network, *faults: Fault, seconds: float = 40.0, system: str = "flooding",
        subscribers: tuple[int, ...] = (1, 2)) -> Simulation:  # fmt: skip
    """Events of node 0, one a second from 1 s on."""
    demand = Listed([(row, 0) for row in subscribers], [(1.0 + k, 0, 0) for k in range(EVENTS)])
    simulation = Simulation(
        system, network, workload=demand, seconds=seconds, faults=faults, hello=None,
        radio=IdealRadio(delay_s=HOP), inspection=Inspection(received_records=1 << 16),
    )  # fmt: skip
    simulation.run()
    return simulation


def heard(simulation: Simulation) -> list[Heard]:
    """The records with events that nodes received from other nodes."""
    kind = simulation.instance.kinds.number("flood")
    records, rows = simulation.received_records()
    over = records["kind"] == kind
    columns = records["at"][over].round(6), rows[over], records["source"][over]
    return sorted(zip(*(c.tolist() for c in columns), records["event"][over].tolist(), strict=True))


def slow(network: Network, honest: list[tuple[float, int, int]], attackers: set[int],
         pairs: dict[int, int], begin: float) -> list[Heard]:  # fmt: skip
    """What nodes receive if attackers repeat honest transmissions (time, sender, event): one entry
    for each reception.
    """
    near = [set(network.neighbours(row).tolist()) for row in range(network.n)]
    found: list[Heard] = []
    for at, sender, event in honest:
        for row in sorted(near[sender]):
            arrival = at + HOP
            found.append((round(arrival, 6), row, sender, event))
            if arrival < begin:
                continue
            again = []
            if row in attackers:
                again.append((arrival + WAIT, row))
            if row in pairs and pairs[row] != sender:
                again.append((arrival, pairs[row]))
            for then, place in again:
                found += [(round(then + HOP, 6), other, sender, event)
                          for other in near[place] if other != sender]  # fmt: skip
    return sorted(found)


def transmissions(simulation: Simulation) -> list[tuple[float, int, int]]:
    """The honest transmissions: the first reception of each (source, event) shows its time."""
    first: dict[tuple[int, int], float] = {}
    for at, _, source, event in heard(simulation):
        first.setdefault((source, event), round(at - HOP, 6))
    return sorted((at, source, event) for (source, event), at in first.items())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50), st.sampled_from(["replay", "wormhole"]), st.floats(0.0, 4.0))
def test_attackers_repeat_what_they_hear_as_a_slow_twin_says(
    seed: int, kind: Kind, begin: float
) -> None:
    network = disk(n=15, radius=0.4, seed=seed)
    if not len(network.neighbours(0)):
        return
    fault = Attack(kind=kind, share=0.4, at=begin)
    attacked = run(network, fault)
    conduct = np.flatnonzero(attacked.engine.attacks.conduct).tolist()
    assert len(conduct) == 6
    peer = attacked.engine.attacks.peer
    pairs = {row: int(peer[row]) for row in conduct} if kind == "wormhole" else {}
    repeaters = set(conduct) if kind == "replay" else set()
    expected = slow(network, transmissions(attacked), repeaters, pairs, begin)
    assert heard(attacked) == expected


def test_a_wormhole_makes_distant_nodes_neighbours() -> None:
    """On a line of 9 nodes, nodes 0 and 2 hear nodes 6 and 8 through the ends 1 and 7."""
    attacked = run(line(9), Attack(kind="wormhole", node=1, peer=7), subscribers=(8,))
    sources = {(row, source) for _, row, source, _ in heard(attacked)}
    assert {(6, 0), (8, 0), (0, 6)} <= sources
    assert not {(7, 0), (1, 6)} & {(row, source) for row, source in sources if row in (1, 7)}
    reports, rows = attacked.reports()
    first = float(reports["at"][rows == 8].min()) - 1.0
    honest = run(line(9), subscribers=(8,))
    reports, rows = honest.reports()
    assert first < float(reports["at"][rows == 8].min()) - 1.0


def test_a_wormhole_without_events_repeats_the_other_records_only() -> None:
    fault = Attack(kind="wormhole", node=1, peer=7, relays_events=False)
    attacked, honest = run(line(9), fault, subscribers=(8,)), run(line(9), subscribers=(8,))
    assert heard(attacked) == heard(honest)


def test_a_record_for_one_node_passes_a_wormhole() -> None:
    """Two groups of nodes without a common link: only the wormhole leads from one to the other."""
    network = from_links(6, [(0, 1), (1, 2), (3, 4), (4, 5)])
    fault = Attack(kind="wormhole", node=1, peer=4)
    simulation = Simulation(
        "walk-overlay", network, seconds=60.0, faults=[fault], radio=IdealRadio(delay_s=HOP),
        workload=Listed([(3, 0)], [(30.0 + k, 0, 0) for k in range(EVENTS)]),
        inspection=Inspection(received_records=1 << 16), hello=SentHellos(),
    )  # fmt: skip
    outcome = simulation.run()
    records, rows = simulation.received_records()
    crossed = (rows < 3) != (records["source"] < 3)
    assert set(rows[crossed].tolist()) == {0, 2, 3, 5}
    assert (records["next"][crossed] != EVERYONE).any()
    assert outcome.delivered == outcome.expected == EVENTS


def test_nothing_changes_before_the_attack_begins_and_without_attackers() -> None:
    network = disk(n=30, radius=0.4, seed=2)
    rows = tuple(range(1, 30))
    honest = heard(run(network, Attack(kind="black-hole", share=0.0), subscribers=rows))
    for kind in NEW_KINDS:
        fault = Attack(kind=kind, share=0.3, at=4.5, for_=3.0)
        some = run(network, fault, subscribers=rows)
        before = [one for one in heard(some) if one[0] < 4.5]
        assert before == [one for one in honest if one[0] < 4.5]
        none = run(network, Attack(kind=kind, share=0.0), subscribers=rows)
        assert heard(none) == honest


@pytest.mark.parametrize("kind", ["replay", "wormhole", "flood", "liar"])
def test_a_larger_share_has_the_attackers_and_the_pairs_of_a_smaller_share(kind: Kind) -> None:
    network = disk(n=40, radius=0.4, seed=1)
    found = []
    for share in (0.1, 0.2, 0.35):
        fault = Attack(kind=kind, share=share)
        some = schedule([fault], network, 3, 20.0)
        found.append(set(zip(some.a.tolist(), some.b.tolist(), strict=True)))
    assert found[0] < found[1] < found[2]
    some = schedule([Attack(kind="wormhole", share=0.1)], network, 3, 20.0)
    assert (some.kind == WORMHOLE_BEGINS).sum() == 2


def test_floods_are_not_counted_but_cost() -> None:
    network = disk(n=30, radius=0.4, seed=2)
    demand = Drawn(n=30, topics=3, subscribers_each=5, events=10, every_s=1.0, seed=4)
    outcomes, own = [], []
    for faults in ([], [Attack(kind="flood", share=0.2, at=3.0, every_s=0.5, for_=5.0)]):
        simulation = Simulation(
            "flooding", network, workload=demand, seconds=20.0, faults=faults, hello=None
        )
        outcomes.append(simulation.run())
        own.append(simulation.demand)
    honest, attacked = outcomes
    assert (honest.published, honest.expected) == (attacked.published, attacked.expected)
    assert attacked.delivery_ratio == 1.0
    assert (attacked.late, attacked.unsolicited, attacked.duplicates) == (0, 0, 0)
    sent = [sum(one.sent.values()) for one in outcomes]
    assert sent[1] == sent[0] + 30 * 6 * 10  # 6 attackers publish ten events, all nodes flood them
    drawn = schedule([Attack(kind="flood", share=0.2, at=3.0)], network, 1, 20.0)
    assert (drawn.kind == FLOOD_BEGINS).sum() == 6


@pytest.mark.parametrize("neighbours", [1, 4])
def test_a_flooding_node_obeys_the_medium_and_pays_for_it(neighbours: int) -> None:
    """An attacker in one cell publishes more events than the medium carries."""
    network = from_links(1 + neighbours, [(a, b) for a in range(1 + neighbours) for b in range(a)])
    rate, flood_s, limit = 2000, 5.0, 20
    demand = Listed([(1, 0)], [(0.5, 1, 0)])
    simulation = Simulation(
        "flooding", network, workload=demand, seconds=10.0, hello=None,
        faults=[Attack(kind="flood", node=0, at=1.0, for_=flood_s, every_s=1.0 / rate)],
        radio=CsmaRadio(medium="sensors", queue_limit=limit),
    )  # fmt: skip
    outcome = simulation.run()
    station = simulation.radio.station
    # Each event of the attacker is a frame, or found the queue full; so is the event of node 1.
    attacker = station[0]
    assert attacker.frames + attacker.queue_full == rate * flood_s + 1
    assert outcome.radio["dropped, queue full"] == station.queue_full.sum()
    assert attacker.queue_full > rate
    # It counts down as every other node: a frame takes DIFS and the mean backoff of its own.
    frame_s = attacker.sending_s / attacker.frames
    gap_s = SENSORS.difs_s + SENSORS.cw_min / 2 * SENSORS.slot_s
    assert attacker.frames <= 1.05 * flood_s / (frame_s + gap_s) + limit
    # It senses its neighbours: only countdowns that end in the same slot make frames overlap.
    on_air_s = station.sending_s + station.hearing_s
    assert on_air_s == pytest.approx(on_air_s[0])
    assert on_air_s[0] < flood_s + 1.0
    assert station.sending_s.sum() - on_air_s[0] < 0.35 * station.sending_s.sum()
    # All nodes pay for what they hear, lost frames included.
    power = simulation.power
    assert outcome.energy_rx_j == pytest.approx(station.hearing_s.sum() * power.rx_w)
    assert outcome.energy_tx_j == pytest.approx(station.sending_s.sum() * power.tx_w)
    assert station.hearing_s[1] > 0.3 * attacker.sending_s


def test_a_flooded_demand_has_the_events_of_its_demand_in_any_batches() -> None:
    network = disk(n=30, radius=0.4, seed=2)
    demand = Drawn(n=30, topics=3, subscribers_each=5, events=10, every_s=1.0, seed=4)
    attack = Attack(kind="flood", share=0.2, at=3.0, every_s=0.3)
    simulation = Simulation("flooding", network, workload=demand, seconds=20.0, faults=[attack])
    whole = simulation.demand.begun_again().next_publications(20.0, 10_000)
    assert (np.diff(whole.t) >= 0.0).all()
    plain = demand.begun_again().next_publications(20.0, 10_000)
    counted = whole.event >= 0
    for column in ("t", "row", "topic", "event"):
        assert getattr(whole, column)[counted].tolist() == getattr(plain, column).tolist()
    again, t = simulation.demand.begun_again(), list[float]()
    for until in (2.5, 2.5, 7.0, 7.1, 20.0):
        while len(some := again.next_publications(until, 3).t):
            t += some.tolist()
            assert max(some) < until
    assert t == whole.t.tolist()
    assert again.next_at() == np.inf


def test_impossible_attacks_are_refused() -> None:
    for fault, what in (
        (Attack(kind="wormhole", node=1), "expected both ends of the wormhole"),
        (Attack(kind="wormhole", node=1, peer=1), "expected two different nodes"),
        (Attack(kind="liar", node=1, delay_s=3.0), "expected no delay_s"),
        (Attack(kind="replay", node=1, delay_s=0.0), "delay_s = 0: expected a positive"),
    ):
        with pytest.raises(Problem, match=what):
            schedule([fault], line(3), 1, 20.0)


def test_a_trace_names_the_begin_and_the_end_of_every_attack() -> None:
    for begins in range(BLACK_HOLE_BEGINS, FULL_FILTERS_BEGIN + 1, 2):
        words = [WHAT[place] for place in what_of(np.array([begins, begins + 1], np.uint8))]
        assert words == ["attacks", "honest"]
    assert [WHAT[place] for place in what_of(np.array([0, 9], np.uint8))] == [
        "node down",
        "resumed",
    ]
    some = schedule([Attack(kind="flood", node=2)], line(3), 1, 20.0)
    assert other_ends(merged(some)).tolist() == [-1]


def test_the_text_of_a_scenario_with_an_older_attack_stays_the_same() -> None:
    fault = {"fault": "attack", "kind": "black-hole", "share": 0.1}
    file = {"network": {"kind": "unit-disk", "n": 20, "degree": 8.0}, "faults": [fault]}
    known = {"fault", "kind", "node", "share", "at", "for"}
    assert plain(converted(file))["faults"][0].keys() == known
    fault["kind"], more = "replay", {"delay_s": 3.0}
    assert plain(converted(file | {"faults": [fault | more]}))["faults"][0]["delay_s"] == 3.0
