"""The duplicate filter of events by their ids: a window over the newest events of each publisher.

An event is (publisher, epoch, event): publishers number their own events, ascending from 0. A node
keeps a bounded table of publishers. For each publisher the node stores the number of the newest
event, and one bit for each of the newest events, 64 or more, as in the anti-replay window of RFC
4303 §3.4.3 and RFC 6479. An event below the window counts as received. So a node may lose an old
event, but never repeats one. Unless the node received every event that left its windows, an event
below the window may be new, and the node counts it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.parts.hash_table import (
    FORGOTTEN,
    PROBES,
    USES,
    hash_table,
    probed,
    unused_for,
    use,
)

WINDOW = 64  # the newest events of a publisher that a node distinguishes at least
# Columns of `counts` behind those of hash tables: events that left a window and had not arrived,
# and events that arrived below a window, when the row has counted events of the first kind.
MISSED, TOO_OLD = 2, 3
_WORD_BITS = np.uint64(WINDOW)

PUBLISHER = np.dtype(
    [
        ("publisher", "<i4"),  # node id; -1: free
        ("epoch", "<u4"),
        ("newest", "<i4"),  # number of the newest event known in this epoch; -1: none
        ("used", "<u4"),  # the row's count of recorded events at the publisher's last event
        ("bits", "<u8"),  # bit k: the event `newest` - k was received, for the 64 newest ones
    ]
)


class EventId(NamedTuple):
    """The id of an event, by which event windows know it: publisher, epoch and number; a record
    with these fields can replace an `EventId`.
    """

    event: np.int32  # the publisher's own number of the event
    publisher: np.int32  # node id
    epoch: np.uint32  # epoch of the publisher when it published the event


class EventWindows(NamedTuple):
    """The event windows of nodes: one window for each publisher, in a hash table by publisher
    id.
    """

    of: npt.NDArray[np.void]  # [n, places] PUBLISHER, as a record array
    # [n, 4] recorded events; publishers forgotten; MISSED; TOO_OLD
    counts: npt.NDArray[np.int64]
    older: npt.NDArray[np.uint64]  # [n, places, words] the bits of older events, the newest first


def empty_windows(n: int, publishers: int, in_flight: int = WINDOW) -> EventWindows:
    """Return empty event windows for n nodes, each with room for a number of publishers.

    in_flight: newest events of a publisher that a node distinguishes, rounded up to 64 x 2^k.
    If no place within reach is free, a node forgets the publisher within reach whose last new event
    is the oldest. A second copy of an event of the forgotten publisher then counts as new.
    """
    of = hash_table(n, publishers, PUBLISHER)
    of["publisher"] = of["newest"] = NONE
    words = 1 << (max(-(-in_flight // WINDOW), 1) - 1).bit_length()
    older = np.zeros((*of.shape, words - 1), np.uint64)
    return EventWindows(of.view(np.recarray), np.zeros((n, 4), np.int64), older)


def window_length(windows: EventWindows) -> int:
    """Return the newest events of a publisher that event windows distinguish, 64 x 2^k."""
    return WINDOW * (1 + int(windows.older.shape[2]))


@inlined
def window_slot(windows, event):
    """Return the slot of an event in a table beside the event windows, with a slot for each of the
    newest events.
    """
    return event & (WINDOW * (1 + windows.older.shape[2]) - 1)


@inlined
def _step_of(publisher):
    return ((np.uint64(publisher) * np.uint64(0x9E3779B1)) >> np.uint64(20)) | np.uint64(1)


@inlined
def search(windows, i, publisher):
    """Search the event windows of row i for a publisher: return its place or NO_PLACE, and the
    place that the publisher may claim. This is a free place, or the place of the publisher that was
    unused for the longest time.
    """
    places = windows.of.shape[1]
    # The hash of the publisher's id gives the first place of the search.
    first, step = np.uint64(publisher), _step_of(publisher)
    oldest, age = NO_PLACE, np.int64(NONE)
    for k in range(min(places, PROBES)):
        place = probed(first, step, k, places)
        there = windows.of[i, place].publisher
        if there == publisher:
            return place, place
        if there == NONE:
            return NO_PLACE, place
        unused = unused_for(windows, i, place)
        if unused > age:
            oldest, age = place, unused
    return NO_PLACE, oldest


@inlined
def place_of_publisher(windows, i, publisher):
    """Return the place of a publisher's event window at row i, or NO_PLACE if there is none."""
    return search(windows, i, publisher)[0] if publisher >= 0 else NO_PLACE


@inlined
def claim_place(windows, i, place, publisher, epoch):
    """Create an empty event window at a place of row i, for a new publisher and its epoch."""
    windows.counts[i, FORGOTTEN] += windows.of[i, place].publisher != NONE
    windows.of[i, place].publisher = publisher
    windows.of[i, place].used = np.uint32(windows.counts[i, USES] & np.int64(0xFFFFFFFF))
    empty_place(windows, i, place, epoch)


@inlined
def empty_place(windows, i, place, epoch):
    """Empty the event window at a place of row i, for a new epoch of its publisher."""
    windows.of[i, place].epoch = epoch
    windows.of[i, place].newest = NONE
    windows.of[i, place].bits = np.uint64(0)
    for word in range(windows.older.shape[2]):
        windows.older[i, place, word] = np.uint64(0)


@inlined
def know_of(windows, i, place, event):
    """Advance the event window at a place of row i until the window includes an event."""
    ahead = np.int64(event) - windows.of[i, place].newest
    if ahead > 0:
        if windows.of[i, place].newest == NONE:  # an empty window has no bits to shift
            length = np.int64(WINDOW * (1 + windows.older.shape[2]))
            windows.counts[i, MISSED] += max(ahead - length, np.int64(0))
        else:
            _advance(windows, i, place, ahead)
        windows.of[i, place].newest = event


@apart
def _advance(windows, i, place, ahead):
    """Shift the bits of the event window at a place of row i; count the events that leave it and
    had not arrived.
    """
    newest, words = np.int64(windows.of[i, place].newest), windows.older.shape[2]
    length = np.int64(WINDOW * (1 + words))
    oldest = newest - length + 1
    # The window of a new publisher has no events, so the loop ends at once.
    for event in range(max(oldest, np.int64(0)), oldest + min(ahead, length)):
        windows.counts[i, MISSED] += not has(windows, i, place, event)
    windows.counts[i, MISSED] += max(ahead - length, np.int64(0))
    whole, part = ahead // WINDOW, np.uint64(ahead % WINDOW)
    for k in range(words + 1):
        word = words - k  # the oldest first: it depends on newer ones
        bits = _bits(windows, i, place, word - whole) << part
        if part > np.uint64(0):
            bits |= _bits(windows, i, place, word - whole - 1) >> (_WORD_BITS - part)
        if word > 0:
            windows.older[i, place, word - 1] = bits
        else:
            windows.of[i, place].bits = bits


@inlined
def _bits(windows, i, place, word):
    """Return a word of the event window at a place of row i. Word 0 has the newest events."""
    if word < 0:
        return np.uint64(0)
    return windows.older[i, place, word - 1] if word > 0 else windows.of[i, place].bits


@inlined
def has(windows, i, place, event):
    """Return whether the event window at a place of row i has an event as received; False for an
    event below the window.
    """
    behind = np.int64(windows.of[i, place].newest) - event
    if behind < 0 or behind >= WINDOW * (1 + windows.older.shape[2]):
        return False
    bits = _bits(windows, i, place, behind // WINDOW)
    return (bits >> np.uint64(behind % WINDOW)) & np.uint64(1) == np.uint64(1)


@inlined
def claim_window(windows, i, publisher, epoch):
    """Return the place of the event window of row i for an epoch of a publisher; NO_PLACE if the
    epoch is over.
    """
    if publisher < 0:
        return NO_PLACE
    place, other = search(windows, i, publisher)
    if place == NO_PLACE:
        claim_place(windows, i, other, publisher, epoch)
        return other
    if epoch != windows.of[i, place].epoch:
        if epoch < windows.of[i, place].epoch:
            return NO_PLACE
        empty_place(windows, i, place, epoch)
    return place


@inlined
def record_if_new(windows, i, message):
    """Record the event of a record in the event windows of row i; return whether the event was
    new.
    """
    # Most publishers are at the first place of their search, and most events are the newest event
    # or the next event. All other cases share one call.
    place = np.uint32(message.publisher) & np.uint32(windows.of.shape[1] - 1)
    first = windows.of[i, place]
    if first.publisher == message.publisher and first.epoch == message.epoch:
        ahead = np.int64(message.event) - np.int64(first.newest)
        if ahead == 0 and first.bits & np.uint64(1) != np.uint64(0):
            return False
        if ahead == 1 and windows.older.shape[2] == 0:
            misses = first.newest >= WINDOW - 1 and first.bits >> (_WORD_BITS - np.uint64(1)) == 0
            windows.counts[i, MISSED] += misses
            first.newest = message.event
            first.bits = (first.bits << np.uint64(1)) | np.uint64(1)
            use(windows, i, np.int64(place))
            return True
    return _record_if_new(windows, i, message)


@apart
def _record_if_new(windows, i, message):
    place = claim_window(windows, i, message.publisher, message.epoch)
    if place == NO_PLACE or message.event < 0:
        return False
    behind = np.int64(windows.of[i, place].newest) - message.event
    if behind >= WINDOW * (1 + windows.older.shape[2]):
        windows.counts[i, TOO_OLD] += windows.counts[i, MISSED] > 0
        return False
    if has(windows, i, place, message.event):
        return False
    know_of(windows, i, place, message.event)
    behind = np.int64(windows.of[i, place].newest) - message.event
    bit, word = np.uint64(1) << np.uint64(behind % WINDOW), behind // WINDOW
    if word > 0:
        windows.older[i, place, word - 1] |= bit
    else:
        windows.of[i, place].bits |= bit
    use(windows, i, place)
    return True


@inlined
def place_of_event(windows, i, message):
    """Return the place of the event window at row i that has received the event of a record, or
    NO_PLACE.
    """
    place = place_of_publisher(windows, i, message.publisher)
    if (
        place != NO_PLACE
        and windows.of[i, place].epoch == message.epoch
        and has(windows, i, place, message.event)
    ):
        return place
    return NO_PLACE


@inlined
def event_id(message):
    """Return the `EventId` of the event in a record, by which event windows know the event."""
    return EventId(message.event, message.publisher, message.epoch)


@inlined
def copy_event_id(message, o):
    """Copy the id of an event, by which event windows know it, from a record or an `EventId` into a
    record.
    """
    o.event = message.event
    o.publisher = message.publisher
    o.epoch = message.epoch
