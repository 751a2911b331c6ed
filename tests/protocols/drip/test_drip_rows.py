"""DRIP on one node against slow oracles: handover, routes, copies and their roles, deletion."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.protocols.drip import (
    copies,
    digests,
    events,
    messages,
    regions,
    registrations,
    routes,
)
from halfway.protocols.drip import handler as drip
from halfway.protocols.drip import state as states
from tests.interpreted import uncompiled
from tests.protocols.rules_of import rules_of

on_register = uncompiled(registrations.on_register)
on_subscription = uncompiled(registrations.on_subscription)
on_beacon = uncompiled(regions.on_beacon)
store_event = uncompiled(events.store_event)
event_slot = uncompiled(events.event_slot)
write_digest = uncompiled(digests.write_digest)
is_in_digest = uncompiled(digests.is_in_digest)
send = uncompiled(routes.send_or_defer)
role_for = uncompiled(copies.role_for)
note_relays = uncompiled(copies.note_relays)
transfer_events = uncompiled(copies.transfer_events)


@kernel
def receive(state: Any, kind: Any, message: Any) -> None:
    """Let a broker receive a record of a handover; compiled, because histories have many."""
    if kind == messages.REGISTER:
        registrations.on_register(state, 0, message)
    elif kind == messages.QUIT:
        registrations.on_quit(state, 0, message)
    else:
        registrations.on_subscription(state, 0, message)


def rules(**other: float) -> Any:
    """Rules for the small tables of these tests."""
    values: dict[str, Any] = {
        "brokers": 7, "nearest": 3, "copies": 2, "epidemic": False, "by_capability": True,
        "replace_brokers": False, "beacon_interval_s": 2.0, "expiry_s": 5.0, "election_s": 2.0,
        "registration_interval_s": 20.0, "exchange_interval_s": 5.0, "retry_interval_s": 0.5,
        "route_retries": 20, "flood_jitter_s": 0.01, "event_capacity": 64, "batch": 16,
        "transfer_batch": 16, "transfer_interval_s": 0.0,
    }  # fmt: skip
    return rules_of(drip, **{**values, **other})


def lone_node(node_id: int) -> states.DripState:
    """A node before its start event."""
    return states.blank_state(
        np.array([node_id], np.int32), np.ones(1), brokers=7, nearest=3, copies=2, window=64,
        publishers=8, own=1, intervals=32, seed=1,
    )  # fmt: skip


def lone_broker() -> states.DripState:
    """A broker without neighbours."""
    made = lone_node(0)
    made.node.is_broker[0] = 1
    made.node.local_broker[0] = 0
    return made


def event_of(publisher: int, event: int, topic: int = 1) -> np.record:
    """A record that carries an event."""
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.publisher, record.event, record.topic = publisher, event, topic
    return record


# Handover


def registration(version: int) -> np.record:
    """A record that registers, or ends, the one interval [3, 5] of subscriber 9."""
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.topic, record.event = 3, 5
    record.args[messages.VERSION], record.args[messages.SUBSCRIBER] = version, 9
    return record


@pytest.mark.parametrize("histories", [pytest.param(10_000, marks=pytest.mark.slow), 1_000])
def test_no_subscription_is_lost_in_any_history(histories: int) -> None:
    """[drip §V-A, §V-B] Handover and exchange in any order of arrival, A - B - A included: local at
    the last.
    """
    rng = np.random.default_rng(6)
    commands = {version: registration(version) for version in range(1, 12)}
    fresh = lone_broker().register.copy()
    brokers = [lone_broker() for _ in range(3)]
    for _ in range(histories):
        visits = [int(rng.integers(3))]
        while len(visits) < rng.integers(2, 7):
            visits.append(int(rng.choice([b for b in range(3) if b != visits[-1]])))
        sent = []
        for version, home in enumerate(visits, start=1):
            sent.append((home, int(messages.REGISTER), version))
            if version < len(visits):
                sent.append((home, int(messages.QUIT), version))
            others = [b for b in range(3) if b != home]
            sent += [(b, int(messages.SUBSCRIPTION), version) for b in others if rng.random() < 0.5]
        for state in brokers:
            state.register[:] = fresh
        for k in rng.permutation(len(sent)):
            broker, kind, version = sent[k]
            receive(brokers[broker], kind, commands[version])
        local = [int(state.register.local.sum()) for state in brokers]
        assert local == [int(b == visits[-1]) for b in range(3)], (visits, sent)


def test_a_register_has_room_for_every_interval() -> None:
    """Each is registered, whatever the hash of its key."""
    state = lone_broker()  # made for 32 intervals
    record = registration(1)
    for subscriber in range(0, 320, 10):
        record.args[messages.SUBSCRIBER] = subscriber
        on_register(state, 0, record)
    entry = state.register[0]
    assert set(entry.subscriber[entry.local == 1]) == set(range(0, 320, 10))
    assert (entry.subscriber == -1).sum() >= 32


# Routes


def test_nothing_is_sent_straight_back() -> None:
    """[drip §IV-B] Where the only route leads back to the sender, the record is deferred."""
    made = lone_node(5)
    made.nearest[0, 0].node_id, made.nearest[0, 0].via, made.node.local_broker[0] = 7, 2, 7
    neighbourhood = Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, 2, np.uint32), np.array([2, 3], np.int32),
        np.zeros(2, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    for last, kind, to in ((3, messages.REGISTER, 2), (2, messages.DEFERRED, 5)):
        out = outbox(4)
        hop = (np.uint32(0), np.int64(messages.REGISTER), np.int32(7), np.int32(last))
        send(made, rules(), neighbourhood, *hop, 1.0, out)
        sent = out.pool[out.free[3]]
        assert (sent["kind"], sent["next"], sent["target"]) == (kind, to, 7)


@pytest.mark.parametrize("strict", [False, True])
def test_a_bridge_node_may_carry_between_its_two_nearest_brokers_only(strict: bool) -> None:
    """[drip §V-B] "they are the top two nearest broker nodes of the bridge node"."""
    made = lone_node(5)
    made.node.local_broker[0] = 7
    for place, (broker, border) in enumerate(((9, 4), (7, -1), (8, 3))):
        entry = made.nearest[0, place]
        entry.node_id, entry.border_neighbour, entry.border_at = broker, border, 1.0
        entry.delay_us = broker
    neighbourhood = Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, 2, np.uint32), np.array([3, 4], np.int32),
        np.zeros(2, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    given = rules(two_nearest_bridges=strict)
    for broker, kind, to in (
        (8, messages.EVENT, 3),
        (9, messages.DEFERRED, 5) if strict else (9, messages.EVENT, 4),
    ):
        out = outbox(4)
        hop = (np.uint32(0), np.int64(messages.EVENT), np.int32(broker), np.int32(-1))
        send(made, given, neighbourhood, *hop, 1.0, out)
        sent = out.pool[out.free[3]]
        assert (sent["kind"], sent["next"]) == (kind, to)


@pytest.mark.parametrize("nearest", [1, 3])
def test_a_node_keeps_its_broker_unless_another_one_is_nearer_by_the_least_gain(
    nearest: int,
) -> None:
    """[drip §IV-B] "always chooses the broker with the min(Delay)", with our least gain."""
    neighbourhood = Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, 2, np.uint32), np.array([7, 9], np.int32),
        np.zeros(2, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    for gain_us, delays, chosen in (
        (0, (1000, 1000, 999), [9, 7, 9]), (2, (1000, 1000, 999), [9, 9, 9]),
        (2, (1000, 997, 996), [9, 7, 7]), (2, (1000, 999, 997), [9, 9, 9]),
    ):  # fmt: skip
        made = states.blank_state(
            np.array([5], np.int32), np.ones(1), brokers=7, nearest=nearest, copies=2, window=64,
            publishers=8, own=1, intervals=32, seed=1,
        )  # fmt: skip
        made.node.bootstrapped[0] = 1
        found = []
        for turn, (broker, delay) in enumerate(zip((9, 7, 9), delays, strict=True)):
            record = np.zeros(1, RECORD).view(np.recarray)[0]
            record.kind, record.source, record.at = messages.BEACON, broker, float(turn)
            record[messages.BROKER_ID], record[messages.LOCAL_BROKER] = broker, broker
            record.args[messages.BEACON_SEQUENCE] = turn + 1
            record.reals[messages.AGE] = delay * 1e-6
            given = rules(nearest=nearest, least_gain_s=gain_us * 1e-6)
            on_beacon(made, given, neighbourhood, np.uint32(0), record, outbox(64))
            found.append(int(made.node.local_broker[0]))
        assert found == chosen, (gain_us, delays)


# Copies


@given(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_which_broker_gets_a_copy(
    requested: bool, interested: bool, known: bool, left: int
) -> None:
    """[drip §V-B] A source gives m copies, and to the interested; a relay to these only."""
    relay, destination, none = states.RELAY, states.DESTINATION, states.NOTHING
    requested = requested or interested
    for role in (states.DESTINATION, states.RELAY, states.SOURCE):
        got = role_for(False, role, left, requested, interested, known)
        assert role_for(True, role, left, requested, interested, known) in (
            (none,) if known else (relay,)
        )
        if role == states.DESTINATION:
            assert got == none
        elif interested:
            assert got == (none if known else destination)
        elif role == states.SOURCE and left and requested:
            assert got == relay
        else:
            assert got == none


@given(
    st.sampled_from((states.DESTINATION, states.RELAY, states.SOURCE)), st.booleans(), st.booleans()
)
def test_a_relay_of_the_source_is_one_whichever_broker_sends_its_copy(
    role: int, interested: bool, chosen: bool
) -> None:
    """[drip §V-B] A relay whose copy was lost does not become a destination by a faster one."""
    # [drip §V-B] "would contact all of the interested broker nodes": a relay's copy to one.
    state, out = lone_broker(), outbox(16)
    record = registration(1)
    record.args[messages.NEAREST : messages.NEAREST + messages.MOST_NEAREST] = (
        8 if interested else 6
    )
    on_subscription(state, 0, record)
    copy = event_of(3, 0, topic=4)
    place = store_event(state, rules(), 0, copy, np.int64(role), out)
    copy.args[messages.RELAYS :] = -1
    copy.args[messages.RELAYS] = 8 if chosen else 7
    if role == states.SOURCE:
        state.relays[0, place, :] = [8, 7] if chosen else [5, 7]
    note_relays(state, 0, place, copy)
    digest = np.zeros(1, RECORD).view(np.recarray)[0]
    digest.at = 1.0
    alone = Neighbourhood(
        np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.zeros(0, np.int32),
        np.zeros(0, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    before = int(out.tally[0])
    transfer_events(state, rules(), alone, np.uint32(0), np.int32(8), np.int32(4), digest, out)
    sent = [out.pool[out.free[slot]] for slot in range(int(out.tally[0]), before)]
    given = [(int(o.args[messages.ROLE]), list(o.args[messages.RELAYS :][:2])) for o in sent]
    if role == states.DESTINATION or not (interested or (chosen and role == states.SOURCE)):
        assert given == []
        return
    want = states.RELAY if chosen else states.DESTINATION
    first = [5, 7] if role == states.SOURCE else [7, -1]
    known = first if not chosen else [8, 7 if role == states.SOURCE else -1]
    assert given == [(want, known)]


@pytest.mark.parametrize("role", [states.RELAY, states.SOURCE])
def test_a_source_may_give_copies_to_its_relays_only(role: int) -> None:
    """[drip §V-B] "to its m nearby broker nodes": m = 2 of three; relays still serve all three."""
    state, sent = lone_broker(), list[tuple[int, int]]()
    record = registration(1)
    record.args[messages.NEAREST : messages.NEAREST + 3] = [6, 7, 8]
    on_subscription(state, 0, record)
    place = store_event(state, rules(), 0, event_of(3, 0, topic=4), np.int64(role), outbox(16))
    assert place >= 0
    digest = np.zeros(1, RECORD).view(np.recarray)[0]
    digest.at = 1.0
    alone = Neighbourhood(
        np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.zeros(0, np.int32),
        np.zeros(0, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    given = rules(relays_only=True)
    for broker in (6, 7, 8):
        out = outbox(16)
        before = int(out.tally[0])
        met = np.int32(broker), np.int32(4)
        transfer_events(state, given, alone, np.uint32(0), *met, digest, out)
        some = [out.pool[out.free[slot]] for slot in range(int(out.tally[0]), before)]
        sent += [(int(o.target), int(o.args[messages.ROLE])) for o in some]
    relays = [(6, states.RELAY), (7, states.RELAY)]
    served = [(broker, states.DESTINATION) for broker in (6, 7, 8)]
    assert sent == (relays if role == states.SOURCE else served)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20, unique=True), st.integers(1, 6))
def test_the_least_matching_events_that_arrived_first_are_deleted(
    topics: list[int], capacity: int
) -> None:
    """[drip §V-A] "less related to the existing subscriptions". The order of arrival decides among
    equal events, although here publishers number them in the reverse order.
    """
    tight = rules(event_capacity=capacity)
    state, out = lone_broker(), outbox(64)
    for subscriber, low in enumerate((0, 2, 2, 5)):
        record = registration(1)
        record.args[messages.SUBSCRIBER], record.topic, record.event = subscriber, low, low + 2
        on_subscription(state, 0, record)
    matching = [sum(low <= topic <= low + 2 for low in (0, 2, 2, 5)) for topic in range(10)]
    kept: list[int] = []
    for event, topic in enumerate(topics):
        some = event_of(event % 3, len(topics) - event, topic)
        store_event(state, tight, 0, some, np.int64(states.SOURCE), out)
        kept.append(event)
        if len(kept) > capacity:
            kept.remove(min(kept, key=lambda e: (matching[topics[e]], e)))
    slots = state.events[0]
    left = slots.event[slots.role > states.DELETED].tolist()
    assert sorted(len(topics) - event for event in left) == kept


def test_a_digest_states_every_event_that_is_held_and_seldom_another_one() -> None:
    """Two events that share a place in one digest do not share it in the next one."""
    state, out = lone_broker(), outbox(256)
    held = [(publisher, event) for publisher in (0, 7, 2**31 - 1) for event in (0, 1, 40, 63)]
    for one in held:
        store_event(state, rules(), 0, event_of(*one), np.int64(states.RELAY), out)
    others = [(publisher, event) for publisher in range(1, 7) for event in range(100)]
    wrong = []
    for number in (1, 2, 9):
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.args[messages.BEACON_SEQUENCE] = number
        write_digest(state, 0, record)
        assert all(is_in_digest(record, event_of(*one), 0, number) for one in held)
        wrong.append({one for one in others if is_in_digest(record, event_of(*one), 0, number)})
    for some in wrong:
        assert len(some) < 0.08 * len(others)  # 12 of 384 bits: 3 %
    assert not wrong[0] & wrong[1] & wrong[2]


def test_a_full_table_forgets_the_events_that_came_first_and_never_stores_them_again() -> None:
    """And counts the copies of which it had to forget a held one."""
    state, out = lone_broker(), outbox(4096)
    slots = state.events.shape[1]
    many = rules(event_capacity=10**6)
    for event in range(3 * slots):
        store_event(state, many, 0, event_of(5, event), np.int64(states.SOURCE), out)
    here = {event for event in range(3 * slots) if event_slot(state, 0, event_of(5, event)) >= 0}
    assert set(range(3 * slots - slots // 4, 3 * slots)) <= here
    assert len(here) + int(state.node.forgotten[0]) == 3 * slots
    assert int(state.node.held_events[0]) == len(here)
    assert store_event(state, many, 0, event_of(5, 0), np.int64(states.SOURCE), out) == -1
