"""Anti-entropy: now and then a node compares what it knows with one random neighbour, both ways.

[Demers et al. 1987, "Epidemic algorithms for replicated database maintenance", push-pull.] In a
round a node sends digests (which events of a window of 256 it holds, a bit each) to one neighbour.
That one answers with events that the digest lacks, and with one wish (bits again) for those that
itself lacks, which the first then sends. On a connected network everybody ends up with everything,
whatever was lost on the way: what a round misses, a later one repeats.

We compare windows of event ids in turn instead of whole databases by checksum, and send at most
`batch` events in answer to one record, because a record has eight integers and a node's outbox
an end.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.dice import pick, uniform
from halfway.core.handler import handles
from halfway.core.outbox import emit
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE, Book, inform
from halfway.protocols.gossip import dice, drawn

__all__ = ["DELIVERED", "AntiEntropyState", "Book", "Rules", "State", "handle", "state"]

# Kinds beside those of the application (PUBLISH, SUBSCRIBE, DELIVERED), which are flooding's.
START = 6  # from the application, or whoever boots the node: begin the rounds, or begin them anew
ROUND = 3  # a letter to oneself: compare with somebody
# Between neighbours. `event` is the first id of a window, `args` are its bits, id by id:
DIGEST = 2  # what I hold
WISH = 7  # what I want
EVENT = 8  # here is one

WINDOW = 256  # events whose bits fill the eight integers of a record
START_NUMBER = 0  # place in a ROUND's `args`: which START its rounds began with
_UNKNOWN = np.int32(-1)


class Rules(NamedTuple):
    """The scalars of anti-entropy, the same on every node."""

    period: float  # seconds from one round of a node to its next
    jitter: float  # seconds; each wait is longer by a random part of it
    until: float  # seconds: no round begins after that time, so that a run can end
    windows: int  # windows of 256 events that a round compares; the next round takes the next ones
    batch: int  # events sent, and wished, at most in answer to one record


class AntiEntropyState(NamedTuple):
    """What a node remembers: its dice, the events that it holds, what it subscribed to."""

    name: npt.NDArray[np.int32]  # [n]
    dice: npt.NDArray[np.uint64]  # [n] advanced by each draw
    held: npt.NDArray[np.int32]  # [n, events] the event's topic; -1 until the event is known
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic
    window: npt.NDArray[np.int32]  # [n] the window that the next round begins with
    starts: npt.NDArray[np.int32]  # [n] STARTs so far: a ROUND of an older one is void


State = AntiEntropyState


def state(names: npt.NDArray[np.int32], events: int, topics: int, seed: int) -> AntiEntropyState:
    """Nodes that hold nothing, subscribed to nothing, and wait for their START."""
    n = len(names)
    return AntiEntropyState(
        names,
        dice(names, seed),
        np.full((n, events), _UNKNOWN, np.int32),
        np.zeros((n, topics), np.uint8),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )


def most_emissions(state: AntiEntropyState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del state
    return max(rules.windows, rules.batch) + 1


@inlined
def has_bit(record, place):
    """Whether a window's record has the bit of its `place`-th event."""
    return (record.args[place >> 5] >> (place & 31)) & 1 == 1


@inlined
def set_bit(record, place):
    """Set the bit of a window's `place`-th event."""
    record.args[place >> 5] |= np.int32(np.uint32(1) << np.uint32(place & 31))


@inlined
def plan_round(state, rules, i, now, wait, out):
    """A letter to oneself for the next round, unless it would come too late."""
    if now + wait <= rules.until:
        o = emit(out, ROUND, wait, state.name[i])
        o.args[START_NUMBER] = state.starts[i]


@inlined
def compare(state, rules, around, i, out):
    """Send digests of the windows whose turn it is to one random neighbour."""
    first, last = np.int64(around.first[i]), np.int64(around.last[i])
    if first == last:
        return
    partner = around.who[first + pick(drawn(state, i), last - first)]
    events = state.held.shape[1]
    windows = (events + WINDOW - 1) // WINDOW
    for _ in range(min(rules.windows, windows)):
        base = state.window[i] * WINDOW
        o = emit(out, DIGEST, 0.0, partner)
        o.event = base
        for place in range(min(WINDOW, events - base)):
            if state.held[i, base + place] != _UNKNOWN:
                set_bit(o, place)
        state.window[i] = (state.window[i] + 1) % windows


@inlined
def send_event(state, i, event, towards, out):
    """Send an event that the node holds."""
    o = emit(out, EVENT, 0.0, towards)
    o.topic = state.held[i, event]
    o.event = event


@inlined
def answer_digest(state, rules, i, message, out):
    """Send what the digest lacks (push), and wish for what this node lacks (pull)."""
    base = message.event
    sent = wished = 0
    span = min(WINDOW, state.held.shape[1] - base)
    for place in range(span):
        if state.held[i, base + place] != _UNKNOWN and not has_bit(message, place):
            if sent < rules.batch:
                send_event(state, i, base + place, message.source, out)
                sent += 1
        elif state.held[i, base + place] == _UNKNOWN and has_bit(message, place):
            wished += 1
    if wished > 0:
        o = emit(out, WISH, 0.0, message.source)
        o.event = base
        wished = 0
        for place in range(span):
            lacking = state.held[i, base + place] == _UNKNOWN and has_bit(message, place)
            if lacking and wished < rules.batch:
                set_bit(o, place)
                wished += 1


@inlined
def grant(state, rules, i, message, out):
    """Send what a neighbour wished for, as far as it is here."""
    base = message.event
    sent = 0
    for place in range(min(WINDOW, state.held.shape[1] - base)):
        here = state.held[i, base + place] != _UNKNOWN
        if here and has_bit(message, place) and sent < rules.batch:
            send_event(state, i, base + place, message.source, out)
            sent += 1


@handles(AntiEntropyState)
def handle(state, rules, around, book, i, message, out):
    """A node's whole behaviour, one message at a time."""
    if message.kind in (EVENT, PUBLISH):
        if state.held[i, message.event] == _UNKNOWN:
            state.held[i, message.event] = message.topic
            inform(state, i, message, out)
    elif message.kind == DIGEST:
        answer_digest(state, rules, i, message, out)
    elif message.kind == WISH:
        grant(state, rules, i, message, out)
    elif message.kind == ROUND:
        if message.args[START_NUMBER] == state.starts[i]:
            compare(state, rules, around, i, out)
            wait = rules.period + rules.jitter * uniform(drawn(state, i))
            plan_round(state, rules, i, message.at, wait, out)
    elif message.kind == START:
        state.starts[i] += 1
        # The first round comes anywhere within a period, so that nodes do not march in step.
        plan_round(state, rules, i, message.at, rules.period * uniform(drawn(state, i)), out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
