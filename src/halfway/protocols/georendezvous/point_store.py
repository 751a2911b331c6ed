"""The store of a GeoRendezvous node, and its tables of homes of rendezvous points, perimeter
traversals and prunes.

[geo §2.2] "clients that fail to renew their advertisements/subscriptions are removed". The limits
of the tables are ours, because the paper states no limit of a node's memory.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.state import NO_SLOT


class EntryName(NamedTuple):
    """The name of an entry of the GeoRendezvous store: entries with one name are the same entry."""

    kind: np.int64
    topic: np.int64
    point: np.int64
    publisher: np.int64  # node id, or NONE
    subscriber: np.int64  # node id, or NONE


@inlined
def entry_name(kind, topic, point, publisher, subscriber):
    """Return the name of an entry of the GeoRendezvous store, with one type for all callers."""
    return EntryName(
        np.int64(kind), np.int64(topic), np.int64(point), np.int64(publisher), np.int64(subscriber)
    )


@inlined
def is_entry(state, i, e, kind, topic, point, now):
    """Return whether a place of the GeoRendezvous store has a live entry of a kind for a point."""
    store = state.store
    key = store.topic[i, e] == topic and store.point[i, e] == point
    return key and store.kind[i, e] == kind and store.until[i, e] > now


@apart
def find_entry(state, i, name, now):
    """Return the place of an entry in the GeoRendezvous store, or NO_PLACE if it is absent or
    expired.
    """
    store = state.store
    for e in range(store.kind.shape[1]):
        same = store.publisher[i, e] == name.publisher
        same = same and store.subscriber[i, e] == name.subscriber
        if same and is_entry(state, i, e, name.kind, name.topic, name.point, now):
            return e
    return NO_PLACE


@apart
def put_entry(state, i, name, x, y, until, stamp, now):
    """Put an entry into the GeoRendezvous store, or extend the life of an entry that is there.

    Return the place of the entry, or NO_PLACE if the store is full.
    """
    store = state.store
    e = np.int64(find_entry(state, i, name, now))
    if e == NO_PLACE:
        for free in range(store.kind.shape[1]):
            if store.until[i, free] <= now:
                e = np.int64(free)
                break
        if e == NO_PLACE:
            state.lost[i, NO_SLOT] += 1
            return e
        store.reported[i, e] = 0
        store.until[i, e], store.stamp[i, e] = until, stamp
    store.kind[i, e] = name.kind
    store.topic[i, e], store.point[i, e] = name.topic, name.point
    store.publisher[i, e], store.subscriber[i, e] = name.publisher, name.subscriber
    store.x[i, e], store.y[i, e] = x, y
    store.until[i, e] = max(until, store.until[i, e])
    store.stamp[i, e] = max(stamp, store.stamp[i, e])
    return e


@inlined
def is_home(state, i, topic, point, now):
    """Return whether a GeoRendezvous node's table of homes shows that the cell where it acts is the
    home of a rendezvous point.
    """
    home = state.home_cell
    here = home[i, topic, point, 0] == state.cell[i, 0]
    here = here and home[i, topic, point, 1] == state.cell[i, 1]
    return here and state.home_until[i, topic, point] > now


@inlined
def remember_home(state, i, topic, point, until):
    """Enter into a GeoRendezvous node's table of homes that the cell where it acts is the home of a
    rendezvous point.
    """
    # A bridge node keeps only the newest such cell, because the home in another of its cells must
    # not end a route here.
    state.home_until[i, topic, point] = until
    state.home_cell[i, topic, point, 0] = state.cell[i, 0]
    state.home_cell[i, topic, point, 1] = state.cell[i, 1]


@apart
def put_traversal(state, i, topic, point, x, y, until, now):
    """Put the traversal of a home perimeter into a GeoRendezvous node's table of perimeter
    traversals, over the entry that expires first.
    """
    traversals = state.traversals
    place, known = 0, False
    for t in range(traversals.topic.shape[1]):
        known = (
            traversals.until[i, t] > now
            and traversals.topic[i, t] == topic
            and traversals.point[i, t] == point
        )
        if known or traversals.until[i, t] < traversals.until[i, place]:
            place = t
        if known:
            break
    state.lost[i, NO_SLOT] += traversals.until[i, place] > now and not known
    traversals.topic[i, place], traversals.point[i, place] = topic, point
    traversals.x[i, place], traversals.y[i, place] = x, y
    traversals.until[i, place] = until


@apart
def claim_pruned(state, i, topic, publisher, now):
    """Return the place of a publisher in a GeoRendezvous node's table of prunes; a new publisher
    gets an empty place. If the table has no room, the publisher takes the place that expires first.
    """
    pruned, place = state.pruned, 0
    for r in range(pruned.publisher.shape[1]):
        if pruned.topic[i, r] == topic and pruned.publisher[i, r] == publisher:
            place = r
            break
        if pruned.until[i, r] < pruned.until[i, place]:
            place = r
    same = pruned.topic[i, place] == topic and pruned.publisher[i, place] == publisher
    state.lost[i, NO_SLOT] += pruned.until[i, place] > now and not same
    if not same or pruned.until[i, place] <= now:
        pruned.topic[i, place], pruned.publisher[i, place] = topic, publisher
        pruned.points[i, place] = 0
    return place


@inlined
def write_times(state, rules, i, e, now, o):
    """Write the age of an entry in the GeoRendezvous store, and its version or the first arrival of
    an ADVERT, into a record.

    An entry expires `lifetime_s` after its client renewed it. The driver ages the record, and the
    reliable hop ages its copy. So an entry lives as long after a transfer as before.
    """
    store = state.store
    # Rounding must not make an age negative.
    age = max(rules.lifetime_s - (store.until[i, e] - now), 0.0)
    o.reals[messages.AGE] = age
    if store.kind[i, e] == messages.ADVERT:
        o.reals[messages.SINCE] = store.stamp[i, e] - (now - age)
    else:
        o.reals[messages.VERSION] = store.stamp[i, e]


@apart
def drop_entries(state, i):
    """Empty the store of a GeoRendezvous node whose cell membership ends."""
    for e in range(state.store.until.shape[1]):
        state.store.until[i, e] = -1.0
    state.home_until[i] = -1.0
