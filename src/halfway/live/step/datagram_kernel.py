"""The datagram kernel of a live node: machine code from received datagrams, through the handler, to
sent datagrams.

The kernel takes the frames of a neighbour in their order, and lets the node handle records with
known topics and bodies. It appends the emitted records to the waiting frames of each neighbour. The
kernel stops at an unknown frame, which Python then handles. The kernel makes no decision, so a node
emits the same records without it.
"""

import numpy as np

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.driver import TO_NETWORK
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.core.records.wire import HEADER_BYTES
from halfway.live.step.datagram_tables import (
    EPOCH,
    EVENT,
    LEAST,
    PLACES,
    PUBLISHER,
    RECEIVED,
    SENT,
    TRANSMITTED,
    USED,
    WAYS,
    found_body,
)
from halfway.live.step.record_kernel import (
    EMITTED,
    LOGGED,
    NOW,
    received,
    released,
)
from halfway.live.step.wire_tables import MOST_TOPICS, put, taken
from halfway.live.wire.frames import BODY, HEAD_BYTES, KEY_BYTES, RECORD

AGE_AT = 9  # of the age in a body, see `live.events.bodies`
_TOPIC_BYTES = 8

# The reasons why `handle_frames` stops: no frame is left, Python must handle the next frame, an
# output is full, a record was refused, or a record emitted records for Python.
DONE, OTHER, FULL, REFUSED, LEFT = range(5)
REASONS = 8


@inlined
def _number_of(tables, flow, hash64):
    """Return the datagram kernel's number of a topic, or NO_PLACE if the index does not have it."""
    sets = np.uint64(flow.topic_at.shape[0] // WAYS)
    first = np.int64(hash64 % sets) * WAYS
    for k in range(first, first + WAYS):
        number = np.int64(flow.topic_at[k])
        if number >= 0 and tables.hashes[number] == hash64:
            flow.topic_used[-1] += 1
            flow.topic_used[number] = flow.topic_used[-1]
            return number
    return NO_PLACE


@inlined
def _has_numbers(tables, flow, at, topics):
    """Return whether all topics in a record's list have numbers in the datagram kernel; then
    `numbers` has them.
    """
    for k in range(topics):
        number = _number_of(tables, flow, taken(tables.inbox, at + _TOPIC_BYTES * k, 8))
        if number < 0:
            return False
        tables.numbers[k] = number
    return True


@inlined
def _word_in(buffer, at):
    return np.int64(taken(buffer, at, 4))


@inlined
def _is_known(tables, flow, place, at, end):
    """Return whether a compact record in a datagram is the sender's own, and the body of its event
    is here.
    """
    inbox = tables.inbox
    if end - at < HEADER_BYTES or _word_in(inbox, at + 4) != flow.peer[place]:
        return False
    kind = inbox[at]
    if flow.event_at[kind, LEAST] == 0:
        return True
    if end - at < flow.event_at[kind, LEAST]:
        return False
    publisher = _word_in(inbox, at + flow.event_at[kind, PUBLISHER])
    epoch = _word_in(inbox, at + flow.event_at[kind, EPOCH])
    number = _word_in(inbox, at + flow.event_at[kind, EVENT])
    return found_body(flow, publisher, epoch, number) >= 0


@inlined
def _take_record(door, tables, flow, place, at, end):
    """Let the node handle the content of a RECORD frame of a datagram; return DONE, or the reason
    why `handle_frames` stops here.
    """
    if at >= end:
        return OTHER
    topics = np.int64(tables.inbox[at])
    begin = at + 1 + _TOPIC_BYTES * topics
    if topics > MOST_TOPICS or not _is_known(tables, flow, place, begin, end):
        return OTHER
    if not _has_numbers(tables, flow, at + 1, topics):
        return OTHER
    logs = tables.log.shape[0]
    # A handler emits at most as many records as `slot` has places.
    if tables.out.tally[0] <= tables.slot.shape[0] or 0 < logs <= tables.tally[LOGGED]:
        return FULL
    flow.tally[RECEIVED] += 1
    if not received(door, tables, begin, end, topics):
        return REFUSED
    _send_all(tables, flow)
    return LEFT if tables.tally[EMITTED] > 0 else DONE


@inlined
def _take_body(tables, flow, place, at, end):
    """Note that a neighbour has a body, in the datagram kernel; return DONE, or OTHER for an
    unknown body.
    """
    if end - at < KEY_BYTES:
        return OTHER
    inbox = tables.inbox
    slot = found_body(flow, _word_in(inbox, at), _word_in(inbox, at + 4), _word_in(inbox, at + 8))
    if slot < 0:
        return OTHER
    flow.holders[slot] |= np.uint64(1) << np.uint64(place)
    return DONE


@kernel
def handle_frames(door, tables, flow, place, at, end):
    """Let the datagram kernel take the frames of a datagram, inbox[at:end], from the neighbour at a
    place.

    Return the place of the stop, times REASONS, plus the reason. After LEFT, Python handles the
    emissions.
    """
    why = DONE
    while at < end and why == DONE:
        begin, frame_type = at + HEAD_BYTES, tables.inbox[at]
        behind = begin + np.int64(taken(tables.inbox, at + 1, 2))
        why = OTHER
        if begin <= end and behind <= end:
            if frame_type == RECORD:
                why = _take_record(door, tables, flow, place, begin, behind)
            elif frame_type == BODY:
                why = _take_body(tables, flow, place, begin, behind)
        if why != OTHER and why != FULL:
            at = behind
    return at * REASONS + why


@kernel
def send_emissions(tables, flow):
    """Append the datagram kernel's immediate emissions to the waiting frames of their receivers.

    Python handles all other emissions: timers, reports, and records that the kernel has no place
    for.
    """
    _send_all(tables, flow)


@apart
def _send_all(tables, flow):
    left = 0
    for k in range(tables.tally[EMITTED]):
        slot, begin, end = tables.slot[k], tables.span[k, 0], tables.span[k, 1]
        if tables.towards[k] == TO_NETWORK and end > begin and _send_one(tables, flow, slot, k):
            released(tables, slot)
            continue
        tables.slot[left], tables.towards[left] = slot, tables.towards[k]
        tables.due[left] = tables.due[k]
        tables.span[left, 0], tables.span[left, 1] = begin, end
        left += 1
    tables.tally[EMITTED] = left


@apart
def _send_one(tables, flow, slot, k):
    """Append an emission of the datagram kernel to the frames of its receivers; False, without
    effect, if Python must do this.
    """
    record = tables.out.pool[slot]
    body, first, last = NO_PLACE, 0, PLACES
    if flow.event_at[record.kind, LEAST] > 0:
        body = found_body(
            flow, np.int64(record.publisher), np.int64(record.epoch), np.int64(record.event)
        )
        if body < 0 or tables.seconds[NOW] >= flow.times[body, 1]:
            return False
    if record.next != EVERYONE:
        while first < PLACES and flow.peer[first] != record.next:
            first += 1
        last = first + 1
        if first == PLACES:
            return False
    if flow.tally[USED] + 2 * (last - first) > flow.to.shape[0]:
        return False
    for place in range(first, last):
        if flow.peer[place] >= 0:
            if body >= 0:
                _write_body(tables, flow, body, place, HEAD_BYTES + tables.span[k, 1])
            _write_record(tables, flow, k, place)
            flow.tally[SENT] += 1
    flow.tally[TRANSMITTED] += 1
    return True


@inlined
def _datagram_for(flow, place, size):
    """Return the datagram for a neighbour in which the datagram kernel has room for a frame."""
    datagram = flow.open[place]
    if datagram < 0 or flow.fill[datagram] + size > flow.capacity[0]:
        datagram = flow.tally[USED]
        flow.tally[USED] += 1
        flow.open[place] = datagram
        flow.to[datagram], flow.fill[datagram] = place, 0
    return datagram


@inlined
def _write_head(row, at, frame_type, size):
    row[at] = frame_type
    return put(row, at + 1, np.uint64(size), 2)


@apart
def _write_record(tables, flow, k, place):
    begin, end = tables.span[k, 0], tables.span[k, 1]
    datagram = _datagram_for(flow, place, HEAD_BYTES + end - begin)
    row = flow.frames[datagram]
    at = _write_head(row, flow.fill[datagram], RECORD, end - begin)
    for number in range(begin, end):
        row[at] = tables.sent[number]
        at += 1
    flow.fill[datagram] = at


@apart
def _write_body(tables, flow, body, place, record_bytes):
    """Write a body for a neighbour that lacks it, if body and record fit into one datagram of the
    kernel.
    """
    bit, size = np.uint64(1) << np.uint64(place), flow.size[body]
    whole = HEAD_BYTES + KEY_BYTES + size
    is_there = flow.holders[body] & bit != np.uint64(0)
    if is_there or size == 0 or whole + record_bytes > flow.capacity[0]:
        return
    flow.holders[body] |= bit
    datagram = _datagram_for(flow, place, whole)
    row = flow.frames[datagram]
    at = _write_head(row, flow.fill[datagram], BODY, KEY_BYTES + size)
    for part in range(3):
        at = put(row, at, np.uint64(flow.key[body, part]), 4)
    begin = flow.begin[body] % flow.arena.shape[0]
    for k in range(size):
        row[at + k] = flow.arena[begin + k]
    flow.age[0] = max(tables.seconds[NOW] - flow.times[body, 0], 0.0)
    for k in range(8):
        row[at + AGE_AT + k] = flow.age_bytes[k]
    flow.fill[datagram] = at + size
