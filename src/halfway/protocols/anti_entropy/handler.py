"""Anti-entropy: in each round a node compares its events with the events of one random neighbour.

After Demers et al. 1987, "Epidemic algorithms for replicated database maintenance", §1.3: partners
drawn at random, push and pull. In a round a node sends digests to one neighbour. A digest has one
bit for each event of a publisher: the bit is 1 if the node holds the event. The neighbour answers
with the events that the digest lacks, and with one request for the events that the neighbour lacks.
The node then sends the requested events. On a connected network every node receives every event of
the windows in the end, because a later round repeats what an earlier round lost.

We compare a few publishers at a time, in turn by their ids, instead of whole databases by checksum,
and send at most `batch` events in answer to one record, because a record has a fixed size and an
outbox is bounded. A digest covers a range of publisher ids. So the receiver of a digest also sends
the events of publishers in this range that the digest does not name. We forget an event after 48
newer events of its publisher, because memory is bounded. The database has one window for each
publisher. A window ends with the newest event that the node knows. The node keeps, sends and
delivers no event below the window.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.missing import NO_PLACE
from halfway.core.options import count, seconds
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, uniform
from halfway.protocols.anti_entropy import messages
from halfway.protocols.anti_entropy.database import (
    AntiEntropyState,
    empty_database,
    first_held,
    has_bit,
    held_bits,
    holds,
    lacking_bits,
    move_to,
    next_publisher,
    shortfalls,
)
from halfway.protocols.parts import application
from halfway.protocols.parts.event_window import (
    WINDOW,
    claim_window,
    know_of,
    place_of_publisher,
    record_if_new,
)

__all__ = ["KINDS", "OPTIONS", "Rules", "State", "handle", "most_emissions", "shortfalls", "state"]

# A node keeps an event and sends it on request: the hops of a record do not begin at the publisher.
HOPS_FROM_PUBLISHER = False

LOSSES = (
    "an event travels about one hop in a round, and slower past hubs. Set a larger `seconds`, or a "
    "smaller `period_s`."
)
NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
OPTIONS = {
    "period_s": seconds(1.0, "from one round of a node to its next round"),
    "jitter_s": seconds(0.5, "of the longest random delay that a node adds to each wait"),
    "pages": count(
        4, "number of pages that a node compares in one round. A page has 3 publishers", 1, 1000
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
    pages: int  # pages of 3 publishers in one round; the next round takes the next pages
    batch: int  # most events sent, and requested, in answer to one record


KINDS, State, state = messages.KINDS, AntiEntropyState, empty_database


def most_emissions(state: AntiEntropyState, rules: Rules) -> int:
    """Return the most records that one call of anti-entropy's `handle` emits."""
    return max(rules.pages, rules.batch) + 1


@inlined
def accept(state, i, message, out):
    """Accept an event from a neighbour in anti-entropy: deliver it and add it to the database,
    unless row i holds it already or it is too old.
    """
    place = claim_window(state.held, i, message.publisher, message.epoch)
    if place == NO_PLACE or message.event < first_held(state, i, place):
        return
    move_to(state, i, place, message.event)
    if record_if_new(state.held, i, message):
        state.topic[i, place, message.event & (WINDOW - 1)] = message.topic
        application.notify_application(state, i, message, out)


@apart
def send_event(state, i, place, event, towards, out):
    """Send an event from row i's anti-entropy database to a neighbour."""
    o = emit(out, messages.EVENT, 0.0, towards)
    o.topic = state.topic[i, place, event & (WINDOW - 1)]
    o.event = event
    o.publisher = state.held.of[i, place].publisher
    o.epoch = state.held.of[i, place].epoch


@apart
def push_lacking(state, i, place, bits, newest, most, towards, out):
    """[Demers et al. 1987 §1.3, push] Send the anti-entropy events of a publisher that a neighbour
    lacks by its bits, up to a limit; return the number of events sent.
    """
    sent = 0
    for event in range(first_held(state, i, place), np.int64(state.held.of[i, place].newest) + 1):
        lacks = not has_bit(bits, newest - event)
        if lacks and sent < most and holds(state, i, place, event):
            send_event(state, i, place, event, towards, out)
            sent += 1
    return sent


@inlined
def start_round_timer(state, i, wait, out):
    """[Demers et al. 1987 §1.3] Start the timer of the next anti-entropy round, once per period."""
    o = emit(out, messages.ROUND, wait, state.node_id[i])
    o.args[messages.START_NUMBER] = state.starts[i]


@apart
def compare(state, rules, neighbourhood, i, out):
    """[Demers et al. 1987 §1.3] Send a random neighbour the anti-entropy digests of the publishers
    that are next in turn.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    if first == last:
        return
    partner = neighbourhood.who[first + pick(random_bits(state, i), last - first)]
    for _ in range(rules.pages):
        state.next_after[i] = send_digest(state, i, state.next_after[i], partner, out)
        if state.next_after[i] == messages.NO_PUBLISHER:
            return  # the round has compared all


@apart
def send_digest(state, i, after, partner, out):
    """Send a neighbour one anti-entropy digest of the next publishers of row i, whose ids are above
    `after`.

    Returns the `after` of the next digest, or messages.NO_PUBLISHER after the last publisher.
    """
    o = emit(out, messages.DIGEST, 0.0, partner)
    upto = np.int32(after)
    o.args[messages.AFTER] = after
    for k in range(messages.PAGE):
        place = next_publisher(state, i, upto)
        if place == NO_PLACE:
            o.args[messages.PUBLISHERS + k] = messages.NO_PUBLISHER
            continue
        upto = state.held.of[i, place].publisher
        o.args[messages.PUBLISHERS + k] = upto
        o.args[messages.NEWEST + k] = state.held.of[i, place].newest
        o.reals[messages.BITS + k] = held_bits(state, i, place)
        o.reals[messages.EPOCHS + k] = state.held.of[i, place].epoch
    is_last = next_publisher(state, i, upto) == NO_PLACE
    o.args[messages.UPTO] = messages.LAST_ID if is_last else upto
    return messages.NO_PUBLISHER if is_last else upto


@apart
def answer_digest(state, rules, i, message, out):
    """[Demers et al. 1987 §1.3, push-pull] Answer an anti-entropy digest: push the events that the
    sender lacks, and request the events that row i lacks.
    """
    sent = lacking = 0
    for k in range(messages.PAGE):
        publisher = message.args[messages.PUBLISHERS + k]
        newest = np.int64(message.args[messages.NEWEST + k])
        place = claim_window(
            state.held, i, publisher, np.uint32(message.reals[messages.EPOCHS + k])
        )
        if place == NO_PLACE:
            continue  # no publisher, or an epoch that is over
        move_to(state, i, place, newest)
        know_of(state.held, i, place, newest)
        # A sender that knows newer events has forgotten the old events, so only the window of row i
        # counts.
        there = message.reals[messages.BITS + k]
        most = rules.batch - sent
        sent += push_lacking(state, i, place, there, newest, most, message.source, out)
        lacking += lacking_bits(state, i, place, there, newest, 1)[1]
    push_unnamed(state, i, message, rules.batch - sent, out)
    if lacking > 0:
        request(state, rules, i, message, out)


@apart
def request(state, rules, i, message, out):
    """[Demers et al. 1987 §1.3, pull] Request up to `batch` events that the sender of an
    anti-entropy digest holds and row i lacks.
    """
    o, requested = emit(out, messages.REQUEST, 0.0, message.source), 0
    for k in range(messages.PAGE):
        o.args[messages.PUBLISHERS + k] = publisher = message.args[messages.PUBLISHERS + k]
        o.args[messages.NEWEST + k] = newest = message.args[messages.NEWEST + k]
        o.reals[messages.EPOCHS + k] = message.reals[messages.EPOCHS + k]
        place = claim_window(
            state.held, i, publisher, np.uint32(message.reals[messages.EPOCHS + k])
        )
        if place != NO_PLACE:
            there, most = message.reals[messages.BITS + k], rules.batch - requested
            bits, count = lacking_bits(state, i, place, there, np.int64(newest), most)
            o.reals[messages.BITS + k] = bits
            requested += count


@apart
def push_unnamed(state, i, message, most, out):
    """[Demers et al. 1987 §1.3, push] Push the events of publishers in the range of ids of an
    anti-entropy digest that the digest does not name, up to a limit.
    """
    after = message.args[messages.AFTER]
    while most > 0:
        place = next_publisher(state, i, after)
        if place == NO_PLACE or state.held.of[i, place].publisher > message.args[messages.UPTO]:
            return
        after, named = state.held.of[i, place].publisher, False
        for k in range(messages.PAGE):
            named |= message.args[messages.PUBLISHERS + k] == after
        if not named:
            most -= push_lacking(state, i, place, 0.0, np.int64(0), most, message.source, out)


@apart
def answer_request(state, rules, i, message, out):
    """[Demers et al. 1987 §1.3, pull] Answer an anti-entropy request with the requested events that
    row i holds.
    """
    sent = 0
    for k in range(messages.PAGE):
        publisher = message.args[messages.PUBLISHERS + k]
        newest = np.int64(message.args[messages.NEWEST + k])
        place = place_of_publisher(state.held, i, publisher)
        if place == NO_PLACE or state.held.of[i, place].epoch != message.reals[messages.EPOCHS + k]:
            continue
        for event in range(max(newest - messages.SPAN + 1, np.int64(0)), newest + 1):
            requested = has_bit(message.reals[messages.BITS + k], newest - event)
            if requested and sent < rules.batch and holds(state, i, place, event):
                send_event(state, i, place, event, message.source, out)
                sent += 1


@handles(AntiEntropyState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of anti-entropy."""
    if message.kind in (messages.EVENT, application.PUBLISH):
        accept(state, i, message, out)
    elif message.kind == messages.DIGEST:
        answer_digest(state, rules, i, message, out)
    elif message.kind == messages.REQUEST:
        answer_request(state, rules, i, message, out)
    elif message.kind == messages.ROUND:
        if message.args[messages.START_NUMBER] == state.starts[i]:
            compare(state, rules, neighbourhood, i, out)
            wait = rules.period_s + rules.jitter_s * uniform(random_bits(state, i))
            start_round_timer(state, i, wait, out)
    elif message.kind == START:
        state.starts[i] += 1
        # The first round begins anywhere within a period, so that nodes do not act in step.
        wait = rules.period_s * uniform(random_bits(state, i))
        start_round_timer(state, i, wait, out)
    elif message.kind in (application.SUBSCRIBE, application.UNSUBSCRIBE):
        application.change_subscription(state, i, message)
