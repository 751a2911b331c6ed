"""The members of a cell: coming, staying, going, and what becomes of the keys [geo §2.1].

A newcomer first listens: JOIN, answers HERE and the shelf from those who are there, then HELLO. The
last one to leave a cell, and the homes beside a cell that fills, route their entries anew.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import uniform
from halfway.protocols.georendezvous.cells import closer
from halfway.protocols.georendezvous.reliable_hop import care_for_nothing
from halfway.protocols.georendezvous.rendezvous_cell import CELL_X, CELL_Y, give, hand_down
from halfway.protocols.georendezvous.replication import ALL, drop_others, leads
from halfway.protocols.georendezvous.routing import (
    ADVERT,
    CLIENT_X,
    CLIENT_Y,
    GOAL_X,
    GOAL_Y,
    HANDED,
    STAMP,
    TELL,
    UNTIL,
    blank,
    dispatch,
)
from halfway.protocols.georendezvous.tables import (
    NONE,
    OWN,
    cell_at,
    direction_of,
    drawn,
    forget,
    forget_silent,
    meet,
    member,
    point_of,
    speaks,
)

# Kinds. Between members of a cell and its neighbours:
JOIN = np.uint8(10)  # who is there? I am coming into this cell
HERE = np.uint8(11)  # I am
HELLO = np.uint8(12)  # a beacon: I take part, in this cell
GONE = np.uint8(13)
# To oneself:
READY = np.uint8(30)  # the newcomer has listened long enough
BEACON = np.uint8(31)
RENEW = np.uint8(32)
LIFE = 0  # in their `args`: the life that they belong to

_BEACONS_MISSED = 2.5  # a node that missed so many is gone


@apart
def say(state, i, kind, towards, out):
    """A word about one's own cell."""
    o = emit(out, kind, 0.0, towards)
    o.args[CELL_X], o.args[CELL_Y] = state.cell[i, 0], state.cell[i, 1]


@apart
def remind(state, i, kind, after, out):
    """A letter to oneself that is void after the next boot."""
    o = emit(out, kind, after, state.node_id[i])
    o.args[LIFE] = state.life[i]


@apart
def look_up(state, rules, neighbourhood, i):
    """Where the node is now. True if that is another cell than before."""
    state.place[i, 0], state.place[i, 1] = neighbourhood.x[i], neighbourhood.y[i]
    x, y = cell_at(rules, neighbourhood.x[i], neighbourhood.y[i])
    moved = x != state.cell[i, 0] or y != state.cell[i, 1]
    state.cell[i, 0], state.cell[i, 1] = x, y
    return moved


@apart
def boot(state, rules, neighbourhood, i, out):
    """Switched on, or again: ask who is there, and listen."""
    state.life[i] += 1
    look_up(state, rules, neighbourhood, i)
    for s in range(state.near.node_id.shape[1]):
        state.near.until[i, s] = -1.0
    for e in range(state.shelf.until.shape[1]):
        state.shelf.until[i, e] = -1.0
    care_for_nothing(state, i)
    come(state, rules, i, out)
    # Spread over the period, because otherwise all nodes of a network would beacon at once.
    remind(state, i, BEACON, rules.beacon * (0.5 + 0.5 * uniform(drawn(state, i))), out)
    remind(state, i, RENEW, rules.renew * (0.5 + 0.5 * uniform(drawn(state, i))), out)


@apart
def come(state, rules, i, out):
    """Announce oneself in a cell; READY will follow."""
    state.present[i] = 0
    say(state, i, JOIN, EVERYONE, out)
    remind(state, i, READY, rules.patience, out)


@apart
def ready(state, rules, i, message, out):
    """[geo §2.1] take part. In a cell that was empty, keys may still be on their way."""
    state.present[i] = 1
    if member(state, i, OWN) == NONE:
        state.young_until[i] = message.at + rules.patience
    say(state, i, HELLO, EVERYONE, out)


@apart
def greeted(state, rules, i, message, out):
    """JOIN, HERE, HELLO, GONE: who is where; and what follows for what this cell keeps."""
    x, y = np.int64(message.args[CELL_X]), np.int64(message.args[CELL_Y])
    # With care, whoever is dead does not answer: silence may last longer before it means anything,
    # and lost beacons do not make members of one cell believe in different surroundings.
    until = message.at + (_BEACONS_MISSED + rules.retries) * rules.beacon
    if message.kind == JOIN:
        meet(state, i, message.source, x, y, np.uint8(0), until)
        if state.present[i] == 1 and direction_of(state, i, x, y) >= 0:
            say(state, i, HERE, message.source, out)
            if x == state.cell[i, 0] and y == state.cell[i, 1]:
                give(state, rules, i, message.source, message.at, out)
    elif message.kind == GONE:
        forget(state, i, message.source)
    else:
        filled = meet(state, i, message.source, x, y, np.uint8(1), until)
        if filled and message.kind == HELLO and state.present[i] == 1:
            if rules.keepers != ALL or speaks(state, i):
                look_again(state, rules, i, NONE, NONE, x, y, message.at, out)
            warn_homes(state, rules, i, x, y, message.at, out)


@apart
def beacon(state, rules, neighbourhood, i, message, out):
    """Say that one is there; notice who is not any more, and whether one has moved."""
    if forget_silent(state, i, message.at):
        hand_down(state, rules, i, message.at, out)
    was_x, was_y = state.cell[i, 0], state.cell[i, 1]
    if state.present[i] == 1 and look_up(state, rules, neighbourhood, i):
        now_x, now_y = state.cell[i, 0], state.cell[i, 1]
        state.cell[i, 0], state.cell[i, 1] = was_x, was_y
        leave(state, rules, i, message, out)
        state.cell[i, 0], state.cell[i, 1] = now_x, now_y
        for e in range(state.shelf.until.shape[1]):
            state.shelf.until[i, e] = -1.0
        come(state, rules, i, out)
    elif state.present[i] == 1:
        drop_others(state, rules, i)
        say(state, i, HELLO, EVERYONE, out)
    remind(state, i, BEACON, rules.beacon, out)


@apart
def leave(state, rules, i, message, out):
    """Take leave: the last of a cell hands its keys to whoever is the home without it."""
    say(state, i, GONE, EVERYONE, out)
    state.present[i] = 0
    if member(state, i, OWN) == NONE:
        x, y = state.cell[i, 0], state.cell[i, 1]
        look_again(state, rules, i, NONE, NONE, x, y, message.at, out)
    else:
        hand_down(state, rules, i, message.at, out)


@apart
def is_closer(state, rules, topic, number, ax, ay, bx, by):
    """Whether cell a comes before cell b as the home of a rendezvous point."""
    column, row = cell_at(rules, *point_of(rules, topic, number))
    return closer(ax, ay, bx, by, column, row)


@apart
def look_again(state, rules, i, topic, number, x, y, now, out):
    """Route the entries of one point (NONE: of all) anew: they end up where the home is now.

    (x, y): the cell that has filled, to which no other points can go than those that it is closer
    to; the own cell: whatever has happened.
    """
    shelf = state.shelf
    here_x, here_y = state.cell[i, 0], state.cell[i, 1]
    # Advertisements last: a home that has one knows who waits for that publisher.
    for last in range(2):
        for e in range(shelf.what.shape[1]):
            turn = (shelf.what[i, e] == ADVERT) == (last == 1) and shelf.until[i, e] > now
            mine = topic < 0 or (shelf.topic[i, e] == topic and shelf.number[i, e] == number)
            if not turn or not mine:
                continue
            key = shelf.topic[i, e], shelf.number[i, e]
            anywhere = x == here_x and y == here_y
            # Who is asked for one point was asked alone, and need not be the one that leads.
            speaks_up = rules.keepers == ALL or topic >= 0 or leads(state, rules, i, *key)
            if speaks_up and (anywhere or is_closer(state, rules, *key, x, y, here_x, here_y)):
                route_entry(state, rules, i, e, out)


@apart
def route_entry(state, rules, i, e, out):
    """An entry of the shelf on its way to the home of its point, unless that must be here."""
    shelf = state.shelf
    o = blank(
        state, rules, i, shelf.what[i, e], shelf.topic[i, e], shelf.number[i, e],
        shelf.publisher[i, e], shelf.subscriber[i, e], out,
    )  # fmt: skip
    o.reals[CLIENT_X], o.reals[CLIENT_Y] = shelf.x[i, e], shelf.y[i, e]
    o.reals[UNTIL], o.reals[STAMP] = shelf.until[i, e], shelf.stamp[i, e]
    o["flags"] = HANDED
    dispatch(state, rules, i, o, out)


@apart
def warn_homes(state, rules, i, x, y, now, out):
    """A cell beside home perimeters has filled: homes that are farther off look again."""
    tours = state.tours
    for t in range(tours.topic.shape[1]):
        if tours.until[i, t] > now and is_closer(
            state, rules, tours.topic[i, t], tours.number[i, t], x, y,
            np.int64(tours.x[i, t]), np.int64(tours.y[i, t]),
        ):  # fmt: skip
            o = blank(state, rules, i, TELL, tours.topic[i, t], tours.number[i, t], NONE, NONE, out)
            o.args[GOAL_X], o.args[GOAL_Y] = tours.x[i, t], tours.y[i, t]
            dispatch(state, rules, i, o, out)
