"""Reliable hops of the walk overlay: which record in flight a new one replaces, and whose room.

A newer record on the same subject replaces the one in flight to the same neighbour, so that old
news never overtakes it. Filter chunks leave a share of the table to other records.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE
from halfway.protocols.reliable_hop import TABLE_FULL, receiver, release, track_at
from halfway.protocols.walk_overlay import messages

_FREE = 0  # the sequence number of a free place
_LEFT = 3  # chunks leave one place in so many to other records


@apart
def place_for(hops, i, kind, to, chunk):
    """The hop-table place of the overlay hop that a record replaces, else a free one; -1: full."""
    free = NO_PLACE
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence == _FREE:
            free = np.int64(place)
        elif kept.kind == kind and receiver(kept) == to:
            if kind == messages.CHUNK and kept.args[messages.FIRST_WORD] == chunk:
                return np.int64(place)
            if kind in (messages.FRAGMENT_ID, messages.SUCCESSOR, messages.ATTACHED):
                return np.int64(place)
    return free


@apart
def send_reliably(state, rules, i, record, out):
    """Track a record just emitted in the overlay's hop table, if the rules ask for ACKs."""
    if rules.retries == 0:
        return
    chunk = record.args[messages.FIRST_WORD]
    place = place_for(state.hops, i, record.kind, receiver(record), chunk)
    if place == NO_PLACE:
        state.hops.counts[i, TABLE_FULL] += 1
    else:
        track_at(state.hops, rules, i, place, record, out)


@apart
def has_room(state, rules, i, to, chunk):
    """Whether an overlay chunk can be sent as the rules ask, with hop-table room for others."""
    if rules.retries == 0:
        return True
    hops, free = state.hops, 0
    for place in range(hops.record.shape[1]):
        free += hops.record[i, place].sequence == _FREE
    place = place_for(hops, i, messages.CHUNK, to, chunk)
    if place == NO_PLACE:
        return False
    return hops.record[i, place].sequence != _FREE or free > hops.record.shape[1] // _LEFT


@apart
def is_in_flight(hops, i, kind, to):
    """Whether the overlay's hop table has a hop of that kind to that neighbour in flight."""
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence != _FREE and kept.kind == kind and receiver(kept) == to:
            return True
    return False


@apart
def release_hops_to(hops, i, to):
    """Stop tracking a neighbour's hops in the overlay's hop table; those of walks stay."""
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if receiver(kept) == to and kept.kind not in (messages.STEP, messages.ENDED):
            release(hops, i, place)
