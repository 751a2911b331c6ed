"""The rendezvous cell [geo §2.2-2.3]: shared entries, publishers told, events sent on.

Whichever keeper a message reaches acts on it and shares the entry by one transmission that the
whole cell hears.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.georendezvous.reliable_hop import watch
from halfway.protocols.georendezvous.replication import ALL, keeps, leads, would_keep
from halfway.protocols.georendezvous.routing import (
    ADVERT,
    CLIENT_X,
    CLIENT_Y,
    GOAL_X,
    GOAL_Y,
    HANDED,
    INTEREST,
    NOTE,
    NOTIFY,
    NUMBER,
    PRUNE,
    PUBLISHER,
    STAMP,
    UNTIL,
    UNWANTED,
    WAITED,
    WANTED,
    blank,
    copied,
    dispatch,
)
from halfway.protocols.georendezvous.tables import NONE, OWN, direction_of, entry, put

SHARE = np.uint8(14)  # an entry of the shelf, to the members of the cell
# What a publisher was told by this cell; that nobody is left, by this very member.
TOLD_NOTHING, TOLD_WANTED, TOLD_UNWANTED = 0, 1, 2
# Places in its `args`; the cell is where a beacon has it.
CELL_X, CELL_Y = 0, 1
WHAT, SHARED_NUMBER, SHARED_PUBLISHER, SHARED_X, SHARED_Y = 2, 3, 5, 6, 7  # 4 is SERIAL
# In its `flags`:
IS_WANTED, ASKED = np.uint8(1), np.uint8(2)


@apart
def give(state, rules, i, newcomer, now, out):
    """What a newcomer will keep of the keys that this member speaks for."""
    shelf = state.shelf
    for e in range(shelf.what.shape[1]):
        topic, number = shelf.topic[i, e], shelf.number[i, e]
        if (
            shelf.until[i, e] > now
            and leads(state, rules, i, topic, number)
            and would_keep(state, rules, i, newcomer, topic, number)
        ):
            share(state, rules, i, e, ASKED, newcomer, out)


@apart
def hand_down(state, rules, i, now, out):
    """Keys that are divided have lost a keeper: those that this member keeps, to all others."""
    for e in range(state.shelf.what.shape[1]):
        if rules.keepers != ALL and state.shelf.until[i, e] > now:
            told(state, i, e, ASKED, EVERYONE, out)


@apart
def share(state, rules, i, e, asked, towards, out):
    """An entry of the shelf to the members of the cell; `asked`: WANTED went out if it had to.

    A broadcast that somebody did not hear is not repeated: with care, each member is told again.
    """
    o = told(state, i, e, asked, towards, out)
    if rules.retries == 0:
        return
    if towards != EVERYONE:
        watch(state, rules, i, o, out)
        return
    near = state.near
    for s in range(near.node_id.shape[1]):
        here = direction_of(state, i, near.x[i, s], near.y[i, s]) == OWN
        if near.until[i, s] > 0.0 and here:
            watch(state, rules, i, told(state, i, e, asked, near.node_id[i, s], out), out)


@apart
def told(state, i, e, asked, towards, out):
    """The record of an entry of the shelf."""
    shelf = state.shelf
    o = emit(out, SHARE, 0.0, towards)
    o.topic, o.target = shelf.topic[i, e], shelf.subscriber[i, e]
    o.args[CELL_X], o.args[CELL_Y] = state.cell[i, 0], state.cell[i, 1]
    o.args[WHAT], o.args[SHARED_NUMBER] = shelf.what[i, e], shelf.number[i, e]
    o.args[SHARED_PUBLISHER] = shelf.publisher[i, e]
    o.args[SHARED_X], o.args[SHARED_Y] = shelf.x[i, e], shelf.y[i, e]
    o["flags"] = asked | (IS_WANTED if shelf.wanted[i, e] == TOLD_WANTED else np.uint8(0))
    o.reals[UNTIL], o.reals[STAMP] = shelf.until[i, e], shelf.stamp[i, e]
    return o


@apart
def pruned(state, i, topic, number, publisher, subscriber, now):
    """Whether a subscriber hears a publisher through another point."""
    return entry(state, i, PRUNE, topic, number, publisher, subscriber, now) >= 0


@apart
def taker(state, i, topic, number, publisher, now):
    """Whether anybody waits here for a publisher."""
    shelf = state.shelf
    for e in range(shelf.what.shape[1]):
        if (
            shelf.until[i, e] > now
            and shelf.what[i, e] == INTEREST
            and shelf.topic[i, e] == topic
            and shelf.number[i, e] == number
            and not pruned(state, i, topic, number, publisher, shelf.subscriber[i, e], now)
        ):
            return True
    return False


@apart
def tell_publisher(state, rules, i, kind, e, out):
    """WANTED or UNWANTED to the publisher of an advertisement on the shelf."""
    shelf = state.shelf
    shelf.wanted[i, e] = TOLD_WANTED if kind == WANTED else TOLD_UNWANTED
    o = blank(
        state, rules, i, kind, shelf.topic[i, e], shelf.number[i, e], shelf.publisher[i, e],
        shelf.publisher[i, e], out,
    )  # fmt: skip
    o.args[GOAL_X], o.args[GOAL_Y] = shelf.x[i, e], shelf.y[i, e]
    dispatch(state, rules, i, o, out)


@apart
def settle(state, rules, i, topic, number, now, out):
    """Tell each publisher of a point whose takers have come or gone. How many were told."""
    shelf = state.shelf
    told = np.int64(0)
    for e in range(shelf.what.shape[1]):
        if (
            shelf.until[i, e] > now
            and shelf.what[i, e] == ADVERT
            and shelf.topic[i, e] == topic
            and shelf.number[i, e] == number
        ):
            wanted = taker(state, i, topic, number, shelf.publisher[i, e], now)
            if wanted != (shelf.wanted[i, e] == TOLD_WANTED):
                told += 1
                tell_publisher(state, rules, i, WANTED if wanted else UNWANTED, e, out)
    return told


@apart
def revive(state, i, topic, number, subscriber, now):
    """Forget what a subscriber pruned here before it last tried the point anew."""
    # By its own clock, because the two may have come to different members of the cell.
    shelf = state.shelf
    tried = entry(state, i, INTEREST, topic, number, NONE, subscriber, now)
    if tried < 0:
        return
    for e in range(shelf.what.shape[1]):
        if (
            shelf.what[i, e] == PRUNE
            and shelf.topic[i, e] == topic
            and shelf.number[i, e] == number
            and shelf.subscriber[i, e] == subscriber
            and shelf.stamp[i, e] <= shelf.stamp[i, tried]
        ):
            shelf.until[i, e] = -1.0


@apart
def take_in(state, rules, i, message, out):
    """ADVERT, INTEREST or PRUNE has found the home of its point, and that is this cell."""
    now, topic, number = message.at, message.topic, message.args[NUMBER]
    until = message.reals[UNTIL] if message["flags"] & HANDED else now + rules.lifetime
    publisher, stamp = message.args[PUBLISHER], message.reals[STAMP]
    if message.kind == ADVERT:
        known = entry(state, i, ADVERT, topic, number, publisher, NONE, now)
        stamp = now if known < 0 else state.shelf.stamp[i, known]
    e = put(
        state, i, message.kind, topic, number, publisher, message.target,
        np.int32(message.reals[CLIENT_X]), np.int32(message.reals[CLIENT_Y]), until,
        stamp, now,
    )  # fmt: skip
    if e < 0:
        return
    revive(state, i, topic, number, message.target, now)
    # [geo §2.2] "The rendezvous cell only needs to do this for the first subscriber"; we repeat it
    # when the publisher renews, because what it was told is soft as well.
    if message.kind == ADVERT and not message["flags"] & HANDED:
        state.shelf.wanted[i, e] = TOLD_NOTHING
    asked = settle(state, rules, i, topic, number, now, out)
    share(state, rules, i, e, ASKED if asked > 0 else np.uint8(0), EVERYONE, out)


@apart
def take_share(state, rules, i, message, out):
    """What another member of the cell keeps, this one keeps as well."""
    if message.args[CELL_X] != state.cell[i, 0] or message.args[CELL_Y] != state.cell[i, 1]:
        return
    now, topic, number = message.at, message.topic, message.args[SHARED_NUMBER]
    if not keeps(state, rules, i, topic, number):
        return
    what, publisher = np.uint8(message.args[WHAT]), message.args[SHARED_PUBLISHER]
    e = put(
        state, i, what, topic, number, publisher, message.target,
        message.args[SHARED_X], message.args[SHARED_Y], message.reals[UNTIL],
        message.reals[STAMP], now,
    )  # fmt: skip
    if e < 0:
        return
    revive(state, i, topic, number, message.target, now)
    if what == ADVERT:
        state.shelf.wanted[i, e] = message["flags"] & IS_WANTED
    elif state.present[i] == 0:
        return
    elif message["flags"] & ASKED == 0 and what == INTEREST:
        # Its sender saw no need to tell a publisher; if this member does, it is told.
        settle(state, rules, i, topic, number, now, out)
    else:
        agree(state, rules, i, topic, number, now, out)


@apart
def agree(state, rules, i, topic, number, now, out):
    """Another member has told the publishers already: note what they know."""
    shelf = state.shelf
    for e in range(shelf.what.shape[1]):
        if (
            shelf.until[i, e] > now
            and shelf.what[i, e] == ADVERT
            and shelf.topic[i, e] == topic
            and shelf.number[i, e] == number
        ):
            wanted = taker(state, i, topic, number, shelf.publisher[i, e], now)
            if wanted and shelf.wanted[i, e] == TOLD_UNWANTED:
                # What this member said may overtake what the other one said: take it back.
                tell_publisher(state, rules, i, WANTED, e, out)
            elif wanted or shelf.wanted[i, e] == TOLD_WANTED:
                shelf.wanted[i, e] = TOLD_WANTED if wanted else TOLD_NOTHING


@apart
def notify(state, rules, i, message, out):
    """[geo §2.2] "forward each of the notifications it gets to the interested subscribers"."""
    wait = state.young_until[i] - message.at
    known = entry(
        state, i, ADVERT, message.topic, message.args[NUMBER], message.args[PUBLISHER], NONE,
        message.at,
    )  # fmt: skip
    # A cell that has not had the publisher's advertisement for long has just become its home: the
    # subscriptions are on their way, or are being told to its members.
    since = state.shelf.stamp[i, known] if known >= 0 else message.at
    if not message["flags"] & WAITED:
        wait = max(wait, since + rules.patience - message.at)
    if wait > 0.0:
        o = copied(message, NOTIFY, state.node_id[i], out)
        o.at = wait
        o["flags"] = WAITED  # from here anew, when the time has come
        return
    shelf, now = state.shelf, message.at
    for e in range(shelf.what.shape[1]):
        if (
            shelf.until[i, e] > now
            and shelf.what[i, e] == INTEREST
            and shelf.topic[i, e] == message.topic
            and shelf.number[i, e] == message.args[NUMBER]
            and not pruned(
                state, i, message.topic, message.args[NUMBER], message.args[PUBLISHER],
                shelf.subscriber[i, e], now,
            )
        ):  # fmt: skip
            o = copied(message, NOTE, state.node_id[i], out)
            o["flags"] = 0
            o.target = shelf.subscriber[i, e]
            o.args[GOAL_X], o.args[GOAL_Y] = shelf.x[i, e], shelf.y[i, e]
            dispatch(state, rules, i, o, out)
