"""The received entries of a GeoRendezvous cell: it stores the entries of clients at their home, and
the replicas of other members.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.bridges import is_over_bridge
from halfway.protocols.georendezvous.point_store import (
    entry_name,
    find_entry,
    is_entry,
    is_home,
    put_entry,
    remember_home,
)
from halfway.protocols.georendezvous.replication import is_replica, replicate
from halfway.protocols.georendezvous.reports import (
    has_subscriber,
    report_changes,
    report_to_publisher,
)
from halfway.protocols.georendezvous.state import NOTHING, UNWANTED, WANTED


@apart
def cancel_prunes(state, i, topic, point, subscriber, now):
    """Remove the prunes of a subscriber that are older than its last received subscription."""
    # The subscriber's own count gives the order, because prune and subscription may have reached
    # different members of the cell.
    store = state.store
    interest = entry_name(messages.INTEREST, topic, point, NONE, subscriber)
    tried = find_entry(state, i, interest, now)
    if tried < 0:
        return
    for e in range(store.kind.shape[1]):
        if (
            store.kind[i, e] == messages.PRUNE
            and store.topic[i, e] == topic
            and store.point[i, e] == point
            and store.subscriber[i, e] == subscriber
            and store.stamp[i, e] <= store.stamp[i, tried]
        ):
            store.until[i, e] = -1.0


@apart
def put_received(state, i, message, kind, until, stamp):
    """Store the received entry in a record; return its place, or NO_PLACE if it has expired, is an
    outdated prune, or finds the store full.
    """
    topic, point, now = message.topic, message.args[messages.POINT], message.at
    if until <= now:
        return NO_PLACE
    x = np.int32(message.reals[messages.CLIENT_X])
    y = np.int32(message.reals[messages.CLIENT_Y])
    subscriber = message[messages.SUBSCRIBER]
    name = entry_name(kind, topic, point, message.publisher, subscriber)
    e = put_entry(state, i, name, x, y, until, stamp, now)
    if e >= 0:
        cancel_prunes(state, i, topic, point, subscriber, now)
        if state.store.until[i, e] <= now:
            return NO_PLACE
    return e


@apart
def store_entry(state, rules, i, message, out):
    """Store a received ADVERT, INTEREST or PRUNE in the home cell of the entry's point."""
    now, topic, point = message.at, message.topic, message.args[messages.POINT]
    until = now + rules.lifetime_s - message.reals[messages.AGE]
    stamp = message.reals[messages.VERSION]
    if message.kind == messages.ADVERT:
        advert = entry_name(messages.ADVERT, topic, point, message.publisher, NONE)
        known = find_entry(state, i, advert, now)
        stamp = now if known < 0 else state.store.stamp[i, known]
    e = put_received(state, i, message, message.kind, until, stamp)
    if e < 0:
        return
    # [geo §2.2] "The rendezvous cell only needs to do this for the first subscriber"; we repeat the
    # report when the publisher renews, because the report is soft state as well.
    if message.kind == messages.ADVERT and not message["flags"] & messages.TRANSFERRED:
        state.store.reported[i, e] = NOTHING
    reports = report_changes(state, rules, i, topic, point, now, out)
    notified = messages.NOTIFIED if reports > 0 else np.uint8(0)
    # Nodes on the perimeter remember an ADVERT or INTEREST, and warn the home if a cell fills.
    if message.kind != messages.PRUNE and message["flags"] & messages.PERIMETER:
        remember_home(state, i, topic, point, now + rules.home_memory_s)
        notified |= messages.IS_HOME
    replicate(state, rules, i, e, notified, EVERYONE, now, out)


@apart
def is_news(state, rules, i, message, kind, until):
    """Return whether a received entry differs from the replica of this member; an expiry that is
    later by at most `join_listen_s` does not count.
    """
    topic, point, now = message.topic, message.args[messages.POINT], message.at
    if message["flags"] & messages.NOT_HOME and is_home(state, i, topic, point, now):
        return True
    subscriber = message[messages.SUBSCRIBER]
    name = entry_name(kind, topic, point, message.publisher, subscriber)
    e = find_entry(state, i, name, now)
    return e < 0 or until > state.store.until[i, e] + rules.join_listen_s


@apart
def store_replica(state, rules, i, message, out):
    """Store a replica of an entry that this node received from another member of the cell."""
    x, y = message.args[messages.CELL_X], message.args[messages.CELL_Y]
    if x != state.cell[i, 0] or y != state.cell[i, 1]:
        return
    now, topic, point = message.at, message.topic, message.args[messages.POINT]
    if not is_replica(state, rules, i, state.node_id[i], topic, point):
        return
    kind = np.uint8(message.args[messages.ENTRY_KIND])
    age, stamp = message.reals[messages.AGE], message.reals[messages.VERSION]
    until = now + rules.lifetime_s - age
    if kind == messages.ADVERT:
        stamp = now - age + message.reals[messages.SINCE]
    is_new = is_news(state, rules, i, message, kind, until)
    if message["flags"] & messages.IS_HOME:
        remember_home(state, i, topic, point, now + rules.home_memory_s)
    elif message["flags"] & messages.NOT_HOME and is_home(state, i, topic, point, now):
        state.home_until[i, topic, point] = -1.0
    e = put_received(state, i, message, kind, until, stamp)
    if e < 0:
        return
    if is_new and is_over_bridge(state, i):
        # Members over bridges need not all hear each other.
        passed = message["flags"] & ~messages.IS_WANTED
        replicate(state, rules, i, e, passed, EVERYONE, now, out)
    if kind == messages.ADVERT:
        state.store.reported[i, e] = message["flags"] & messages.IS_WANTED
    elif state.present[i] == 0:
        return
    elif message["flags"] & messages.NOTIFIED == 0 and kind == messages.INTEREST:
        # The sender had nothing to report to a publisher; this member may have.
        report_changes(state, rules, i, topic, point, now, out)
    else:
        adopt_reports(state, rules, i, topic, point, now, out)


@apart
def adopt_reports(state, rules, i, topic, point, now, out):
    """Mark in the stored entries of row i the reports that another member of the cell has sent to
    publishers, when a replica is received from this member.
    """
    store = state.store
    for e in range(store.kind.shape[1]):
        if is_entry(state, i, e, messages.ADVERT, topic, point, now):
            wanted = has_subscriber(state, i, topic, point, store.publisher[i, e], now)
            if wanted and store.reported[i, e] == UNWANTED:
                # The UNWANTED of this member may overtake the WANTED of the other member: report
                # again.
                report_to_publisher(state, rules, i, messages.WANTED, e, out)
            elif wanted or store.reported[i, e] == WANTED:
                store.reported[i, e] = WANTED if wanted else NOTHING
