"""Gossip: an event is told to a few neighbours, or by a few nodes, instead of to all by everybody.

Push, after the rumours of Demers et al. 1987, "Epidemic algorithms for replicated database
maintenance": who hears an event first tells `fanout` distinct random neighbours in each of
`rounds` rounds. Broadcast, after Haas, Halpern & Li 2002, "Gossip-based ad hoc routing": with
`fanout` = WHOLE a round is one transmission that every neighbour hears; their GOSSIP1(p, k) is then
rounds = 1, chance = p, sure_hops = k, and flooding is p = 1.

We stop after a fixed number of rounds, because a rumour that cools off by feedback, as one of the
former's variants does, needs an answer to each push; and we do not spare the neighbour that told
us, because who is drawn shall depend on the dice alone.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states, uniform
from halfway.protocols.event_window import empty_window, is_new
from halfway.protocols.flooding import (
    DELIVERED,
    PUBLISH,
    SUBSCRIBE,
    Book,
    emit_event,
    notify_application,
)

__all__ = [
    "DELIVERED",
    "PUBLISH",
    "SUBSCRIBE",
    "Book",
    "GossipState",
    "Rules",
    "State",
    "handle",
    "most_emissions",
    "state",
]

# Kinds beside those of the application (PUBLISH, SUBSCRIBE, DELIVERED), which are flooding's.
PUSH = 2  # between neighbours
ROUND = 3  # a letter to oneself: tell it again

KINDS = {
    PUBLISH: "publish",
    PUSH: "push",
    ROUND: "round",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
}

ROUNDS = 0  # place in a ROUND's `args`: rounds made so far
WHOLE = -1  # a fanout: the whole neighbourhood by one transmission


class Rules(NamedTuple):
    """The scalars of gossip, the same on every node."""

    fanout: int  # distinct neighbours told in a round, or WHOLE
    rounds: int  # rounds in which a node tells an event
    period: float  # seconds from one round to the next
    jitter: float  # seconds; each wait is longer by a random part of it, the first wait as well
    chance: float = 1.0  # [Haas et al.] p: the probability that a node tells an event at all
    sure_hops: int = 1  # [Haas et al.] k: nodes that heard it after fewer hops always tell it


class GossipState(NamedTuple):
    """What a node remembers: its dice, which events it has heard of, what it subscribed to."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    seen: npt.NDArray[np.int32]  # [n, window] the last events heard of, see `recent`
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic


State = GossipState


def state(node_ids: npt.NDArray[np.int32], window: int, topics: int, seed: int) -> GossipState:
    """Nodes that have heard of nothing and subscribed to nothing.

    window: events that may be on their way at a time; an older one is not told any more.
    """
    subscribed = np.zeros((len(node_ids), topics), np.uint8)
    return GossipState(
        node_ids, random_states(node_ids, seed), empty_window(len(node_ids), window), subscribed
    )


def most_emissions(state: GossipState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del state
    return max(rules.fanout, 1) + 1


@inlined
def plan_round(state, rules, i, message, wait, made, out):
    """A letter to oneself for the next round of an event."""
    o = emit(out, ROUND, wait + rules.jitter * uniform(random_bits(state, i)), state.node_id[i])
    o.topic = message.topic
    o.event = message.event
    o.args[ROUNDS] = made


@inlined
def push(state, rules, neighbourhood, i, message, out):
    """Tell `fanout` distinct neighbours, every such set being equally likely; all if there are few.

    Selection sampling [Knuth, TAOCP 2, §3.4.2, algorithm S]: no memory, a draw per neighbour.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    wanted = min(rules.fanout, last - first)
    for e in range(first, last):
        if pick(random_bits(state, i), last - e) < wanted:
            emit_event(message, PUSH, 0.0, neighbourhood.who[e], out)
            wanted -= 1


@inlined
def takes_part(state, rules, i, message):
    """[Haas et al.] certainly within the first k hops, with probability p beyond them."""
    return message.hops < rules.sure_hops or uniform(random_bits(state, i)) < rules.chance


@handles(GossipState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    # A node that comes back (BOOT) does not take its rounds up again: it does not remember which it
    # still owed, and that others tell the same event is what gossip relies on.
    if message.kind in (PUSH, PUBLISH):
        if is_new(state.seen, i, message.event):
            if takes_part(state, rules, i, message) and rules.rounds > 0:
                plan_round(state, rules, i, message, 0.0, 0, out)
            notify_application(state, i, message, out)
    elif message.kind == ROUND:
        if rules.fanout == WHOLE:
            emit_event(message, PUSH, 0.0, EVERYONE, out)
        else:
            push(state, rules, neighbourhood, i, message, out)
        made = message.args[ROUNDS] + 1
        if made < rules.rounds:
            plan_round(state, rules, i, message, rules.period, made, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
