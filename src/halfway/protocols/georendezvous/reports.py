"""Reports of a rendezvous cell to publishers, and its notifications to subscribers, in
GeoRendezvous [geo §2.2-2.3].

Any replica that receives a message sends the reports or notifications.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.point_store import (
    entry_name,
    find_entry,
    is_entry,
)
from halfway.protocols.georendezvous.routing import copy_of, dispatch, point_message
from halfway.protocols.georendezvous.state import UNWANTED, WANTED


@apart
def subscribes(state, i, e, topic, point, publisher, now):
    """Return whether notifications of a publisher's events go to the subscriber of an entry in the
    rendezvous cell: it subscribes at the point, without a prune.
    """
    if not is_entry(state, i, e, messages.INTEREST, topic, point, now):
        return False
    subscriber = state.store.subscriber[i, e]
    prune = entry_name(messages.PRUNE, topic, point, publisher, subscriber)
    return find_entry(state, i, prune, now) < 0


@apart
def has_subscriber(state, i, topic, point, publisher, now):
    """Return whether a publisher has a subscriber in the rendezvous cell, so that the report to the
    publisher is WANTED.
    """
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
        state, rules, i, kind, store.topic[i, e], store.point[i, e], store.publisher[i, e],
        store.publisher[i, e], out,
    )  # fmt: skip
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
