"""Confirmed records of broker trees: a broker resends a subscription or an event until the
receiving broker confirms the record.

[uas §4.1] "The overlay link failure can be detected by a child while it tries to send subscription
to its parent or by a parent while it tries to send a notification to its child." The sending broker
keeps the record. If no confirmation arrives in time, the path counts as dead, and the broker sends
the record on its next path. Where hops are acknowledged, the path counts as dead only after several
timeouts. A record for which the table has no room is sent without confirmation.

The table is not one of `protocols.parts.reliable_hop`. A reliable hop has one neighbour, and its
number is its sequence number. A confirmed record crosses many nodes, each with sequence numbers of
its own, so its number is one of the integers. It is sent again on another path, and to another
parent.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.message import RECORD
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import low_half, mixed
from halfway.protocols.broker_trees.paths.circuits import SORTS, Int32s, send_along
from halfway.protocols.broker_trees.paths.decisions import CUT_OFF, DIRECT, SECOND, next_hop_up
from halfway.protocols.broker_trees.paths.peer_paths import (
    active_path,
    reply,
    second_path,
    use_path,
)
from halfway.protocols.broker_trees.records.messages import (
    DIRECTION,
    NOTIFY,
    NUMBER,
    ORIGIN,
    ROUTE,
    SUBSCRIBE_UP,
    UNSUBSCRIBE_UP,
)
from halfway.protocols.broker_trees.underlay import child_changes, parent_search, underlay_parent
from halfway.protocols.broker_trees.underlay.path_waits import confirm_wait_s, declare_dead
from halfway.protocols.broker_trees.underlay.underlay_messages import CONFIRM, CONFIRM_TIMEOUT
from halfway.protocols.parts.reliable_hop import copy_record
from halfway.protocols.parts.row_search import place_in_row

PLACES = 128  # records that a broker keeps
_MOST_TRIES = 20  # number of retransmissions after which the record is lost
_NUMBERS = 2**31 - 1


class Unconfirmed(NamedTuple):
    """The records of each broker that the receiver has not confirmed yet, by place."""

    record: npt.NDArray[np.void]  # [brokers, places] RECORD as sent; number 0: free
    upwards: npt.NDArray[np.uint8]  # [brokers, places] 1: for the present parent
    tries: Int32s  # [brokers, places] retransmissions so far
    sent: npt.NDArray[np.int64]  # [brokers] records tracked so far
    refused: npt.NDArray[np.int64]  # [brokers] records without room
    failed: npt.NDArray[np.int64]  # [brokers] records given up


def no_records(brokers: int, confirm: bool) -> Unconfirmed:
    """Return empty tables of unconfirmed records; their size is 0 if brokers confirm no records."""
    places = PLACES if confirm else 0
    return Unconfirmed(
        np.zeros((brokers, places), RECORD).view(np.recarray),
        np.zeros((brokers, places), np.uint8),
        np.zeros((brokers, places), np.int32),
        *np.zeros((3, brokers), np.int64),
    )


@apart
def track_new(state, rules, sender, before, out):
    """Track each record that this call emitted for another broker, until the confirmation arrives;
    before the call the outbox had `before` free slots.
    """
    if rules.confirm_timeout_s == 0.0:
        return
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        record = out.pool[out.free[np.uint32(stacked)]]
        starts = record.args[DIRECTION] > 0 and record.args[NUMBER] == 0
        if not starts or record.args[ORIGIN] != sender.own:
            continue
        if record.kind == NOTIFY or record.kind == SUBSCRIBE_UP or record.kind == UNSUBSCRIBE_UP:
            up = record.target == state.parent[sender.broker]
            if up or place_in_row(state.children.child, sender.broker, record.target) >= 0:
                track(state, rules, sender, record, up, out)


@apart
def track(state, rules, sender, record, upwards, out):
    """Track one record for another broker until the receiver confirms the record."""
    kept, b = state.unconfirmed, sender.broker
    places = kept.record.shape[1]
    for place in range(places):
        if kept.record[b, place].args[NUMBER] == 0:
            turn = kept.sent[b] % (_NUMBERS // places)
            kept.sent[b] += 1
            record.args[NUMBER] = turn * places + place + 1
            copy_with_kind(record, kept.record[b, place])
            kept.upwards[b, place], kept.tries[b, place] = upwards, 0
            start_timer(state, rules, sender, record, out)
            return
    kept.refused[b] += 1


@apart
def copy_with_kind(record, copy):
    """Copy an unconfirmed record with the kind of the broker's original record."""
    copy_record(record, copy)
    copy.kind = record.kind


@apart
def start_timer(state, rules, sender, record, out):
    """Start the timer after which a broker resends a record without a confirmation."""
    wait_s = confirm_wait_s(state, rules, sender, record.target)
    emit(out, CONFIRM_TIMEOUT, wait_s, sender.own).args[NUMBER] = record.args[NUMBER]


@apart
def confirm(sender, message, out):
    """Confirm a received record to the sending broker, back along the record's path."""
    if message.args[DIRECTION] > 0 and message.args[NUMBER] > 0:
        reply(sender, message, CONFIRM, out).args[NUMBER] = message.args[NUMBER]


@apart
def place_of_number(kept, b, number):
    """Return the place of the unconfirmed record with a number at a broker, or NO_PLACE if the
    broker has freed this place.
    """
    places = kept.record.shape[1]
    if number <= 0 or places == 0:
        return NO_PLACE
    place = (np.int64(number) - 1) % places
    return place if kept.record[b, place].args[NUMBER] == number else NO_PLACE


@apart
def receive(state, rules, sender, message, out):
    """Handle the confirmation of a record, which frees the place of the record, or the timeout of a
    confirmation.
    """
    if message.kind == CONFIRM:
        place = place_of_number(state.unconfirmed, sender.broker, message.args[NUMBER])
        if place >= 0:
            state.unconfirmed.record[sender.broker, place].args[NUMBER] = 0
    elif message.kind == CONFIRM_TIMEOUT:
        on_timeout(state, rules, sender, message, out)


@apart
def start_numbers(kept, b, incarnation):
    """Start the record numbers of a broker that lost its memory at a new base, so that old
    confirmations match no record.
    """
    if incarnation > 0 and kept.sent[b] == 0:
        kept.sent[b] = low_half(mixed(np.uint64(incarnation))) & 0xFFFFF


@apart
def restart_timers(state, rules, sender, out):
    """Restart the timers of a broker's unconfirmed records after a crash in which the broker kept
    its memory.
    """
    kept, b = state.unconfirmed, sender.broker
    for place in range(kept.record.shape[1]):
        if kept.record[b, place].args[NUMBER] != 0:
            start_timer(state, rules, sender, kept.record[b, place], out)


@apart
def on_timeout(state, rules, sender, message, out):
    """Resend a record that was not confirmed in time. Before, count its path as dead, unless the
    confirmation may still arrive.
    """
    kept, b = state.unconfirmed, sender.broker
    place = place_of_number(kept, b, message.args[NUMBER])
    if place < 0:
        return
    record = kept.record[b, place]
    # Over lossy links a confirmation may only be late, because nodes on the path retransmit their
    # hops. So the broker resends the record on the same path as often as a ping may be missed.
    if rules.retries == 0 or kept.tries[b, place] >= rules.missed_pings:
        lose_path(state, rules, sender, record, message.at, out)
    if kept.upwards[b, place] == 1:
        to = state.parent[b]
    else:
        child = place_in_row(state.children.child, b, record.target) >= 0
        to = record.target if child else NONE
    kept.tries[b, place] += 1
    if to < 0:  # this is the root now, or the receiver is not a child any more
        record.args[NUMBER] = 0
    elif kept.tries[b, place] > _MOST_TRIES:
        kept.failed[b] += 1
        record.args[NUMBER] = 0
    else:
        start_timer(state, rules, sender, record, out)
        resend(sender, record, to, out)


@apart
def resend(sender, record, to, out):
    """Resend an unconfirmed record on the present path of its receiver, and remember this path."""
    route = active_path(sender, to)
    if route == NO_PLACE:
        return
    o = send_along(sender.circuits, sender.row, route, record.kind, sender.own, out)
    record.target = o.target
    record.args[ROUTE], record.args[DIRECTION] = o.args[ROUTE], o.args[DIRECTION]
    copy_with_kind(record, o)


@apart
def lose_path(state, rules, sender, record, now, out):
    """Count the path of a broker's unconfirmed record to the parent or to a child as dead."""
    b, peer = sender.broker, record.target
    path = SECOND if record.args[ROUTE] % SORTS == SECOND else DIRECT
    if peer == state.parent[b]:
        lose_path_up(state, rules, sender, path, now, out)
    elif place_in_row(state.children.child, b, peer) >= 0:
        lose_path_down(state, rules, sender, peer, path, out)


@apart
def lose_path_up(state, rules, sender, path, now, out):
    """Count a path to the parent as dead because the confirmation of a record is missing; change to
    the other path, or search for another parent.
    """
    b, up = sender.broker, state.parent[sender.broker]
    declare_dead(state, rules, sender, path)
    if path == DIRECT and state.dead_at[b] == np.inf:
        state.dead_at[b] = now
    other = underlay_parent.path_up(state, rules, sender, rules.missed_pings)
    if other in (DIRECT, SECOND):
        use_path(sender, up, other == SECOND, False)
    elif state.asked[b] == 0:
        # [uas §4.1] "it sends its grand parent the node failure event": at once, then by ticks.
        parent_search.search_parent(state, rules, sender, now, out)


@apart
def lose_path_down(state, rules, sender, child, path, out):
    """[uas §4.1] Count a path to a child as dead because the confirmation of a record is missing;
    change to the other path, or adopt the children of this child.
    """
    b, most = sender.broker, rules.missed_pings + 1
    s = place_in_row(state.children.child, b, child)
    silence = state.children.child_silence
    silence[b, s, path] = max(silence[b, s, path], most + 1)
    second = second_path(sender, child) != NO_PLACE and silence[b, s, SECOND] <= most
    other = next_hop_up(silence[b, s, DIRECT] <= most, second, False)
    if other == CUT_OFF:
        child_changes.adopt(state, sender, child, NONE, out)
    else:
        use_path(sender, child, other == SECOND, False)
