"""DRIP: brokers whose regions follow the nodes as they move, and copies carried among brokers.

[Yuan & Wu 2009, "DRIP: a dynamic Voronoi regions-based publish/subscribe protocol in mobile
networks"] The k ablest nodes are brokers, the others attach to the nearest by delay. Brokers know
of each other by bridge nodes, which have a neighbour in the other region. An event is flooded in
regions with subscribers of their own, and goes to `copies` brokers, which carry it to the brokers
that its subscribers are near to.

What we add because the paper is silent: versions of registrations, digests of the events held (with
beacons and reports) and seen (with registrations), renewal from time to time, and, if asked for,
the replacement of a broker that is gone.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.drip.events import (
    catch_up,
    give_events,
    hear_flood,
    note_event,
    note_relays,
    take_event,
)
from halfway.protocols.drip.regions import (
    elect,
    forget,
    hear_beacon,
    hear_call,
    report,
    send_beacon,
    settle,
    tell_ability,
)
from halfway.protocols.drip.registrations import (
    enrol,
    hear_of,
    leave,
    register,
    subscribe,
    tell_changes,
)
from halfway.protocols.drip.routes import carry, launch, note_exit
from halfway.protocols.drip.state import (
    ABILITY,
    BEACON,
    BOOT_NUMBER,
    CALL,
    ELECT,
    EVENT,
    FLOOD,
    KINDS,
    NEWS,
    NOBODY,
    OTHER,
    PARKED,
    QUIT,
    REGISTER,
    REPORT,
    ROLE,
    SETTLE,
    SKILL,
    SOURCE,
    SUBSCRIPTION,
    TICK,
    Rules,
    State,
    VoronoiState,
    most_emissions,
    state,
)
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE

__all__ = [
    "DELIVERED",
    "KINDS",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "Book",
    "Rules",
    "State",
    "VoronoiState",
    "handle",
    "most_emissions",
    "state",
]


class Book(NamedTuple):
    """Ids of events stand for themselves, and topics are the numbers that intervals hold."""

    events: int


@embedded
def plan_tick(state, rules, i, now, wait, out):
    """A letter to oneself for the next period, unless it would come too late."""
    if now + wait <= rules.until:
        o = emit(out, TICK, wait, state.node_id[i])
        o.args[BOOT_NUMBER] = state.me[i].boots


@apart
def begin(state, rules, i, message, out):
    """The start, or a return: what others know of this node and what it does in turn."""
    state.me[i].boots += 1
    state.me[i].called = NOBODY  # the letter that would have settled it died
    if state.me[i].elected == 0:
        if not rules.by_ability and state.me[i].boots == 1:
            state.me[i].ability = uniform(random_bits(state, i))
        wait = 0.1 * rules.election * uniform(random_bits(state, i))
        tell_ability(state, i, state.node_id[i], state.me[i].ability, wait, out)
        emit(out, ELECT, rules.election, state.node_id[i])
    # Anywhere within a period, so that nodes do not march in step.
    wait = rules.period * uniform(random_bits(state, i))
    plan_tick(state, rules, i, message.at, wait, out)


@apart
def tick(state, rules, neighbourhood, i, message, out):
    """Once a period: a broker's beacon, or what a node reports and renews."""
    if message.args[BOOT_NUMBER] != state.me[i].boots:
        return
    now = message.at
    plan_tick(state, rules, i, now, rules.period, out)
    if state.me[i].elected == 0:
        return
    forget(state, rules, neighbourhood, i, now, out)
    if state.me[i].broker == 1:
        send_beacon(state, i, now, out)
    else:
        report(state, rules, neighbourhood, i, now, out)
    if state.me[i].home != NOBODY and (
        state.me[i].version == 0 or state.me[i].renewed + rules.renew <= now
    ):
        enrol(state, rules, neighbourhood, i, now, out)


@apart
def meet(state, rules, neighbourhood, i, broker, message, out):
    """Another broker can be reached: tell it what it may not know."""
    tell_changes(state, rules, neighbourhood, i, broker, message.at, out)
    give_events(state, rules, neighbourhood, i, broker, message, message.at, out)


@apart
def consume(state, rules, neighbourhood, i, kind, message, out):
    """What came hop by hop and is for this broker."""
    if kind == REPORT:
        meet(state, rules, neighbourhood, i, message.args[OTHER], message, out)
    elif kind == REGISTER:
        if register(state, i, message) >= 0:
            catch_up(state, rules, i, message, out)
    elif kind == QUIT:
        leave(state, i, message)
    elif kind == SUBSCRIPTION:
        hear_of(state, i, message)
    elif kind == EVENT:
        role = np.int64(message.args[ROLE])  # one type of number, one copy of what takes it
        take_event(state, rules, i, message.event, message.topic, role, message.at, out)
        note_relays(state, i, message)
    elif kind == NEWS:
        take_event(state, rules, i, message.event, message.topic, SOURCE, message.at, out)


@apart
def publish(state, rules, neighbourhood, i, message, out):
    """[drip §V-A] "Having detected new events, nodes publish them to their local broker nodes"."""
    note_event(state, i, message.event)
    state.heard[i, message.event & (state.heard.shape[1] - 1)].seen = message.event
    if state.me[i].broker == 1:
        take_event(state, rules, i, message.event, message.topic, SOURCE, message.at, out)
        return
    o = launch(state, rules, neighbourhood, i, NEWS, state.me[i].home, message.at, out)
    o.topic = message.topic
    o.event = message.event


@apart
def hear_seldom(state, rules, neighbourhood, i, kind, message, out):
    """What is not an everyday matter."""
    if kind == ABILITY:
        tell_ability(state, i, message.target, message.reals[SKILL], 0.0, out)
    elif kind == ELECT:
        elect(state, i)
    elif kind == CALL:
        hear_call(state, rules, i, message, out)
    elif kind == SETTLE:
        settle(state, rules, i, message, out)
    elif kind == START:
        begin(state, rules, i, message, out)
    elif kind == SUBSCRIBE:
        new = subscribe(state, i, message.topic, message.event)
        if new and state.me[i].home != NOBODY:
            enrol(state, rules, neighbourhood, i, message.at, out)


@embedded
def hear_on_the_way(state, rules, neighbourhood, i, kind, message, out):
    """What goes hop by hop: it is for this broker, or for one that is farther on."""
    if kind == REPORT and message.kind != PARKED:
        note_exit(state, i, message.args[OTHER], message.source, message.at)
    at_end = message.target == state.node_id[i] or (kind == NEWS and state.me[i].broker == 1)
    if at_end and state.me[i].broker == 1:
        consume(state, rules, neighbourhood, i, kind, message, out)
    elif not at_end:
        carry(state, rules, neighbourhood, i, kind, message, out)


@handles(VoronoiState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    kind = np.int64(message["flags"] if message.kind == PARKED else message.kind)
    if kind == BEACON:
        hear_beacon(state, rules, neighbourhood, i, message, out)
        # "Brokers in range need no bridge": [drip §V-B] "unless they are neighbors".
        if state.me[i].broker == 1 and message.source == message.target:
            meet(state, rules, neighbourhood, i, message.target, message, out)
    elif kind == FLOOD:
        hear_flood(state, rules, i, message, out)
    elif REPORT <= kind <= EVENT:
        hear_on_the_way(state, rules, neighbourhood, i, kind, message, out)
    elif kind == TICK:
        tick(state, rules, neighbourhood, i, message, out)
    elif kind == PUBLISH:
        publish(state, rules, neighbourhood, i, message, out)
    else:
        hear_seldom(state, rules, neighbourhood, i, kind, message, out)
