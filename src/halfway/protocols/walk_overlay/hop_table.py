"""The hop table of the walk overlay: which reliable hop in flight a new record replaces, and which
records may take a free place.

The paper loses no records, so all these rules are ours. We let a newer record on the same subject
replace the record in flight to the same neighbour, because old news must not overtake new news. We
let records that can wait leave a share of the table to other records, because the records of a hub
to all its overlay neighbours need more places than the table has.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE
from halfway.protocols.parts.reliable_hop import NO_CLOCK, TABLE_FULL, receiver, release, track_at
from halfway.protocols.walk_overlay import messages

_FREE = 0  # the sequence number of a free place
_LEFT = 3  # records that can wait leave one of this many places to other records


@apart
def place_for(hops, i, kind, to, chunk):
    """Return the place in the overlay's hop table of the hop that a record replaces, or a free
    place, or NO_PLACE if the table is full.
    """
    free = NO_PLACE
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence == _FREE:
            free = np.int64(place)
        elif kept.kind == kind and receiver(kept) == to:
            if kind == messages.CHUNK and kept.args[messages.FIRST_WORD] == chunk:
                return np.int64(place)
            if kind in (messages.FRAGMENT_ID, messages.SUCCESSOR):
                return np.int64(place)
    return free


@apart
def send_reliably(state, rules, i, record, out):
    """Track a record that was just emitted in the hop table of the overlay, if hops are
    acknowledged.
    """
    if rules.retries == 0:
        return
    chunk = record.args[messages.FIRST_WORD]
    place = place_for(state.hops, i, record.kind, receiver(record), chunk)
    if place == NO_PLACE:
        state.hops.counts[i, TABLE_FULL] += 1
    else:
        # The fields of the overlay's records do not age, so its hops need no clock.
        track_at(state.hops, rules, i, place, record, NO_CLOCK, out)


@apart
def has_slot(state, rules, i, kind, to, chunk):
    """Return whether a record that can wait, such as an overlay chunk, may take a place of the hop
    table now.
    """
    if rules.retries == 0:
        return True
    hops, free = state.hops, 0
    for place in range(hops.record.shape[1]):
        free += hops.record[i, place].sequence == _FREE
    place = place_for(hops, i, kind, to, chunk)
    if place == NO_PLACE:
        return False
    return hops.record[i, place].sequence != _FREE or free > hops.record.shape[1] // _LEFT


@apart
def is_in_flight(hops, i, kind, to):
    """Return whether the hop table of the overlay has a hop of a kind to a neighbour in flight."""
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence != _FREE and kept.kind == kind and receiver(kept) == to:
            return True
    return False


@apart
def release_hops_to(hops, i, to):
    """Stop tracking the hops to a neighbour in the overlay's hop table, except the hops of walks.

    We keep the hops of walks, because a walk goes on whether or not its two nodes have a link.
    """
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if receiver(kept) == to and kept.kind not in (messages.STEP, messages.ENDED):
            release(hops, i, place)
