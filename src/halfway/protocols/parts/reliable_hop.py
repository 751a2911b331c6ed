"""The reliable hop: the receiver acknowledges a record and accepts it once, and the sender
retransmits the record until then.

A node keeps a copy of each reliably sent record until the receiver acknowledges the record. If the
table has no room for a record, the node sends the record without acknowledgement, and counts it.
The protocol decides which records are reliable, and what happens after a hop has failed for good.

The driver adds to the age of a record only the time from its last emission (see `Kinds.ages`). So a
node first adds the time since this emission to the age in its copy, and then sends the copy.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.kinds import Kinds
from halfway.core.message import COUNTED_ON, EVERYONE, RECORD
from halfway.core.missing import NO_PLACE
from halfway.core.options import Option, count, seconds
from halfway.core.outbox import copy_args_and_reals, emit
from halfway.core.values.ranges import COUNT, whole
from halfway.protocols.parts.accepted_hops import AcceptedHops, accept_if_new, accepted_hops
from halfway.protocols.parts.event_window import copy_event_id
from halfway.protocols.parts.incarnation_numbers import number_before

# A hop without a sequence number is not acknowledged.
KINDS = Kinds({"sequence": whole(1, 2**31 - 1), "attempt": COUNT})
ACK = KINDS.network(254, "ack", "the hop with this sequence number has arrived", "sequence")
ATTEMPT = 0  # place in `args` of an ACK_TIMEOUT
ACK_TIMEOUT = KINDS.timer(
    253, "ack-timeout", "the node retransmits a hop without acknowledgement", "sequence",
    args={"attempt": ATTEMPT},
)  # fmt: skip

NO_CLOCK = np.nan  # instead of the time, if no kind of a system has an age
TRACKED_HOPS = 24  # in flight, for which a node has room unless its system counts them
# Options of every system with reliable hops. A scenario chooses the same effort for all of them.
RETRIES_OPTION = count(
    0, "number of retransmissions of a hop. 0 means that hops are not acknowledged", 0, 100
)._replace(auto=True)
ACK_TIMEOUT_OPTION = seconds(
    0.1, "after which a node retransmits a hop. Use more than a round trip"
)._replace(auto=True)
_BACKOFF = (
    "factor by which the timeout grows after each retransmission of a hop. 1 means equal timeouts"
)
ACK_BACKOFF_OPTION = Option(1.0, 1.0, 10.0, _BACKOFF, auto=True)
_FREE = 0  # the sequence number of a free place
_SEQUENCE_NUMBERS = 2**31 - 1  # largest sequence number; then the numbers start again
# Columns of `counts`.
TRACKED, TABLE_FULL = 0, 1


class ReliableHops(NamedTuple):
    """The reliable hops of a node that are in flight, and the last hops that the node accepted."""

    node_id: npt.NDArray[np.int32]  # [n]
    record: npt.NDArray[np.void]  # [n, places] RECORD as sent, a record array; sequence 0: free
    tries: npt.NDArray[np.int32]  # [n, places] retransmissions so far
    sent_at: npt.NDArray[np.float64]  # [n, places] own clock at the last emission
    accepted: AcceptedHops
    counts: npt.NDArray[np.int64]  # [n, 2] hops: number of the last tracked, without room


def reliable_hops(node_ids: npt.NDArray[np.int32], places: int, known: int) -> ReliableHops:
    """Return empty tables of reliable hops, with places for `places` hops in flight and `known`
    accepted hops at each node.
    """
    n = len(node_ids)
    return ReliableHops(
        node_ids,
        np.zeros((n, places), RECORD).view(np.recarray),
        np.zeros((n, places), np.int32),
        np.zeros((n, places)),
        accepted_hops(n, known),
        np.zeros((n, 2), np.int64),
    )


def hop_bytes(known: int) -> int:
    """Return the bytes of one reliable hop in flight with its `known` accepted hops."""
    hops = reliable_hops(np.zeros(1, np.int32), 1, known)
    in_flight = (hops.record, hops.tries, hops.sent_at)
    return sum(table.nbytes for table in (*in_flight, *hops.accepted[:-1]))


def longest_wait_s(rules: Any) -> float:
    """Return the seconds after which a reliable hop fails for good: the sum of all its timeouts."""
    waits = (rules.ack_timeout_s * rules.ack_backoff**tries for tries in range(rules.retries + 1))
    return float(sum(waits))


@inlined
def begin_hops(hops, i, incarnation):
    """Begin the sequence numbers of the reliable hops of row i at the numbers of its incarnation.

    Without this, a late ACK of a hop of an earlier incarnation would complete another hop. The
    caller knows the incarnation from a record of the node itself.
    """
    before = np.int64(number_before(incarnation))
    hops.counts[i, TRACKED] = max(hops.counts[i, TRACKED], before)


@apart
def free_place(hops, i):
    """Return a free place in the table of reliable hops in flight at row i, or NO_PLACE if the
    table is full.
    """
    for place in range(hops.record.shape[1]):
        if hops.record[i, place].sequence == _FREE:
            return np.int64(place)
    return NO_PLACE


@apart
def track(hops, rules, i, record, now, out):
    """Track a record that was just emitted as a reliable hop; return its place, or NO_PLACE if the
    table is full. now: the node's own clock.
    """
    place = free_place(hops, i)
    if place == NO_PLACE:
        hops.counts[i, TABLE_FULL] += 1
    else:
        track_at(hops, rules, i, place, record, now, out)
    return place


@apart
def track_at(hops, rules, i, place, record, now, out):
    """Track a record as a reliable hop at a place of the table, over the present entry of this
    place.
    """
    # The sequence number of a hop contains the place of the hop, so that no look-up has to search.
    places = hops.record.shape[1]
    turn = hops.counts[i, TRACKED] % (_SEQUENCE_NUMBERS // places)
    hops.counts[i, TRACKED] += 1
    record.sequence = np.int32(turn * places + place + 1)
    kept = hops.record[i, place]
    copy_record(record, kept)
    kept.hops = record.hops
    kept.next = record.next
    kept.sequence = record.sequence
    hops.tries[i, place] = 0
    hops.sent_at[i, place] = now
    start_timer(hops, rules, i, place, record.at, record.hops, out)


@inlined
def add_wait(hops, i, place, now, ages):
    """Add the time since the last emission of a reliable hop's record to the age in its copy."""
    kept = hops.record[i, place]
    if ages.shape[0] > 0 and ages[kept.kind] >= 0:
        kept.reals[ages[kept.kind]] += now - hops.sent_at[i, place]
    hops.sent_at[i, place] = now


@apart
def start_timer(hops, rules, i, place, after, hop_count, out):
    """Start the timer of a reliable hop that is sent in `after` seconds."""
    wait_s = rules.ack_timeout_s
    for _ in range(hops.tries[i, place]):
        wait_s *= rules.ack_backoff
    o = emit(out, ACK_TIMEOUT, after + wait_s, hops.node_id[i])
    o.hops = hop_count  # a retransmission is the same hop of the record
    o.sequence = hops.record[i, place].sequence
    o.args[ATTEMPT] = hops.tries[i, place]


@inlined
def receiver(record):
    """Return the node that acknowledges a reliable hop: the next hop, or the target of a
    broadcast.
    """
    return record.target if record.next == EVERYONE else record.next


@inlined
def track_if_asked(hops, rules, i, record, now, out):
    """Track a record that was just emitted, if the rules ask for acknowledgements; return its place
    among the reliable hops, or NO_PLACE.
    """
    return track(hops, rules, i, record, now, out) if rules.retries > 0 else NO_PLACE


@inlined
def acknowledge_if_asked(hops, i, message, out):
    """Acknowledge a reliable hop if its sender requests this; return True if row i accepted the hop
    before.
    """
    return message.sequence != _FREE and acknowledge(hops, i, message, out)


@apart
def acknowledge(hops, i, message, out):
    """Acknowledge a reliable hop; return True if row i had accepted this hop before."""
    emit(out, ACK, 0.0, message.source).sequence = message.sequence
    return not accept_if_new(hops.accepted, i, message)


@inlined
def place_of_hop(hops, i, sequence):
    """Return the place of the reliable hop with a sequence number, or NO_PLACE if this hop is not
    in flight.
    """
    places = hops.record.shape[1]
    if places == 0:
        return NO_PLACE
    place = (np.int64(sequence) - 1) % places
    return place if hops.record[i, place].sequence == sequence else NO_PLACE


@apart
def acknowledged_place(hops, i, message):
    """Return the place of the reliable hop that an ACK acknowledges, or NO_PLACE; the place stays
    in use.
    """
    place = place_of_hop(hops, i, message.sequence)
    if place != NO_PLACE and receiver(hops.record[i, place]) == message.source:
        return place
    return NO_PLACE


@apart
def complete(hops, i, message):
    """Free the place of a reliable hop that the receiver has acknowledged."""
    place = acknowledged_place(hops, i, message)
    if place != NO_PLACE:
        release(hops, i, place)


@inlined
def release(hops, i, place):
    """Stop tracking the reliable hop at a place."""
    hops.record[i, place].sequence = _FREE


@inlined
def release_all(hops, i):
    """Stop tracking every reliable hop of row i."""
    for place in range(hops.record.shape[1]):
        hops.record[i, place].sequence = _FREE


@apart
def overdue(hops, rules, i, message, ages, out):
    """Retransmit a reliable hop at its ACK_TIMEOUT; return the place of the hop if it failed for
    good, else NO_PLACE. ages: see `Kinds.ages`.

    The caller releases the place of a failed hop.
    """
    place = place_of_hop(hops, i, message.sequence)
    if place == NO_PLACE or hops.tries[i, place] != message.args[ATTEMPT]:
        return NO_PLACE
    if hops.tries[i, place] >= rules.retries:
        return place
    hops.tries[i, place] += 1
    kept = hops.record[i, place]
    o = emit_again(hops, i, place, kept.next, message.at, ages, out)
    o.sequence = kept.sequence
    start_timer(hops, rules, i, place, 0.0, COUNTED_ON, out)
    return NO_PLACE


@apart
def emit_again(hops, i, place, towards, now, ages, out):
    """Emit the record of a reliable hop again, to the same or to another neighbour; the table does
    not track this copy. ages: see `Kinds.ages`.
    """
    add_wait(hops, i, place, now, ages)
    kept = hops.record[i, place]
    o = emit(out, kept.kind, 0.0, towards)
    copy_record(kept, o)
    return o


@apart
def restart_timers(hops, rules, i, out):
    """Restart the timers of reliable hops in flight after a crash that left the memory intact."""
    for place in range(hops.record.shape[1]):
        if hops.record[i, place].sequence != _FREE:
            start_timer(hops, rules, i, place, 0.0, hops.record[i, place].hops, out)


@inlined
def copy_record(kept, o):
    """Copy the fields of a reliable hop's record that the protocol wrote; the driver writes sender,
    time and hops.
    """
    o.kind = kept.kind
    o["flags"] = kept["flags"]
    o.target = kept.target
    o.topic = kept.topic
    copy_event_id(kept, o)
    copy_args_and_reals(kept, o)
