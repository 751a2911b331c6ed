"""Anti-entropy: in each round a node compares its events with those of one random neighbour.

After Demers et al. 1987, "Epidemic algorithms for replicated database maintenance", §1.3: partners
drawn at random, push and pull. In a round a node sends digests (which events of a page of 256 it
holds, a bit each) to one neighbour. The neighbour answers with events that the digest lacks, and
with one request (bits again) for those that it lacks itself, which the first node then sends. On a
connected network every node ends up with every event of the window, whatever was lost: a later
round repeats what an earlier one missed.

We compare pages of event ids in turn instead of whole databases by checksum, and send at most
`batch` events in answer to one record, because a record has eight integers and an outbox is
bounded. We forget an event once `window` newer ids are out, because memory is bounded: the database
is a window that moves with the newest event that a node knows of, and a node keeps, sends and
delivers nothing below it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import START
from halfway.core.options import count, seconds
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states, uniform
from halfway.protocols import application

PAGE = 256  # events whose bits fill the eight integers of a record
PAGE_START = "event"  # header field of a DIGEST and a REQUEST: the first event id of the page
NEWEST = 0  # place in `reals` of a DIGEST
START_NUMBER = 0  # place in `args` of a ROUND: which START its rounds began with

_PAGE = {PAGE_START: "first event id of the page"}

KINDS = Kinds()
KINDS.include(application.KINDS)
KINDS.start()
DIGEST = KINDS.network(
    2, "digest", "the sender states which events of a page it holds", args={"held bits[8]": 0},
    reals={"newest known event": NEWEST}, reused=_PAGE,
)  # fmt: skip
REQUEST = KINDS.network(
    7, "request", "the sender states which events of a page it lacks", args={"lacking bits[8]": 0},
    reused=_PAGE,
)  # fmt: skip
EVENT = KINDS.network(
    8,
    "event",
    "the sender passes an event that the receiver lacks",
    "topic event",
    on_map=MapRole.EVENT_HOP,
)
ROUND = KINDS.timer(
    3,
    "round",
    "the node compares its events with a random neighbour",
    args={"start number": START_NUMBER},
)

# A node keeps an event and sends it on request: the hops of a record do not begin at the publisher.
HOPS_FROM_PUBLISHER = False

OPTIONS = {
    "period_s": seconds(1.0, "from one round of a node to its next round"),
    "jitter_s": seconds(0.5, "of the longest random delay that a node adds to each wait"),
    "pages": count(
        1, "number of pages that a node compares in one round. A page has 256 events", 1, 1000
    ),
    "batch": count(
        8,
        "largest number of events that a node sends, or requests, in answer to one record",
        1,
        256,
    ),
}


class Rules(NamedTuple):
    """The scalars of anti-entropy, equal on every node."""

    period_s: float  # from one round of a node to its next
    jitter_s: float  # upper bound of the random delay added to each wait
    until_s: float  # no round begins after that time, so that a run can end
    pages: int  # pages of 256 events that a round compares; the next round compares the next ones
    batch: int  # most events sent, and requested, in answer to one record


class AntiEntropyState(NamedTuple):
    """What a node of anti-entropy remembers: its random state, events held, and subscriptions.

    Event e, if held, is at place e % window, and so is its topic.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    held: npt.NDArray[np.int32]  # [n, window] the event here; -1: none; below the window: forgotten
    topic: npt.NDArray[np.int32]  # [n, window] the topic of the event here
    newest: npt.NDArray[np.int32]  # [n] the newest event known, held or not; -1: none
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes
    next_page: npt.NDArray[np.int32]  # [n] pages behind the newest one where the next round begins
    starts: npt.NDArray[np.int32]  # [n] START events so far: a ROUND of an earlier one is void


State = AntiEntropyState


def state(node_ids: npt.NDArray[np.int32], window: int, topics: int, seed: int) -> AntiEntropyState:
    """Nodes of anti-entropy that hold no event, have no subscription, and wait for their START.

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
        subscribed=application.no_subscriptions(n, topics),
        next_page=np.zeros(n, np.int32),
        starts=np.zeros(n, np.int32),
    )


def most_emissions(state: AntiEntropyState, rules: Rules) -> int:
    """The most records that one call of anti-entropy's `handle` emits."""
    return max(rules.pages, rules.batch) + 1


@inlined
def has_bit(record, place):
    """Whether an anti-entropy record of a page has the bit of its `place`-th event."""
    return (record.args[place >> 5] >> (place & 31)) & 1 == 1


@inlined
def set_bit(record, place):
    """Set the bit of a page's `place`-th event in an anti-entropy record."""
    record.args[place >> 5] |= np.int32(np.uint32(1) << np.uint32(place & 31))


@inlined
def holds(state, i, event):
    """Whether row i's anti-entropy database holds an event of its window."""
    return state.held[i, event % state.held.shape[1]] == event


@inlined
def know_of(state, i, event):
    """Move row i's anti-entropy window so that it includes an event that exists."""
    state.newest[i] = max(state.newest[i], np.int32(event))


@inlined
def window_start(state, i):
    """The first event of row i's anti-entropy window; earlier events are forgotten."""
    return max(np.int64(state.newest[i]) - state.held.shape[1] + 1, np.int64(0))


@inlined
def in_window(state, i, page):
    """A page's first and last (exclusive) event in row i's anti-entropy window, from its first."""
    return max(window_start(state, i), page), min(np.int64(state.newest[i]) + 1, page + PAGE)


@inlined
def accept(state, i, message, out):
    """Keep and deliver an event of anti-entropy, unless it is held already or forgotten."""
    event = np.int64(message.event)
    know_of(state, i, event)
    if event >= window_start(state, i) and not holds(state, i, event):
        place = event % state.held.shape[1]
        state.held[i, place] = message.event
        state.topic[i, place] = message.topic
        application.notify_application(state, i, message, out)


@inlined
def start_round_timer(state, rules, i, now, wait, out):
    """Start the timer of the next anti-entropy round, unless it would be after the end."""
    if now + wait <= rules.until_s:
        o = emit(out, ROUND, wait, state.node_id[i])
        o.args[START_NUMBER] = state.starts[i]


@inlined
def compare(state, rules, neighbourhood, i, out):
    """Send anti-entropy digests of the next pages in turn, newest first, to a random neighbour."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    if first == last:
        return
    partner = neighbourhood.who[first + pick(random_bits(state, i), last - first)]
    top = max(np.int64(state.newest[i]), np.int64(0)) // PAGE
    pages = top - window_start(state, i) // PAGE + 1
    for _ in range(min(rules.pages, pages)):
        # The number of pages that the window touches changes as it moves.
        behind = state.next_page[i] % pages
        send_digest(state, i, (top - behind) * PAGE, partner, out)
        state.next_page[i] = (behind + 1) % pages


@inlined
def send_digest(state, i, page, partner, out):
    """Send a neighbour an anti-entropy digest: which events of a page row i holds."""
    o = emit(out, DIGEST, 0.0, partner)
    o[PAGE_START] = page
    o.reals[NEWEST] = state.newest[i]
    start, end = in_window(state, i, page)
    for event in range(start, end):
        if holds(state, i, event):
            set_bit(o, event - page)


@inlined
def send_event(state, i, event, towards, out):
    """Send an event that row i's anti-entropy database holds."""
    o = emit(out, EVENT, 0.0, towards)
    o.topic = state.topic[i, event % state.held.shape[1]]
    o.event = event


@inlined
def answer_digest(state, rules, i, message, out):
    """Send events that an anti-entropy digest lacks (push), request those row i lacks (pull)."""
    page = np.int64(message[PAGE_START])
    know_of(state, i, message.reals[NEWEST])
    # A sender that knows newer events has forgotten the old ones: only row i's window counts.
    start, end = in_window(state, i, page)
    sent = lacking = 0
    for event in range(start, end):
        here, there = holds(state, i, event), has_bit(message, event - page)
        if here and not there and sent < rules.batch:
            send_event(state, i, event, message.source, out)
            sent += 1
        lacking += there and not here
    if lacking > 0:
        o = emit(out, REQUEST, 0.0, message.source)
        o[PAGE_START] = message[PAGE_START]
        requested = 0
        for event in range(start, end):
            lacks = has_bit(message, event - page) and not holds(state, i, event)
            if lacks and requested < rules.batch:
                set_bit(o, event - page)
                requested += 1


@inlined
def answer_request(state, rules, i, message, out):
    """Answer an anti-entropy request with the requested events that row i holds."""
    page = np.int64(message[PAGE_START])
    sent = 0
    start, end = in_window(state, i, page)
    for event in range(start, end):
        requested = has_bit(message, event - page)
        if requested and holds(state, i, event) and sent < rules.batch:
            send_event(state, i, event, message.source, out)
            sent += 1


@handles(AntiEntropyState)
def handle(state, rules, neighbourhood, i, message, out):
    """Let a node of anti-entropy receive one message."""
    if message.kind in (EVENT, application.PUBLISH):
        accept(state, i, message, out)
    elif message.kind == DIGEST:
        answer_digest(state, rules, i, message, out)
    elif message.kind == REQUEST:
        answer_request(state, rules, i, message, out)
    elif message.kind == ROUND:
        if message.args[START_NUMBER] == state.starts[i]:
            compare(state, rules, neighbourhood, i, out)
            wait = rules.period_s + rules.jitter_s * uniform(random_bits(state, i))
            start_round_timer(state, rules, i, message.at, wait, out)
    elif message.kind == START:
        state.starts[i] += 1
        # The first round begins anywhere within a period, so that nodes do not act in step.
        wait = rules.period_s * uniform(random_bits(state, i))
        start_round_timer(state, rules, i, message.at, wait, out)
    elif message.kind in (application.SUBSCRIBE, application.UNSUBSCRIBE):
        application.change_subscription(state, i, message)
