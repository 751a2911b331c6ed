"""Gossip: a node pushes a new event to a few random neighbours, or broadcasts the event with a
probability.

Push follows the rumours of Demers et al. 1987, "Epidemic algorithms for replicated database
maintenance", §1.4: a node that receives an event for the first time sends the event to `fanout`
distinct random neighbours in each of `rounds` rounds. Broadcast follows Haas, Halpern & Li 2002,
"Gossip-based ad hoc routing": with `fanout` = BROADCAST, a round is one transmission to all
neighbours. The GOSSIP1(p, k) of this paper is rounds = 1, chance = p, sure_hops = k; p = 1 is
flooding.

Demers' rumours stop by feedback, which needs an answer to each push. We stop after a fixed number
of rounds instead. A node may push an event back to its sender, because the drawn neighbours must
depend on the random state alone.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import EVERYONE
from halfway.core.options import BROADCAST, count, fanout, seconds, share
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states, uniform
from halfway.core.values.ranges import COUNT
from halfway.protocols.parts import application
from halfway.protocols.parts.event_window import (
    WINDOW,
    EventWindows,
    copy_event_id,
    empty_windows,
    record_if_new,
)

KINDS = Kinds({"rounds made": COUNT})
KINDS.include(application.KINDS)
PUSH = KINDS.network(
    2,
    "push",
    "the sender passes an event to one neighbour, or to all neighbours",
    application.EVENT_FIELDS,
    on_map=MapRole.EVENT_HOP,
)
ROUNDS_MADE = 0  # place in `args` of a ROUND
ROUND = KINDS.timer(
    3,
    "round",
    "the next round of an event begins",
    application.EVENT_FIELDS,
    args={"rounds made": ROUNDS_MADE},
)

LOSSES = (
    "a node sends an event to a few random neighbours, so many leaves of a hub receive nothing. "
    "`fanout` = -1 sends to all."
)
NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
OPTIONS = {
    "fanout": fanout(3, "in one round"),
    "rounds": count(3, "number of rounds in which a node sends the same event", 1),
    "period_s": seconds(1.0, "from one round of an event to its next round"),
    "jitter_s": seconds(0.5, "of the longest random delay that a node adds to each wait"),
    "chance": share(1.0, "probability that a node sends a new event at all"),
    "sure_hops": count(
        1,
        "number of hops. A node that receives an event after fewer hops always sends the event",
        0,
        65_535,
    ),
}


class Rules(NamedTuple):
    """The scalars of gossip, equal on every node."""

    fanout: int  # distinct neighbours in a round, or BROADCAST
    rounds: int  # rounds in which a node sends an event
    period_s: float  # from one round to the next
    jitter_s: float  # upper bound of the random delay added to each wait, the first one included
    chance: float  # [Haas et al. 2002] p: the probability that a node sends an event at all
    sure_hops: int  # [Haas et al. 2002] k: after fewer hops a node always sends the event


class GossipState(NamedTuple):
    """The state of nodes of gossip: random state, received events, and subscriptions."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    seen: EventWindows  # the newest events received of each publisher
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes


State = GossipState


def state(
    node_ids: npt.NDArray[np.int32],
    publishers: int,
    topics: int,
    seed: int,
    *,
    in_flight: int = WINDOW,
) -> GossipState:
    """Return the initial state of gossip: no event received, no subscription.

    publishers: whose `in_flight` newest events a node distinguishes; it does not send an older
    event.
    """
    n = len(node_ids)
    return GossipState(
        node_ids,
        random_states(node_ids, seed),
        empty_windows(n, publishers, in_flight),
        application.no_subscriptions(n, topics),
    )


def most_emissions(state: GossipState, rules: Rules) -> int:
    """Return the most records that one call of gossip's `handle` emits."""
    return max(rules.fanout, 1) + 1


@inlined
def start_round_timer(state, rules, i, message, wait, rounds_made, out):
    """Start the timer for the next gossip round of an event."""
    o = emit(out, ROUND, wait + rules.jitter_s * uniform(random_bits(state, i)), state.node_id[i])
    o.topic = message.topic
    copy_event_id(message, o)
    o.args[ROUNDS_MADE] = rounds_made


@inlined
def push(state, rules, neighbourhood, i, message, out):
    """Send an event, as gossip, to `fanout` distinct random neighbours, or to all neighbours.

    The neighbours are drawn by selection sampling [Knuth, TAOCP 2, §3.4.2, algorithm S], which
    needs one draw per neighbour and no memory.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    missing = min(rules.fanout, last - first)
    for e in range(first, last):
        if pick(random_bits(state, i), last - e) < missing:
            application.emit_event(message, PUSH, 0.0, neighbourhood.who[e], out)
            missing -= 1


@inlined
def takes_part(state, rules, i, message):
    """[Haas et al. 2002] Return whether a node takes part in the gossip of an event: always within
    k hops, and beyond with probability p.
    """
    return message.hops < rules.sure_hops or uniform(random_bits(state, i)) < rules.chance


@handles(GossipState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of gossip."""
    # A node that restarts does not resume its rounds, because the crash ended its timers. Gossip
    # relies on other nodes that send the same event.
    if message.kind in (PUSH, application.PUBLISH):
        if record_if_new(state.seen, i, message):
            if takes_part(state, rules, i, message) and rules.rounds > 0:
                start_round_timer(state, rules, i, message, 0.0, 0, out)
            application.notify_application(state, i, message, out)
    elif message.kind == ROUND:
        if rules.fanout == BROADCAST:
            application.emit_event(message, PUSH, 0.0, EVERYONE, out)
        else:
            push(state, rules, neighbourhood, i, message, out)
        rounds_made = message.args[ROUNDS_MADE] + 1
        if rounds_made < rules.rounds:
            start_round_timer(state, rules, i, message, rules.period_s, rounds_made, out)
    elif message.kind in (application.SUBSCRIBE, application.UNSUBSCRIBE):
        application.change_subscription(state, i, message)
