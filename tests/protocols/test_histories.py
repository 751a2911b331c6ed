"""All systems deliver what a flat oracle asks for, over random histories of roles and faults.

    python -m tests.protocols.test_histories 0 10000 siena

runs the histories of these seeds and prints each one that fails. With `--given`, nodes have lists
of their neighbours and one clock. GeoRendezvous and groups have histories of their own, in
`georendezvous/` and `walks/`.
"""

import math
import sys

import pytest

from halfway.adapters.registry import TABLE
from halfway.world.faults import Crash
from halfway.world.workload.named_roles import ALWAYS
from tests.protocols import histories
from tests.protocols.histories import (
    CHANGES_S,
    PROMISES,
    deliveries_of,
    failure,
    judged,
    simulation_of,
)
from tests.protocols.history_roles import variant_of

FEW, MANY = 10, 10_000
# Histories that once went wrong, and why.
ONCE_WRONG = [
    ("siena", 69),  # a command again after a crash was due, by rounding, while the node was down
    ("siena", 108),  # the only way to a broker led through a node that lost its memory
    ("siena", 3744),  # a broker without a parent heard of none, and counted its clients as silent
    ("siena", 869),  # an UNSUBSCRIBE was lost on a link that was cut
    ("underlay-siena", 1164),  # of three roots one neither knew a successor nor a predecessor
    ("drip", 120),  # the only broker of a list lost its memory, and was a broker no more
    ("underlay-siena", 8271),  # all others were below a broker that lost its memory
    ("underlay-siena", 6628),  # the same, and the broker answered one child no more
    ("underlay-siena", 3374),  # a root lost its memory, and its child had been the root before it
    ("underlay-siena", 4474),  # a root took its own announcement for the nearest broker
    ("underlay-siena", 1269),  # a parent that had left answered searches, and so was not silent
    ("underlay-siena", 2003),  # the same
    ("underlay-siena", 605),  # the path of a client's node counted as -1 hops
    ("drip", 2709),  # a broker that lost its memory numbered its registrations from 1 again
    ("drip", 2863),  # equal delays by clocks that drift, so a subscriber never kept its broker
    ("siena", 6147),  # nodes of a chain learnt of their one-way links one after the other
    ("underlay-siena", 7787),  # the same
    ("walk-overlay", 236),  # a walk along a probe voided the timer of an earlier walk
    ("walk-overlay", 882),  # the roots of two detached parts met other parts, and both stopped
    ("walk-overlay", 983),  # a root followed a probe back to a node that did not hear it
    ("walk-overlay", 6129),  # the same
    ("walk-overlay", 622),  # one side alone still had a link, and never asked for it again
]


def test_every_system_that_spreads_events_has_histories() -> None:
    spreads = {name for name, one in TABLE.items() if not one.adapter.detects_failures}
    assert spreads - set(PROMISES) == {"georendezvous"}  # it needs positions


@pytest.mark.parametrize("system", PROMISES)
def test_after_quiescence_each_event_reaches_each_subscriber_once(system: str) -> None:
    """[drw §1] "multiple publications and subscriptions": of the walks as of all other systems."""
    assert [line for seed in range(FEW) if (line := failure(system, seed))] == []


@pytest.mark.one_clock  # `given` means one clock
@pytest.mark.parametrize(("system", "seed"), ONCE_WRONG)
def test_a_history_that_was_wrong_is_right(system: str, seed: int) -> None:
    assert failure(system, seed, given=True, plain=True) == ""
    assert failure(system, seed, plain=True) == ""
    assert failure(system, seed) == ""


@pytest.mark.slow
@pytest.mark.parametrize("system", PROMISES)
def test_ten_thousand_histories(system: str) -> None:
    assert run(system, 0, MANY) == []


def test_the_oracle_notices_what_is_missing_twice_or_unasked() -> None:
    simulation, faults = simulation_of("flooding", 0, plain=True)
    found = deliveries_of(simulation)
    right = judged(simulation, faults, found)
    assert right[1:] == (0, 0, 0, 0)
    assert right.due > 0
    event, _, at = found[-1]
    assert judged(simulation, faults, found[:-1]) == right._replace(missing=1)
    assert judged(simulation, faults, [*found, found[-1]]) == right._replace(twice=1)
    strangers = set(range(simulation.environment.n)) - {row for row, _ in _asked(simulation)}
    wrong = [*found, (event, min(strangers), at)]
    assert judged(simulation, faults, wrong).unasked == 1


def test_a_third_of_the_histories_has_losses_and_a_third_the_defaults() -> None:
    links = [histories.link_of(seed, "siena") for seed in range(300)]
    assert 80 < sum(success < 1.0 for _, success in links) < 120
    assert 80 < sum(not retries for retries, _ in links) < 120


def test_publishers_and_brokers_come_and_go() -> None:
    """A quarter of the publishers begins late and another one withdraws, and brokers change their
    role in most histories of a tree. Commands that come again after a loss of memory are in time.
    """
    late = ended = publishers = changing = lost = 0
    for seed in range(100):
        run, faults = simulation_of("underlay-siena", seed)
        demand = run.demand
        publishers += sum(map(len, demand.publishers))
        periods = list(demand.publishing_periods.values())
        late += sum(end == math.inf for _, end in periods)
        ended += sum(end < math.inf for _, end in periods)
        some = [one for one in demand.brokers if (one.from_s, one.until_s) != ALWAYS]
        changing += bool(some)
        for fault in faults:
            if isinstance(fault, Crash) and fault.memory == "lost":
                again = [one for one in some if one.row == fault.node and one.until_s == math.inf]
                assert all(fault.at + fault.for_ + one.from_s <= CHANGES_S for one in again)
                lost += any(one.row == fault.node for one in some)
    assert 0.2 < late / publishers < 0.3
    assert 0.2 < ended / publishers < 0.3
    assert 50 < changing < 75
    assert lost > 5


def test_a_quarter_of_the_histories_of_a_tree_has_the_default_intervals() -> None:
    variants = [variant_of(seed, "underlay-siena") for seed in range(400)]
    usual = [one for one in variants if one.quiet_s]
    assert 75 < len(usual) < 125
    assert {one.options["refresh_s"] for one in usual} == {10.0}
    assert 150 < sum(one.options["known_brokers"] == 1 for one in variants) < 250
    assert variant_of(0, "flooding") == ({}, None)


def test_the_histories_need_what_a_system_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = PROMISES["gossip"]._replace(options={"fanout": 1, "rounds": 1})
    monkeypatch.setattr(histories, "PROMISES", {"gossip": weak})
    assert any(failure("gossip", seed) for seed in range(FEW))


def _asked(simulation: histories.Simulation) -> list[tuple[int, int]]:
    demand = simulation.demand
    assert isinstance(demand, histories.Listed)
    return demand.subscriptions


def run(system: str, first: int, last: int, *, given: bool = False) -> list[str]:
    """The failures of a system in the histories of these seeds."""
    return [line for seed in range(first, last) if (line := failure(system, seed, given=given))]


if __name__ == "__main__":
    first, last, *names = [word for word in sys.argv[1:] if word != "--given"]
    for name in names or PROMISES:
        lines = run(name, int(first), int(last), given="--given" in sys.argv)
        sys.stdout.writelines(f"{name}: {line}\n" for line in lines or ["nothing is wrong"])
