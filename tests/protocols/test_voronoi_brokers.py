"""DRIP against slow oracles: lists, regions, floods, handover, who gets a copy, what is deleted."""

import subprocess
import sys
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.around import Around
from halfway.core.compiled import kernel
from halfway.core.message import MESSAGE
from halfway.core.outbox import outbox
from halfway.protocols import voronoi_brokers as drip
from halfway.protocols import voronoi_brokers_events as events
from halfway.protocols import voronoi_brokers_register as registers
from halfway.protocols import voronoi_brokers_routes as routes
from halfway.protocols import voronoi_brokers_state as states
from halfway.sim.simulation import Simulation
from halfway.world.demand import Listed
from halfway.world.faults import Crash
from halfway.world.network import Network
from tests.networks import disk
from tests.protocols.lone import drive
from tests.protocols.test_once import world

K, L = 7, 3
OPTIONS = {"brokers": K, "nearest": L, "copies": 2}


# What only compiled code may call, for Python.
@kernel
def registered(state, i, message):  # type: ignore[no-untyped-def]
    registers.register(state, i, message)


@kernel
def left(state, i, message):  # type: ignore[no-untyped-def]
    registers.leave(state, i, message)


@kernel
def heard_of(state, i, message):  # type: ignore[no-untyped-def]
    registers.hear_of(state, i, message)


@kernel
def took(state, rules, i, event, topic, role, now, out):  # type: ignore[no-untyped-def]
    events.take_event(state, rules, i, event, topic, role, now, out)


@kernel
def digested(state, i, o):  # type: ignore[no-untyped-def]
    events.write_digest(state, i, o)


@kernel
def told_of(message, event):  # type: ignore[no-untyped-def]
    return events.is_told(message, event)


@kernel
def sent(state, rules, around, i, kind, target, besides, now, out):  # type: ignore[no-untyped-def]
    routes.send(state, rules, around, i, kind, target, besides, now, out)


@kernel
def shared(epidemic, role, copies, requested, interested, known):  # type: ignore[no-untyped-def]
    return events.share(epidemic, role, copies, requested, interested, known)


def rules(**other: float) -> drip.Rules:
    """The rules of a system as small as these tests."""
    values = {
        "brokers": K, "nearest": L, "copies": 2, "epidemic": False, "by_ability": True,
        "replace": False, "period": 2.0, "expiry": 5.0, "election": 2.0, "renew": 20.0,
        "exchange": 5.0, "patience": 0.5, "tries": 20, "wait": 0.01, "space": 64, "batch": 16,
        "handed": 16, "rest": 0.0, "until": 100.0,
    }  # fmt: skip
    return drip.Rules(**{**values, **other})  # type: ignore[arg-type]


def lone_broker(**other: float) -> drip.State:
    """A broker of its own."""
    ability = np.ones(1)
    made = drip.state(
        np.zeros(1, np.int32), rules(**other), ability, window=64, own=1, intervals=32, seed=1
    )
    made.me.broker[0] = 1
    made.me.home[0] = 0
    return made


def hops(network: Network, source: int) -> list[int]:
    """Hops from a row to all others, breadth first; -1 where there is no way."""
    found, waiting = [-1] * network.n, deque([source])
    found[source] = 0
    while waiting:
        here = waiting.popleft()
        for there in map(int, network.neighbours(here)):
            if found[there] < 0:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def test_compiled_or_interpreted_among_many_or_alone_it_says_the_same() -> None:
    """What tests/protocols/test_once.py holds the others to, in a process that compiles nothing."""
    program = (
        "from tests.protocols.test_once import drive, large_faults, world\n"
        "print(drive(world('voronoi-brokers')).digest(), large_faults('voronoi-brokers'))"
    )
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [drive(world("voronoi-brokers")).digest(), "[]"]


@pytest.fixture(scope="module", params=range(4, 14))
def still(request: pytest.FixtureRequest) -> Simulation:
    """Connected worlds in which nothing moves; everybody wants topic 0, one publishes."""
    network = disk(n=60, radius=0.22, seed=request.param)
    demand = Listed([(row, 0) for row in range(60)], [(15.0, 3, 0)])
    made = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=19.0, seed=5, options=OPTIONS
    )
    made.run()
    return made


def test_the_ablest_are_elected(still: Simulation) -> None:
    """[drip §IV-A] "the top k nodes with the largest ξ"."""
    me = still.cast.state.me
    ablest = np.argsort(-me.ability, kind="stable")[:K]
    assert set(np.flatnonzero(me.broker)) == set(ablest)


def test_every_list_is_exactly_the_nearest_brokers(still: Simulation) -> None:
    """[drip §IV-B] "the delay information of its top l (l < k) nearest broker nodes"."""
    state, network = still.cast.state, still.setting.start
    brokers = np.flatnonzero(state.me.broker).tolist()
    far = {broker: hops(network, broker) for broker in brokers}
    for row in range(network.n):
        others = sorted((far[b][row], b) for b in brokers if b != row)
        # A broker is its own nearest one: beacons that it would list l-th may stop next to it.
        listed = L - (row in brokers)
        near = np.sort(state.near[row], order=("delay", "name"))[-L:]
        near = near[near["name"] >= 0][:listed]
        assert near["name"].tolist() == [b for _, b in others[:listed]]
        hop_us = 4e3  # of the ideal air
        assert near["delay"].tolist() == [d * hop_us for d, _ in others[:listed]]
        home = row if row in brokers else others[0][1]
        assert state.me.home[row] == home


def test_a_flood_reaches_its_region_and_no_other(still: Simulation) -> None:
    """[drip §V-A] "flood the event only in its Voronoi region"."""
    state = still.cast.state
    home, broker = state.me.home, state.me.broker == 1
    assert (state.heard.held[broker] == 0).any(axis=1).sum() >= 2
    for b in np.flatnonzero(broker):
        flooded = state.heard.rounds[b].max() > 0
        region = set(np.flatnonzero(home == b)) - {b}
        mark = state.heard.mark.max(axis=1) // events._ROUNDS
        repeated = set(np.flatnonzero((state.heard.flooded == 0).any(axis=1) & (mark == b)))
        assert repeated == (region if flooded else set())
    assert still.ledger.unasked == 0
    told = {row for row in range(60) if (state.heard.seen[row] == 0).any()}
    reached = {row for row in range(60) if state.heard.held[home[row]].max() == 0}
    assert told == reached | {3}


def test_a_region_whose_broker_dies_elects_another() -> None:
    """Ours: with `replace`, the ablest of those who lost the same broker takes its place."""
    network = disk(n=60, radius=0.22, seed=4)
    demand = Listed([(row, 0) for row in range(60)], [(40.0, 3, 0)])
    options = {**OPTIONS, "epidemic": True, "replace": True}
    made = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=10.0, seed=5, options=options
    )
    made.run()
    me = made.cast.state.me
    dead = int(np.flatnonzero(me.broker)[0])
    again = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=55.0, seed=5, options=options,
        faults=[Crash(at=12.0, node=network.label(dead))],
    )  # fmt: skip
    out = again.run()
    deputies = np.flatnonzero(again.cast.state.me.stands_for == dead)
    assert len(deputies) >= 1
    assert again.cast.state.me.broker[deputies].all()
    state = again.cast.state
    assert out.delivered > 0
    # Everybody who lives is registered with a broker that lives.
    lives = np.flatnonzero(np.arange(60) != dead)
    homes = state.me.home[lives]
    assert dead not in homes
    assert state.me.broker[homes].all()
    entry = state.register
    for row, home in zip(lives, homes, strict=True):
        assert ((entry.key[home] == row) & (entry.local[home] == 1)).any()


# Handover


def registration(version: int, kind: int = drip.SUBSCRIBE) -> np.record:
    """A record that registers, or ends, the one interval [3, 5] of subscriber 9."""
    record = np.zeros(1, MESSAGE).view(np.recarray)[0]
    record.kind, record.topic, record.event = kind, 3, 5
    record.args[states.VERSION], record.args[states.KEY] = version, 9
    return record


def test_no_subscription_is_lost_in_ten_thousand_histories() -> None:
    """[drip §V-A] Handover in any order of arrival, A - B - A included: registered where it is."""
    rng = np.random.default_rng(6)
    letters = {version: registration(version) for version in range(1, 12)}
    fresh = lone_broker().register.copy()
    brokers = [lone_broker() for _ in range(3)]
    for _ in range(10_000):
        visits = [int(rng.integers(3))]
        while len(visits) < rng.integers(2, 7):
            visits.append(int(rng.choice([b for b in range(3) if b != visits[-1]])))
        post = []
        for version, home in enumerate(visits, start=1):
            post.append((home, "register", version))
            if version < len(visits):
                post.append((home, "quit", version))
            others = [b for b in range(3) if b != home]
            post += [(b, "told", version) for b in others if rng.random() < 0.5]
        for state in brokers:
            state.register[:] = fresh
        for k in rng.permutation(len(post)):
            broker, what, version = post[k]
            handler = {"register": registered, "quit": left,
                       "told": heard_of}[what]  # fmt: skip
            handler(brokers[broker], 0, letters[version])
        local = [int(state.register.local.sum()) for state in brokers]
        assert local == [int(b == visits[-1]) for b in range(3)], (visits, post)


def test_a_register_has_room_for_every_interval_that_there_is() -> None:
    """Each is registered, however its key is hashed: none is dropped in silence."""
    state = lone_broker()  # made for 32 intervals
    letter = registration(1)
    for subscriber in range(0, 320, 10):
        letter.args[states.KEY] = subscriber
        registered(state, 0, letter)
    entry = state.register[0]
    assert set(entry.key[entry.local == 1]) == set(range(0, 320, 10))
    assert (entry.key == -1).sum() >= 32


def test_a_run_makes_registers_for_all_of_its_intervals(still: Simulation) -> None:
    """The sum over nodes of the runs of topics that each wants, here one for each of 60."""
    state = still.cast.state
    assert state.register.shape[1] > 60
    assert state.wish.shape[1] == 1


# Ways


def test_nothing_is_sent_straight_back() -> None:
    """Two neighbours of one region that take each other for the way up: the record is parked."""
    made = drip.state(np.array([5], np.int32), rules(), np.ones(1), window=64, own=1,
                      intervals=4, seed=1)  # fmt: skip
    made.near[0, 0].name, made.near[0, 0].via, made.me.home[0] = 7, 2, 7
    near = Around(
        np.zeros(1, np.uint32), np.full(1, 2, np.uint32), np.array([2, 3], np.int32),
        np.zeros(2, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    for last, kind, to in ((3, states.REGISTER, 2), (2, states.PARKED, 5)):
        out = outbox(4)
        way = (np.uint32(0), np.int64(states.REGISTER), np.int32(7), np.int32(last))
        sent(made, rules(), near, *way, 1.0, out)
        said = out.pool[out.free[3]]
        assert (said["kind"], said["next"], said["target"]) == (kind, to, 7)


# Copies


@given(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_who_gets_a_copy(requested: bool, interested: bool, known: bool, copies: int) -> None:
    """[drip §V-B] A source gives m copies, and to the interested; a relay to these only."""
    relay, aim, none = states.RELAY, states.DESTINATION, states.NOTHING
    requested = requested or interested
    for role in (states.DESTINATION, states.RELAY, states.SOURCE):
        got = shared(False, role, copies, requested, interested, known)
        assert shared(True, role, copies, requested, interested, known) in (
            (none,) if known else (relay,)
        )
        if role == states.DESTINATION:
            assert got == none
        elif interested:
            assert got == (none if known else aim)
        elif role == states.SOURCE and copies and requested:
            assert got == relay
        else:
            assert got == none


@settings(max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20, unique=True), st.integers(1, 6))
def test_the_less_related_and_the_older_are_deleted(topics: list[int], space: int) -> None:
    """[drip §V-A] "less related to the existing subscriptions"; "newly published … priority"."""
    tight = rules(space=space)
    state, out = lone_broker(space=space), outbox(64)
    for subscriber, low in enumerate((0, 2, 2, 5)):
        letter = registration(1)
        letter.args[states.KEY], letter.topic, letter.event = subscriber, low, low + 2
        heard_of(state, 0, letter)
    wanted = [sum(low <= topic <= low + 2 for low in (0, 2, 2, 5)) for topic in range(10)]
    kept: list[int] = []
    for event, topic in enumerate(topics):
        took(state, tight, 0, event, topic, states.SOURCE, float(event), out)
        kept.append(event)
        if len(kept) > space:
            kept.remove(min(kept, key=lambda e: (wanted[topics[e]], e)))
    heard = state.heard[0]
    assert sorted(heard.held[heard.role > states.GONE].tolist()) == kept


def test_digests_tell_what_is_held() -> None:
    """Bits of a beacon's digest: what a broker holds, and beyond its reach what is past."""
    state, out = lone_broker(), outbox(16)
    held = {0, 1, 31, 32, 40, 63}
    for event in sorted(held):
        took(state, rules(), 0, event, 1, states.RELAY, 0.0, out)
    record = np.zeros(1, MESSAGE).view(np.recarray)[0]
    digested(state, 0, record)
    told = {event for event in range(200) if told_of(record, event)}
    assert {event for event in told if event < 192} == held
    assert all(told_of(record, record.event - back) for back in range(1, 5))
