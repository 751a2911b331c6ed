"""The overlay of directional walks (Muñoz & Leone 2014): merged network and overlay layer, events.

Walks are in `walk_overlay_walks`, who is linked with whom in `walk_overlay_tree`, subscriptions and
events in `walk_overlay_events`; this file hands each message to its room.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import APP, BOOT
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay_content import Book, Subscription, book
from halfway.protocols.walk_overlay_events import (
    chunk,
    event,
    forget_filters,
    publish,
    want,
)
from halfway.protocols.walk_overlay_memory import (
    ANCHORED,
    ASK,
    BID,
    CHOOSE,
    CHUNK,
    CHUNK_WORDS,
    CONNECTED,
    CUT,
    DELIVERED,
    ENDED,
    EVENT,
    FAR,
    GONE,
    HEIR,
    IDENTITY,
    JOIN,
    JOINING,
    LAUNCH,
    LEAVE,
    LINK,
    LOOK,
    NAMES,
    NEAR,
    NEVER,
    PUBLISH,
    STANDING,
    STEP,
    SUBSCRIBE,
    UNSUBSCRIBE,
    WHY,
    OverlayState,
    Rules,
    degree_of,
    neighbour,
    position_of,
    state,
)
from halfway.protocols.walk_overlay_tree import (
    CIRCLE,
    LEAVES,
    anchored,
    identified,
    linked,
    orphaned,
    unlink,
)
from halfway.protocols.walk_overlay_walks import (
    bid,
    choose,
    count_far,
    count_near,
    ended,
    look,
    set_out,
    step,
    take_bid,
)

__all__ = [
    "BOOT",
    "DELIVERED",
    "KINDS",
    "PUBLISH",
    "Book",
    "Rules",
    "State",
    "Subscription",
    "book",
    "handle",
    "most_emissions",
    "state",
]

State = OverlayState
KINDS = {**NAMES, int(BOOT): "boot"}


def most_emissions(state: OverlayState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del rules
    degree, words = state.heard.shape[1:]
    chunks = -(-words // CHUNK_WORDS)
    return int(degree * (chunks + 1) + 10)


@apart
def initiate(state, rules, i, rank, out):
    """[dwo Alg. 2] be an initiator: already in, or a component of one node that walks."""
    members = state.members
    if members.root[i] != NEVER:
        emit(out, CONNECTED, 0.0, APP)
        return
    members.rank[i] = rank
    members.root[i] = members.name[i]
    members.towards[i] = members.name[i]
    members.seeking[i] = 1
    set_out(state, rules, i, 0.0, out)


@apart
def parted(state, rules, around, i, name, out):
    """The link to an overlay neighbour is no more, whoever ended it."""
    members = state.members
    p = position_of(around, i, name)
    if p < 0 or state.linked[i, p] == 0:
        return
    unlink(state, rules, around, i, p, out)
    if members.towards[i] == name and orphaned(state, around, i, out):
        set_out(state, rules, i, rules.settle, out)


@apart
def circle(state, rules, around, i, message, out):
    """An identity from an overlay neighbour; the link goes if it closes a circle."""
    p = identified(state, around, i, message, out)
    if p >= 0:
        unlink(state, rules, around, i, p, out)
        emit(out, CUT, 0.0, message.source).args[WHY] = CIRCLE


@apart
def outside(state, around, i):
    """Be out of the overlay; the application's subscriptions stay."""
    members = state.members
    for p in range(degree_of(around, i)):
        state.linked[i, p] = 0
        forget_filters(state, i, p)
    members.root[i] = NEVER
    members.towards[i] = NEVER
    members.seeking[i] = 0


@apart
def leave(state, around, i, out):
    """Tell every overlay neighbour that this node leaves."""
    for p in range(degree_of(around, i)):
        if state.linked[i, p] == 1:
            emit(out, CUT, 0.0, neighbour(around, i, p))
    outside(state, around, i)


@apart
def cut(state, rules, around, i, message, out):
    """An overlay neighbour leaves, or the link to it closed a circle: then nobody is orphaned."""
    if message.args[WHY] == LEAVES:
        parted(state, rules, around, i, message.source, out)
        return
    p = position_of(around, i, message.source)
    if p >= 0 and state.linked[i, p] == 1:
        unlink(state, rules, around, i, p, out)


@apart
def inherit(state, around, i, message):
    """A root that is an overlay neighbour tells who takes its place."""
    p = position_of(around, i, message.source)
    if p < 0 or state.linked[i, p] == 0:
        return
    state.members.heir_of[i] = message.source
    state.members.heir[i] = message.target


@apart
def from_application(state, rules, around, book, i, message, out):
    """Letters from above, and from the link layer below."""
    if message.kind == LAUNCH:
        initiate(state, rules, i, STANDING, out)
    elif message.kind == JOIN:
        initiate(state, rules, i, JOINING, out)
    elif message.kind == PUBLISH:
        publish(state, rules, around, book, i, message, out)
    elif message.kind == SUBSCRIBE:
        want(state, rules, around, book, i, message.topic, 1, out)
    elif message.kind == UNSUBSCRIBE:
        want(state, rules, around, book, i, message.topic, 0, out)
    elif message.kind == LEAVE:
        leave(state, around, i, out)
    elif message.kind == GONE:
        parted(state, rules, around, i, np.int32(message.event), out)


@apart
def of_tree(state, rules, around, i, message, out):
    """What overlay neighbours tell each other about the overlay."""
    if message.kind == LINK:
        linked(state, rules, around, i, message, out)
    elif message.kind == CUT:
        cut(state, rules, around, i, message, out)
    elif message.kind == IDENTITY:
        circle(state, rules, around, i, message, out)
    elif message.kind == ANCHORED:
        anchored(state, i, out)
    elif message.kind == HEIR:
        inherit(state, around, i, message)


@apart
def of_walks(state, rules, around, i, message, out):
    """What nodes tell each other, and themselves, of walks that are under way."""
    kind = message.kind
    if kind == BID:
        take_bid(state, around, i, message)
    elif kind == NEAR:
        count_near(state, rules, i, message, out)
    elif kind == FAR:
        count_far(state, i, message)
    elif kind == ASK:
        bid(state, rules, i, message, out)
    elif kind == STEP:
        step(state, rules, around, i, message, out)
    elif kind == LOOK:
        look(state, rules, around, i, message, out)
    elif kind == CHOOSE:
        choose(state, rules, around, i, message, out)
    elif kind == ENDED:
        ended(state, i, message, out)


@apart
def act(state, rules, around, book, i, message, out):
    """What `handle` is, compiled once and called rather than inlined wherever the engine hands on
    a message: that would take minutes of compiling."""
    kind = message.kind
    if kind <= GONE:
        from_application(state, rules, around, book, i, message, out)
    elif kind <= ENDED or kind in (LOOK, CHOOSE):
        of_walks(state, rules, around, i, message, out)
    elif kind <= HEIR:
        of_tree(state, rules, around, i, message, out)
    elif kind == CHUNK:
        chunk(state, rules, around, i, message, out)
    elif kind == EVENT:
        event(state, rules, around, book, i, message, out)
    elif kind == BOOT:
        # What came before the crash is over: its neighbours were told that it is gone.
        outside(state, around, i)


@handles(OverlayState)
def handle(state, rules, around, book, i, message, out):
    """A node's whole behaviour, one message at a time."""
    act(state, rules, around, book, i, message, out)
