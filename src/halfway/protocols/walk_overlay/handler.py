"""The walk overlay (Muñoz & Leone 2014): its options, its rules, and the handler of all records.

Walks of publishers and subscribers that meet form a tree of overlay links (`overlay_walk`,
`overlay_launch`, `fragments`). When a neighbour goes, `repair` restores the tree. The module
`event_forwarding` forwards events over the tree.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from halfway.core.bloom import Size
from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.options import Option, count, seconds, switch
from halfway.protocols.parts import reliable_hop
from halfway.protocols.walk_overlay import (
    bids,
    ending,
    event_forwarding,
    founding,
    fragments,
    messages,
    overlay_walk,
    repair,
)
from halfway.protocols.walk_overlay.ending import deny_link, leave
from halfway.protocols.walk_overlay.overlay_launch import relaunch
from halfway.protocols.walk_overlay.state import (
    FOR_EVER_S,
    PUBLISHES,
    SUBSCRIBES,
    OverlayState,
    link_of,
    shortfalls,
    state,
)
from halfway.protocols.walk_overlay.subscription_items import Catalogue

__all__ = [
    "KINDS",
    "OPTIONS",
    "Rules",
    "State",
    "handle",
    "limits",
    "most_emissions",
    "shortfalls",
    "state",
]

NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
OPTIONS: dict[str, Option] = {
    "launch_jitter_s": seconds(
        1.0, "of the longest wait of an initiator before its walk. The wait is random"
    )._replace(former_name="join_delay_s"),
    "founding_time_s": seconds(
        0.5,
        "after which an initiator that heard of no overlay founds one. 0 means that each initiator"
        " founds an overlay, and that its first meeting ends its walk",
    ),
    "pure": switch(False, "true means that walks are pure random walks"),
    "alpha": Option(
        1.0, 0.0, 1e9, "weight of the walk's first neighbourhood in the cost of a step"
    ),
    "beta": Option(
        0.0, 0.0, 1e9, "weight of the walk's second neighbourhood in the cost of a step"
    ),
    "branches": count(1, "number of branches of a walk", 1, 2),
    "step_pause_s": seconds(0.01, "that a walk waits on each node before it asks for bids"),
    "bid_timeout_s": seconds(0.02, "that a walk waits for bids. Use more than a round trip"),
    "settling_time_s": seconds(
        1.0, "until a detached fragment starts a walk. The new fragment id spreads in this time"
    ),
    "most_steps": count(100_000, "number of steps after which a walk goes back", 1, 2**31 - 1),
    "false_positives": Option(
        0.01, 1e-6, 0.5, "share of other topics that a filter admits by mistake"
    ),
    "links": count(
        0, "largest number of overlay neighbours of a node. 0 means all neighbours", 0, 1_000_000
    ),
    "buffered_events": count(32, "number of events that a node keeps for later subscribers", 0, 63),
    "buffer_time_s": seconds(30.0, "that an event stays in the buffer"),
    "retries": reliable_hop.RETRIES_OPTION._replace(default=5),
    "ack_timeout_s": reliable_hop.ACK_TIMEOUT_OPTION,
    "ack_backoff": reliable_hop.ACK_BACKOFF_OPTION,
    "relaunch_s": seconds(
        10.0, "after which a node launches a walk again if it met no other walk. 0 means never"
    ),
    "quick_launches": count(
        10,
        "number of walks that start relaunch_s apart. Later walks start at intervals of up to "
        "this number times relaunch_s",
        1,
        1000,
    )._replace(former_name="launches"),
    "link_check_interval_s": seconds(
        1.0, "from one check of the overlay neighbours to the next check. 0 means never"
    ),
    "checks_per_keep_alive": count(
        5, "number of link checks from one keep-alive to the next. 0 means no keep-alives", 0, 1000
    ),
}


class Rules(NamedTuple):
    """The parameters that all nodes of the walk overlay share.

    [dwo Alg. 1] launches walks in an order that no node knows. The paper assumes no loss and no
    faults. So the fields from `launch_jitter_s` on are ours, and the pauses, because bids need
    time.
    """

    catalogue: Catalogue
    pure: bool  # walks are pure random walks
    alpha: float  # [dwo (2)]
    beta: float  # [dwo (2)]; 0: nodes send no FAR
    branches: int  # [dwo §IV] 1 or 2
    step_pause_s: float  # pause of a walk on a node before it asks for bids; marks spread
    bid_timeout_s: float  # wait for bids
    settling_time_s: float  # before a detached fragment walks; its id spreads
    most_steps: int  # then a branch goes back; the paper states no end
    filtered: bool  # False: events go over every overlay link
    bits: int  # length of a filter, a multiple of 32
    hashes: int
    key: int  # key of every hash
    launch_jitter_s: float  # longest wait of an initiator before its walk
    founding_time_s: float  # without news of an overlay, before a root founds one; 0: none
    retries: int  # retransmissions of a hop; 0: hops are not acknowledged
    ack_timeout_s: float  # more than a round trip
    ack_backoff: float  # growth of ack_timeout_s with each retransmission
    relaunch_s: float  # wait before the next walk, if a walk met no other. inf: never
    quick_launches: int  # walks in a row, relaunch_s apart; later ones up to this many times as far
    link_check_interval_s: float  # between two checks of overlay neighbours. inf: never
    checks_per_keep_alive: int  # link checks from one KEEP_ALIVE to the next; 0: none
    buffer_time_s: float  # time in the buffer of an event
    # On the node's own clock: no periodic timer starts after this time. Tests use it to end a run.
    until_s: float = math.inf


def rules_of(values: Mapping[str, Any], contents: Catalogue, size: Size, key: int) -> Rules:
    """Return the rules of the walk overlay from the values of its options, the catalogue and
    the size of the filters; 0 s means never.
    """
    scalars = {name: value for name, value in values.items() if name in Rules._fields}
    for name in ("relaunch_s", "link_check_interval_s"):
        scalars[name] = scalars[name] or math.inf
    return Rules(
        **scalars,
        catalogue=contents,
        filtered=True,
        bits=size.bits,
        hashes=size.hashes,
        key=key,
        until_s=FOR_EVER_S,
    )


KINDS = messages.KINDS
State = OverlayState


MOST_BESIDE = 4  # most emissions of a call for a record that other nodes receive as well


def most_emissions(state: OverlayState, rules: Rules) -> int:
    """Return the most records that one call of the walk overlay's `handle` emits."""
    links, words = state.received.shape[1:]
    # For each link, a call emits a fragment id, a successor, chunks, and the buffered events.
    each = 2 + -(-words // messages.CHUNK_WORDS)
    records = links * each + max(links, state.buffer.shape[1], state.hops.record.shape[1])
    # Each reliable record also has a timer.
    return int(records * (1 + (rules.retries > 0)) + 12)


def limits(state: OverlayState, rules: Rules) -> dict[str, int]:
    """Return the limits of the ranges in the records that the handler of the walk overlay
    receives.
    """
    topic, value = rules.catalogue.topic, rules.catalogue.value
    contents = {"contents": len(value)} if state.values.shape[2] > 0 else {}
    return {"branches": state.bidders.shape[1], "subscriptions": len(topic)} | contents


@apart
def on_command(state, rules, i, message, out):
    """Dispatch a command from the application of a walk-overlay node."""
    kind = message.kind
    if kind == messages.JOIN:
        founding.take_role(state, rules, i, PUBLISHES, message.at, out)
    elif kind == messages.WITHDRAW:
        founding.end_role(state, rules, i, PUBLISHES, out)
    elif kind == messages.PUBLISH:
        event_forwarding.publish(state, rules, i, message, out)
        founding.take_role(state, rules, i, PUBLISHES, message.at, out)
    elif kind == messages.SUBSCRIBE:
        event_forwarding.change_subscription(
            state, rules, i, message[messages.SUBSCRIPTION], True, out
        )
        founding.take_role(state, rules, i, SUBSCRIBES, message.at, out)
    elif kind == messages.UNSUBSCRIBE:
        event_forwarding.change_subscription(
            state, rules, i, message[messages.SUBSCRIPTION], False, out
        )
        if not event_forwarding.has_subscriptions(state, i):
            founding.end_role(state, rules, i, SUBSCRIBES, out)
    elif kind == messages.LEAVE:
        state.members.initiator[i] = 0
        leave(state, rules, i, out)


@apart
def on_walk(state, rules, neighbourhood, i, message, out):
    """Dispatch a record of a walk of the walk overlay, or a timer of a walk."""
    kind = message.kind
    if kind == messages.BID:
        bids.receive_bid(state, i, message)
    elif kind == messages.NEAR:
        overlay_walk.receive_near(state, rules, i, message, out)
    elif kind == messages.FAR:
        overlay_walk.receive_far(state, i, message)
    elif kind == messages.ASK:
        bids.send_bid(state, rules, i, message, out)
    elif kind == messages.STEP:
        overlay_walk.receive_step(state, rules, i, message, out)
        if state.members.root[i] != NONE:
            repair.start_link_check(state, rules, i, message.at, out)
    elif kind == messages.NEXT_STEP:
        overlay_walk.begin_step(state, rules, neighbourhood, i, message, out)
    elif kind == messages.CHOOSE:
        overlay_walk.choose(state, rules, i, message, out)
    elif kind == messages.RELAUNCH:
        relaunch(state, rules, i, message, out)


@apart
def on_founding(state, rules, neighbourhood, i, message, out):
    """Dispatch a record of an initiator of the walk overlay, or one that merges overlays."""
    kind = message.kind
    if kind == messages.BEGIN:
        founding.begin(state, rules, i, message.at, out)
    elif kind == messages.FOUND:
        founding.found(state, rules, i, message.at, out)
    elif kind == messages.PROBE:
        founding.receive_probe(state, rules, neighbourhood, i, message, out)
    else:
        founding.probe_again(state, rules, i, message, out)


@apart
def on_overlay(state, rules, i, message, out):
    """Dispatch a reliable record from a neighbour in the walk overlay."""
    kind = message.kind
    if reliable_hop.acknowledge_if_asked(state.hops, i, message, out):
        return
    if kind == messages.ENDED:
        ending.receive_ended(state, rules, i, message, out)
    elif kind == messages.LINK:
        fragments.receive_link(state, rules, i, message, out)
    elif kind == messages.CUT:
        repair.lose_link(state, rules, i, message.source, message.at, out)
    elif kind == messages.FRAGMENT_ID:
        if fragments.receive_id(state, rules, i, message, out):
            repair.cut_cycle(state, rules, i, message.source, out)
    elif kind == messages.ATTACHED:
        founding.receive_attached(state, rules, i, message, out)
    elif kind == messages.SUCCESSOR:
        repair.receive_successor(state, i, message)
    else:
        on_events(state, rules, i, message, out)


@apart
def on_events(state, rules, i, message, out):
    """Dispatch a CHUNK or an event of the walk overlay; notify a sender that has no link."""
    p = link_of(state, i, message.source)
    if p < 0:
        deny_link(message.source, messages.LEAVES, out)
    if message.kind != messages.CHUNK:
        event_forwarding.receive_event(state, rules, i, message, out)
    elif p >= 0:
        event_forwarding.receive_chunk(state, rules, i, p, message, out)


@apart
def act(state, rules, neighbourhood, i, message, out):
    """Handle one record of the walk overlay in a function that is compiled once.

    Inlined into `handle`, this code would compile for minutes.
    """
    kind = message.kind
    if kind <= messages.LEAVE:
        on_command(state, rules, i, message, out)
    elif kind in (messages.BEGIN, messages.FOUND, messages.PROBE, messages.PROBE_AGAIN):
        on_founding(state, rules, neighbourhood, i, message, out)
    elif kind == messages.CHECK_LINKS:
        repair.check_links(state, rules, neighbourhood, i, message, out)
    elif kind < messages.ENDED or kind in (messages.NEXT_STEP, messages.CHOOSE, messages.RELAUNCH):
        on_walk(state, rules, neighbourhood, i, message, out)
    elif kind <= messages.EVENT or kind == messages.CONTENT_EVENT:
        on_overlay(state, rules, i, message, out)
    elif kind == messages.KEEP_ALIVE:
        repair.receive_keep_alive(state, rules, i, message, out)
    elif kind == reliable_hop.ACK:
        repair.hop_acknowledged(state, rules, i, message, out)
    elif kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.overdue(state.hops, rules, i, message, messages.AGES, out)
        if place != NO_PLACE:
            repair.hop_failed(state, rules, i, place, message.at, out)
    elif kind == messages.START:
        founding.restart(state, rules, i, message, out)


@handles(OverlayState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of the walk overlay."""
    act(state, rules, neighbourhood, i, message, out)
