"""DRIP on one node against slow oracles: handover, ways, who gets a copy, what is deleted."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.core.message import MESSAGE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.protocols.drip import events, routes
from halfway.protocols.drip import handler as drip
from halfway.protocols.drip import registrations as registers
from halfway.protocols.drip import state as states


# What only compiled code may call, for Python.
@kernel
def registered(state: Any, i: Any, message: Any) -> None:
    registers.register(state, i, message)


@kernel
def left(state: Any, i: Any, message: Any) -> None:
    registers.leave(state, i, message)


@kernel
def heard_of(state: Any, i: Any, message: Any) -> None:
    registers.hear_of(state, i, message)


@kernel
def took(
    state: Any, rules: Any, i: Any, event: Any, topic: Any, role: Any, now: Any, out: Any
) -> None:
    events.take_event(state, rules, i, event, topic, role, now, out)


@kernel
def digested(state: Any, i: Any, o: Any) -> None:
    events.write_digest(state, i, o)


@kernel
def told_of(message: Any, event: Any) -> Any:
    return events.is_told(message, event)


@kernel
def sent(
    state: Any,
    rules: Any,
    neighbourhood: Any,
    i: Any,
    kind: Any,
    target: Any,
    besides: Any,
    now: Any,
    out: Any,
) -> None:
    routes.send(state, rules, neighbourhood, i, kind, target, besides, now, out)


@kernel
def shared(
    epidemic: Any, role: Any, copies: Any, requested: Any, interested: Any, known: Any
) -> Any:
    return events.share(epidemic, role, copies, requested, interested, known)


@kernel
def noted(state: Any, i: Any, message: Any) -> None:
    events.note_relays(state, i, message)


@kernel
def gave(
    state: Any,
    rules: Any,
    neighbourhood: Any,
    i: Any,
    broker: Any,
    message: Any,
    now: Any,
    out: Any,
) -> None:
    events.give_events(state, rules, neighbourhood, i, broker, message, now, out)


def rules(**other: float) -> drip.Rules:
    """The rules of a system as small as these tests."""
    values: dict[str, Any] = {
        "brokers": 7, "nearest": 3, "copies": 2, "epidemic": False, "by_ability": True,
        "replace": False, "period": 2.0, "expiry": 5.0, "election": 2.0, "renew": 20.0,
        "exchange": 5.0, "patience": 0.5, "tries": 20, "wait": 0.01, "space": 64, "batch": 16,
        "handed": 16, "rest": 0.0, "until": 100.0,
    }  # fmt: skip
    return drip.Rules(**{**values, **other})


def lone_broker(**other: float) -> drip.State:
    """A broker of its own."""
    ability = np.ones(1)
    made = drip.state(
        np.zeros(1, np.int32), rules(**other), ability, window=64, own=1, intervals=32, seed=1
    )
    made.me.broker[0] = 1
    made.me.home[0] = 0
    return made


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
    commands = {version: registration(version) for version in range(1, 12)}
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
            handler(brokers[broker], 0, commands[version])
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


# Ways


def test_nothing_is_sent_straight_back() -> None:
    """Two neighbours of one region that take each other for the way up: the record is parked."""
    made = drip.state(np.array([5], np.int32), rules(), np.ones(1), window=64, own=1,
                      intervals=4, seed=1)  # fmt: skip
    made.near[0, 0].name, made.near[0, 0].via, made.me.home[0] = 7, 2, 7
    near = Neighbourhood(
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


@given(
    st.sampled_from((states.DESTINATION, states.RELAY, states.SOURCE)), st.booleans(), st.booleans()
)
def test_whom_a_source_chose_is_a_relay_whoever_hands_it_a_copy(
    role: int, interested: bool, chosen: bool
) -> None:
    """So that a relay whose copy was lost is not left a destination by a faster one."""
    state, out = lone_broker(), outbox(16)
    letter = registration(1)
    letter.args[states.NEAR : states.NEAR + states.MOST_NEAREST] = 8 if interested else 6
    heard_of(state, 0, letter)
    took(state, rules(), 0, 0, 4, role, 0.0, out)
    copy = np.zeros(1, MESSAGE).view(np.recarray)[0]
    copy.event, copy.args[states.RELAYS :] = 0, -1
    copy.args[states.RELAYS] = 8 if chosen else 7
    if role == states.SOURCE:
        state.relays[0, 0, :] = [8, 7] if chosen else [5, 7]
    noted(state, 0, copy)
    digest = np.zeros(1, MESSAGE).view(np.recarray)[0]
    alone = Neighbourhood(
        np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.zeros(0, np.int32),
        np.zeros(0, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    before = int(out.tally[0])
    gave(state, rules(), alone, np.uint32(0), np.int32(8), digest, 1.0, out)
    said = [out.pool[out.free[slot]] for slot in range(int(out.tally[0]), before)]
    given = [(int(o.args[states.ROLE]), list(o.args[states.RELAYS :][:2])) for o in said]
    if role == states.DESTINATION or not (interested or (chosen and role == states.SOURCE)):
        assert given == []
        return
    want = states.RELAY if chosen else states.DESTINATION
    first = [5, 7] if role == states.SOURCE else [7, -1]
    known = first if not chosen else [8, 7 if role == states.SOURCE else -1]
    assert given == [(want, known)]


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
