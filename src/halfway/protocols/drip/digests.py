"""Digests of DRIP: which of the newest events a broker holds, and which events a subscriber has
seen.

[drip §V-B] a broker sends matched events only to another broker. The paper does not say how the
sender knows which of these events the other broker already has. We set one bit for each event, as a
Bloom filter with one hash function does [Bloom 1970], because every node may publish, and a record
has no room for a word for each publisher. The place of the bit depends on the whole id of the
event, with the epoch of its publisher, and on the number of the digest. So two events may share a
place in one digest, but hardly ever in the next digest. A copy that was withheld because of a
shared place is sent one beacon later.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.protocols.drip import messages
from halfway.protocols.drip.messages import ARG_BITS, DIGEST_BITS, REAL_BITS, SEEN_BITS
from halfway.protocols.drip.state import NOTHING, DripState
from halfway.protocols.parts.shortfalls import WITHOUT_ROUTE

# A broker offers its OFFERED newest copies. A digest states more copies, because the same events
# may have reached the other broker earlier.
OFFERED, STATED = 128, 160


@inlined
def epoch_and_number(event):
    """Return the epoch and the number of an event, as digests use them, as one integer; in epoch 0,
    it is the number.
    """
    return np.int64(event.event) | np.int64(event.epoch) << np.int64(32)


@inlined
def event_bit(event, who, number, bits):
    """Return the place of the bit of an event in digest `number` of a node."""
    word = seeded(seeded(np.uint64(who), np.int64(number)), np.int64(event.publisher))
    return pick(mixed(advanced(seeded(word, epoch_and_number(event)))), bits)


@inlined
def recent_event(state, i, order):
    """Return the slot of one of the newest events, which a digest states, by its order of arrival
    at row i, or NO_PLACE if a later event replaced it.
    """
    slots = state.events.shape[1]
    place = np.int64(state.events[i, order & (slots - 1)].recent)
    there = state.events[i, place]
    return place if there.order == order and there.event >= 0 else NO_PLACE


@apart
def write_digest(state, i, o):
    """Write the digest of the events that broker row i holds, or held, into a BEACON."""
    number, newest = o.args[messages.BEACON_SEQUENCE], np.int64(state.node[i].arrivals)
    words = np.int64(ARG_BITS * messages.DIGEST_WORDS)
    for order in range(max(newest - STATED, np.int64(0)), newest):
        place = recent_event(state, i, order)
        if place < 0 or state.events[i, place].role == NOTHING:
            continue
        bit = np.int64(event_bit(state.events[i, place], state.node_id[i], number, DIGEST_BITS))
        if bit < words:
            o.args[messages.DIGEST + bit // ARG_BITS] |= np.int32(
                np.uint32(1) << np.uint32(bit % ARG_BITS)
            )
        else:
            set_bit(o, messages.MORE_DIGEST, bit - words)


@inlined
def set_bit(o, first, bit):
    """Set one bit of a digest in `reals`, whose first word is at place `first`."""
    place = first + bit // REAL_BITS
    word = np.int64(o.reals[place]) | np.int64(1) << np.int64(bit % REAL_BITS)
    o.reals[place] = np.float64(word)


@inlined
def bit_at(message, first, bit):
    """Return one bit of a digest in `reals`, whose first word is at place `first`."""
    word = np.int64(message.reals[first + bit // REAL_BITS])
    return (word >> np.int64(bit % REAL_BITS)) & np.int64(1) == 1


@apart
def is_in_digest(message, event, broker, number):
    """Return whether a BEACON or REPORT states, in the digest of a broker's beacon, that this
    broker has an event.

    number: the sequence number of this beacon.
    """
    bit = np.int64(event_bit(event, broker, number, DIGEST_BITS))
    words = np.int64(ARG_BITS * messages.DIGEST_WORDS)
    if bit < words:
        return (message.args[messages.DIGEST + bit // ARG_BITS] >> (bit % ARG_BITS)) & 1 == 1
    return bit_at(message, messages.MORE_DIGEST, bit - words)


@apart
def write_seen(state, i, o):
    """Write into a REGISTER the digest of the events of the registered interval that row i has
    seen.
    """
    newest = np.int64(state.node[i].arrivals)
    for order in range(max(newest - STATED, np.int64(0)), newest):
        place = recent_event(state, i, order)
        if place < 0 or state.events[i, place].seen == 0:
            continue
        topic = state.events[i, place].topic
        if o[messages.FIRST_TOPIC] <= topic <= o[messages.LAST_TOPIC]:
            version = o.args[messages.VERSION]
            bit = event_bit(state.events[i, place], state.node_id[i], version, SEEN_BITS)
            set_bit(o, messages.SEEN, np.int64(bit))


@inlined
def was_seen(message, event):
    """Return whether the digest in a REGISTER states that its subscriber has seen an event."""
    subscriber, version = message.args[messages.SUBSCRIBER], message.args[messages.VERSION]
    bit = event_bit(event, subscriber, version, SEEN_BITS)
    return bit_at(message, messages.SEEN, np.int64(bit))


def shortfalls(state: DripState) -> dict[str, int]:
    """Return the shortfalls of DRIP's nodes: records dropped on the way to a broker, entries that
    full tables lost, and copies that are held and not offered any more.
    """
    return {
        WITHOUT_ROUTE: int(state.node["lost"].sum()),
        "event copies without room": int(state.node["forgotten"].sum()),
        f"event copies older than the {OFFERED} that a broker offers": int(
            state.node["unoffered"].sum()
        ),
        "routes without room": int(state.node["lost_routes"].sum()),
        "contacts of brokers without room": int(state.node["lost_contacts"].sum()),
        "own subscriptions without room": int(state.node["lost_intervals"].sum()),
        "subscriptions without room in a register": int(state.node["unregistered"].sum()),
    }
