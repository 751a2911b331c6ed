"""The rendezvous cell of GeoRendezvous [geo §2.2-2.3]: it stores received entries, reports to
publishers, and notifies subscribers.

Any member that receives a message acts on it, and replicates the entry.
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
from halfway.protocols.georendezvous.routing import copy_of, dispatch, point_message
from halfway.protocols.georendezvous.state import NOTHING, UNWANTED, WANTED


@apart
def subscribes(state, i, e, topic, point, publisher, now):
    """Return whether the rendezvous cell notifies the subscriber of an entry about a publisher's
    events, because the subscriber has no prune at the point.
    """
    if not is_entry(state, i, e, messages.INTEREST, topic, point, now):
        return False
    subscriber = state.store.subscriber[i, e]
    prune = entry_name(messages.PRUNE, topic, point, publisher, subscriber)
    return find_entry(state, i, prune, now) < 0


@apart
def has_subscriber(state, i, topic, point, publisher, now):
    """Return whether a publisher has a subscriber in the rendezvous cell."""
    for e in range(state.store.kind.shape[1]):
        if subscribes(state, i, e, topic, point, publisher, now):
            return True
    return False


@apart
def report_to_publisher(state, rules, i, kind, e, out):
    """Report WANTED or UNWANTED from the rendezvous cell to a publisher with a stored ADVERT."""
    store = state.store
    store.reported[i, e] = WANTED if kind == messages.WANTED else UNWANTED
    o = point_message(
        state,
        rules,
        i,
        kind,
        store.topic[i, e],
        store.point[i, e],
        store.publisher[i, e],
        store.publisher[i, e],
        out,
    )
    o.args[messages.GOAL_X], o.args[messages.GOAL_Y] = store.x[i, e], store.y[i, e]
    state.reports[i] += 1
    o.args[messages.REPORT], o.reals[messages.REPORTER] = state.reports[i], state.node_id[i]
    dispatch(state, rules, i, o, out)


@apart
def report_changes(state, rules, i, topic, point, now, out):
    """Report to each publisher that gained its first subscriber, or lost its last one, at the
    rendezvous cell; return the number of reports.
    """
    store = state.store
    reports = np.int64(0)
    for e in range(store.kind.shape[1]):
        if is_entry(state, i, e, messages.ADVERT, topic, point, now):
            wanted = has_subscriber(state, i, topic, point, store.publisher[i, e], now)
            if wanted != (store.reported[i, e] == WANTED):
                reports += 1
                kind = messages.WANTED if wanted else messages.UNWANTED
                report_to_publisher(state, rules, i, kind, e, out)
    return reports


@apart
def notify(state, rules, i, message, out):
    """Notify subscribers from the rendezvous cell: [geo §2.2] "forward each of the notifications it
    gets to the interested subscribers".
    """
    now, topic, point = message.at, message.topic, message.args[messages.POINT]
    publisher = message.publisher
    wait = state.fresh_until[i] - now
    advert = entry_name(messages.ADVERT, topic, point, publisher, NONE)
    known = find_entry(state, i, advert, now)
    # A cell that received the publisher's advertisement only recently has just become the home.
    # Then subscriptions are still in flight, or on their way to the other members.
    since = state.store.stamp[i, known] if known >= 0 else now
    if not message["flags"] & messages.WAITED:
        wait = max(wait, since + rules.join_listen_s - now)
    if wait > 0.0:
        o = copy_of(message, messages.NOTIFY, state.node_id[i], out)
        o.at = wait
        o["flags"] = messages.WAITED  # the event is routed again from here
        return
    store = state.store
    for e in range(store.kind.shape[1]):
        if subscribes(state, i, e, topic, point, publisher, now):
            o = copy_of(message, messages.NOTIFY_CLIENT, state.node_id[i], out)
            o["flags"] = 0
            o.target = store.subscriber[i, e]
            o.args[messages.GOAL_X], o.args[messages.GOAL_Y] = store.x[i, e], store.y[i, e]
            dispatch(state, rules, i, o, out)


@apart
def cancel_prunes(state, i, topic, point, subscriber, now):
    """Remove the prunes of a subscriber in the rendezvous cell that are older than its last
    received subscription.
    """
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
    """Store the received entry in a record at the rendezvous cell; return its place, or NO_PLACE if
    it has expired, is an outdated prune, or finds the store full.
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
    """Store a received ADVERT, INTEREST or PRUNE in the rendezvous cell, the home of the entry's
    point.
    """
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
    """Return whether an entry that the rendezvous cell received differs from this member's replica;
    an expiry that is later by at most `join_listen_s` does not count.
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
    """Store a received replica of an entry from another member of the rendezvous cell."""
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
    """Mark in the stored entries of row i the reports to publishers that another member of the
    rendezvous cell has sent, when a replica is received from this member.
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
