"""Anti-entropy: now and then a node compares what it knows with one random neighbour, both ways.

After Demers et al. 1987, "Epidemic algorithms for replicated database maintenance": partners drawn
at random, push and pull. In a round a node sends digests (which events of a page of 256 it holds, a
bit each) to one neighbour. That one answers with events that the digest lacks, and with one wish
(bits again) for those that itself lacks, which the first then sends. On a connected network
everybody ends up with every event of the window, whatever was lost on the way: what a round misses,
a later one repeats.

We compare pages of event ids in turn instead of whole databases by checksum, and send at most
`batch` events in answer to one record, because a record has eight integers and a node's outbox
an end. We forget an event once `window` newer ids are out, because a mote has no heap: the database
is a window that moves with the newest event that a node has heard of, and nothing below it is kept,
sent or told any more.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states, uniform
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE, Book, notify_application

__all__ = [
    "DELIVERED",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "AntiEntropyState",
    "Book",
    "Rules",
    "State",
    "handle",
    "most_emissions",
    "state",
]

# Kinds beside those of the application (PUBLISH, SUBSCRIBE, DELIVERED), which are flooding's.
# BOOT begins the rounds, or begins them anew.
ROUND = 3  # a letter to oneself: compare with somebody
# Between neighbours. `event` is the first id of a page, `args` are its bits, id by id:
DIGEST = 2  # what I hold
WISH = 7  # what I want
EVENT = 8  # here is one

KINDS = {
    PUBLISH: "publish",
    DIGEST: "digest",
    ROUND: "round",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
    WISH: "wish",
    EVENT: "event",
    int(START): "boot",
}

PAGE = 256  # events whose bits fill the eight integers of a record
BOOT_NUMBER = 0  # place in a ROUND's `args`: which BOOT its rounds began with
NEWEST = 0  # place in a DIGEST's `reals`: the newest event that its sender has heard of


# An event is kept and handed on when somebody asks: a record's hops are not its way from the start.
HOPS_TELL = False


class Rules(NamedTuple):
    """The scalars of anti-entropy, the same on every node."""

    period: float  # seconds from one round of a node to its next
    jitter: float  # seconds; each wait is longer by a random part of it
    until: float  # seconds: no round begins after that time, so that a run can end
    pages: int  # pages of 256 events that a round compares; the next round takes the next ones
    batch: int  # events sent, and wished, at most in answer to one record


class AntiEntropyState(NamedTuple):
    """What a node remembers: its dice, the events that it holds, what it subscribed to.

    Event e, if held, stands at place e % window; its topic stands beside it.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    held: npt.NDArray[np.int32]  # [n, window] the event here; -1 none; below the window: forgotten
    topic: npt.NDArray[np.int32]  # [n, window] the topic of the event here
    newest: npt.NDArray[np.int32]  # [n] the newest event heard of, held or not; -1 none
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic
    turn: npt.NDArray[np.int32]  # [n] pages behind the newest one that the next round begins with
    boots: npt.NDArray[np.int32]  # [n] BOOTs so far: a ROUND of an older one is void


State = AntiEntropyState


def state(node_ids: npt.NDArray[np.int32], window: int, topics: int, seed: int) -> AntiEntropyState:
    """Nodes that hold nothing, subscribed to nothing, and wait for their BOOT.

    window: events that a node's database has room for, rounded up to a multiple of 256.
    """
    n = len(node_ids)
    places = -(-max(window, 1) // PAGE) * PAGE
    return AntiEntropyState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        held=np.full((n, places), -1, np.int32),
        topic=np.zeros((n, places), np.int32),
        newest=np.full(n, -1, np.int32),
        subscribed=np.zeros((n, topics), np.uint8),
        turn=np.zeros(n, np.int32),
        boots=np.zeros(n, np.int32),
    )


def most_emissions(state: AntiEntropyState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del state
    return max(rules.pages, rules.batch) + 1


@inlined
def has_bit(record, place):
    """Whether a page's record has the bit of its `place`-th event."""
    return (record.args[place >> 5] >> (place & 31)) & 1 == 1


@inlined
def set_bit(record, place):
    """Set the bit of a page's `place`-th event."""
    record.args[place >> 5] |= np.int32(np.uint32(1) << np.uint32(place & 31))


@inlined
def holds(state, i, event):
    """Whether row i holds an event of its window."""
    return state.held[i, event % state.held.shape[1]] == event


@inlined
def hear_of(state, i, event):
    """Somebody knows of that event: the window ends there, if it did not reach as far."""
    state.newest[i] = max(state.newest[i], np.int32(event))


@inlined
def begin(state, i):
    """The first event of row i's window; what stands before it is forgotten."""
    return max(np.int64(state.newest[i]) - state.held.shape[1] + 1, np.int64(0))


@inlined
def part(state, i, page):
    """Begin and end of what row i's window shares with the page of 256 events at that id."""
    return max(begin(state, i), page), min(np.int64(state.newest[i]) + 1, page + PAGE)


@inlined
def take_in(state, i, message, out):
    """An event: keep it and tell of it, unless it is known or forgotten."""
    event = np.int64(message.event)
    hear_of(state, i, event)
    if event >= begin(state, i) and not holds(state, i, event):
        place = event % state.held.shape[1]
        state.held[i, place] = message.event
        state.topic[i, place] = message.topic
        notify_application(state, i, message, out)


@inlined
def plan_round(state, rules, i, now, wait, out):
    """A letter to oneself for the next round, unless it would come too late."""
    if now + wait <= rules.until:
        o = emit(out, ROUND, wait, state.node_id[i])
        o.args[BOOT_NUMBER] = state.boots[i]


@inlined
def compare(state, rules, neighbourhood, i, out):
    """Send digests of the pages whose turn it is, the newest first, to one random neighbour."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    if first == last:
        return
    partner = neighbourhood.who[first + pick(random_bits(state, i), last - first)]
    top = max(np.int64(state.newest[i]), np.int64(0)) // PAGE
    pages = top - begin(state, i) // PAGE + 1
    for _ in range(min(rules.pages, pages)):
        # How many pages the window touches changes as it moves.
        behind = state.turn[i] % pages
        send_digest(state, i, (top - behind) * PAGE, partner, out)
        state.turn[i] = (behind + 1) % pages


@inlined
def send_digest(state, i, page, partner, out):
    """Tell a neighbour which events of a page are here."""
    o = emit(out, DIGEST, 0.0, partner)
    o.event = page
    o.reals[NEWEST] = state.newest[i]
    start, end = part(state, i, page)
    for event in range(start, end):
        if holds(state, i, event):
            set_bit(o, event - page)


@inlined
def send_event(state, i, event, towards, out):
    """Send an event that the node holds."""
    o = emit(out, EVENT, 0.0, towards)
    o.topic = state.topic[i, event % state.held.shape[1]]
    o.event = event


@inlined
def answer_digest(state, rules, i, message, out):
    """Send what the digest lacks (push), and wish for what this node lacks (pull)."""
    page = np.int64(message.event)
    hear_of(state, i, message.reals[NEWEST])
    # Who knows of newer events has forgotten those before them: the part is this node's own by now.
    start, end = part(state, i, page)
    sent = wished = 0
    for event in range(start, end):
        here, there = holds(state, i, event), has_bit(message, event - page)
        if here and not there and sent < rules.batch:
            send_event(state, i, event, message.source, out)
            sent += 1
        wished += there and not here
    if wished > 0:
        o = emit(out, WISH, 0.0, message.source)
        o.event = message.event
        wished = 0
        for event in range(start, end):
            lacking = has_bit(message, event - page) and not holds(state, i, event)
            if lacking and wished < rules.batch:
                set_bit(o, event - page)
                wished += 1


@inlined
def grant(state, rules, i, message, out):
    """Send what a neighbour wished for, as far as it is here."""
    page = np.int64(message.event)
    sent = 0
    start, end = part(state, i, page)
    for event in range(start, end):
        wanted = has_bit(message, event - page)
        if wanted and holds(state, i, event) and sent < rules.batch:
            send_event(state, i, event, message.source, out)
            sent += 1


@handles(AntiEntropyState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    if message.kind in (EVENT, PUBLISH):
        take_in(state, i, message, out)
    elif message.kind == DIGEST:
        answer_digest(state, rules, i, message, out)
    elif message.kind == WISH:
        grant(state, rules, i, message, out)
    elif message.kind == ROUND:
        if message.args[BOOT_NUMBER] == state.boots[i]:
            compare(state, rules, neighbourhood, i, out)
            wait = rules.period + rules.jitter * uniform(random_bits(state, i))
            plan_round(state, rules, i, message.at, wait, out)
    elif message.kind == START:
        state.boots[i] += 1
        # The first round comes anywhere within a period, so that nodes do not march in step.
        plan_round(state, rules, i, message.at, rules.period * uniform(random_bits(state, i)), out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
