"""The overlay of directional walks (Muñoz & Leone 2014): merged network and overlay layer, events.

Walks are in `walk_overlay_walks`, who is linked with whom in `walk_overlay_tree`, what becomes of
it when neighbours go in `walk_overlay_repair`, filters and events in `walk_overlay_filters` and
`walk_overlay_events`; this file hands each message to its room.
"""

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import APP, START
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay.events import chunk, publish, take_event
from halfway.protocols.walk_overlay.filters import refresh, want
from halfway.protocols.walk_overlay.launch import relaunch
from halfway.protocols.walk_overlay.membership import (
    anchored,
    identified,
    linked,
    made_ready,
    of_component,
    refuse,
)
from halfway.protocols.walk_overlay.messages import (
    ACK,
    ANCHORED,
    ASK,
    BID,
    CHOOSE,
    CHUNK_WORDS,
    CONNECTED,
    CUT,
    DELIVERED,
    ENDED,
    EVENT,
    FAR,
    HEIR,
    IDENTITY,
    JOIN,
    JOINING,
    KEEP,
    LAUNCH,
    LEAVE,
    LEAVES,
    LINK,
    LOOK,
    NAMES,
    NEAR,
    NEVER,
    PATIENCE,
    PUBLISH,
    RANK,
    RELAUNCH,
    ROOT,
    SERIAL,
    STANDING,
    STEP,
    SUBSCRIBE,
    UNSUBSCRIBE,
    WATCH,
    Rules,
)
from halfway.protocols.walk_overlay.reliable_hop import arrived_before, give_up_hop, hop_of, overdue
from halfway.protocols.walk_overlay.repair import (
    back_again,
    circle,
    cut,
    failed,
    inherit,
    initiate,
    kept_up,
    leave,
    start_watch,
    watch,
)
from halfway.protocols.walk_overlay.state import OverlayState, link_of, state
from halfway.protocols.walk_overlay.subscriptions import Catalogue, Subscription, catalogue
from halfway.protocols.walk_overlay.walk import (
    bid,
    choose,
    count_far,
    count_near,
    ended,
    look,
    step,
    take_bid,
)

__all__ = [
    "DELIVERED",
    "JOIN",
    "KINDS",
    "LAUNCH",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "Catalogue",
    "Rules",
    "State",
    "Subscription",
    "catalogue",
    "handle",
    "most_emissions",
    "state",
]

State = OverlayState
KINDS = NAMES


def most_emissions(state: OverlayState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    links, words = state.heard.shape[1:]
    # An identity, news of an heir, chunks, and the kept events for each overlay neighbour.
    told = links * (2 + -(-words // CHUNK_WORDS)) + max(links, state.kept.shape[1])
    # Whatever is sent with care is followed by a letter to oneself.
    return int(told * (1 + (rules.retries > 0)) + 12)


@apart
def from_application(state, rules, catalogue, i, message, out):
    """Letters from above."""
    members = state.members
    if message.kind in (LAUNCH, JOIN):
        members.initiator[i] = 1
        if members.root[i] != NEVER:  # [dwo Alg. 2, line 4] in already
            emit(out, CONNECTED, 0.0, APP)
        else:
            rank = STANDING if message.kind == LAUNCH else JOINING
            initiate(state, rules, i, rank, message.at, out)
    elif message.kind == PUBLISH:
        publish(state, rules, catalogue, i, message, out)
    elif message.kind == SUBSCRIBE:
        want(state, rules, catalogue, i, message.topic, True, out)
    elif message.kind == UNSUBSCRIBE:
        want(state, rules, catalogue, i, message.topic, False, out)
    elif message.kind == LEAVE:
        members.initiator[i] = 0
        leave(state, rules, i, out)


@apart
def of_walks(state, rules, neighbourhood, i, message, out):
    """What nodes tell each other, and themselves, of walks that are under way."""
    kind = message.kind
    if kind == BID:
        take_bid(state, i, message)
    elif kind == NEAR:
        count_near(state, rules, i, message, out)
    elif kind == FAR:
        count_far(state, i, message)
    elif kind == ASK:
        bid(state, rules, i, message, out)
    elif kind == STEP:
        step(state, rules, i, message, out)
        if state.members.root[i] != NEVER:
            start_watch(state, rules, i, message.at, out)
    elif kind == LOOK:
        look(state, rules, neighbourhood, i, message, out)
    elif kind == CHOOSE:
        choose(state, rules, i, message, out)
    elif kind == RELAUNCH:
        relaunch(state, rules, i, message, out)


@apart
def with_answer(state, rules, catalogue, i, message, out):
    """What overlay neighbours tell each other, acknowledged where they want it."""
    kind = message.kind
    if arrived_before(state, i, message, out):
        return
    if kind == ENDED:
        ended(state, rules, i, message, out)
    elif kind == LINK:
        linked(state, rules, i, message, out)
    elif kind == CUT:
        cut(state, rules, i, message, out)
    elif kind == IDENTITY:
        if identified(state, rules, i, message, out):
            circle(state, rules, i, message.source, out)
    elif kind == ANCHORED:
        anchored(state, rules, i, message, out)
    elif kind == HEIR:
        inherit(state, i, message)
    else:
        of_events(state, rules, catalogue, i, message, out)


@apart
def of_events(state, rules, catalogue, i, message, out):
    """Filters and events, from whoever believes in a link; if there is none it is told so."""
    p = link_of(state, i, message.source)
    if p < 0:
        refuse(message.source, LEAVES, out)
    if message.kind == EVENT:
        take_event(state, rules, catalogue, i, message, out)
    elif p >= 0:
        chunk(state, rules, catalogue, i, p, message, out)


@apart
def acknowledged(state, rules, i, message, out):
    """A hop with care has arrived; a link is ready then, and there is room for what is owed."""
    h = hop_of(state, i, message.reals[SERIAL])
    if h < 0 or state.hops.to[i, h] != message.source:
        return
    kind = state.hops.kind[i, h]
    rank, root = state.hops.args[i, h][RANK], state.hops.args[i, h][ROOT]
    give_up_hop(state, i, h)
    p = link_of(state, i, message.source)
    if kind == LINK and p >= 0:
        made_ready(state, rules, i, p, out)
        told = state.members.rank[i] == rank and state.members.root[i] == root
        if not told and state.members.towards[i] != message.source:
            of_component(state, rules, i, IDENTITY, message.source, 0, out)
    elif state.members.owing[i] == 1:
        refresh(state, rules, i, out)


@apart
def act(state, rules, neighbourhood, catalogue, i, message, out):
    """What `handle` is, compiled once and called rather than inlined wherever the engine hands on
    a message: that would take minutes of compiling."""
    kind = message.kind
    if kind <= LEAVE:
        from_application(state, rules, catalogue, i, message, out)
    elif kind == WATCH:
        watch(state, rules, neighbourhood, i, message, out)
    elif kind < ENDED or kind in (LOOK, CHOOSE, RELAUNCH):
        of_walks(state, rules, neighbourhood, i, message, out)
    elif kind <= EVENT:
        with_answer(state, rules, catalogue, i, message, out)
    elif kind == KEEP:
        kept_up(state, rules, i, message, out)
    elif kind == ACK:
        acknowledged(state, rules, i, message, out)
    elif kind == PATIENCE:
        h = overdue(state, rules, i, message, out)
        if h >= 0:
            failed(state, rules, i, h, message.at, out)
    elif kind == START:
        back_again(state, rules, i, message.at, out)


@handles(OverlayState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    act(state, rules, neighbourhood, rules.catalogue, i, message, out)
