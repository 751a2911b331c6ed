"""Counter-based broadcast: a node repeats an event unless it received enough copies of this event.

After Ni, Tseng, Chen & Sheu 1999, "The broadcast storm problem in a mobile ad hoc network", §3.2: a
node that receives an event for the first time waits for a random time. Meanwhile it counts the
copies of the event. It repeats the event only if it received fewer than `enough` copies in all.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.core.options import count, seconds
from halfway.core.prng import random_bits, random_states, uniform
from halfway.protocols.parts import application
from halfway.protocols.parts.event_window import (
    WINDOW,
    EventWindows,
    empty_windows,
    place_of_event,
    record_if_new,
    window_length,
    window_slot,
)

KINDS = Kinds()
KINDS.include(application.KINDS)
COPY = KINDS.network(
    2,
    "copy",
    "the sender passes an event to every neighbour",
    application.EVENT_FIELDS,
    on_map=MapRole.EVENT_HOP,
)
DECIDE = KINDS.timer(
    3,
    "decide",
    "the wait is over, and the node decides whether to repeat the event",
    application.EVENT_FIELDS,
)

LOSSES = (
    "a node with enough copies is silent, even if it is the only way to others. Set a larger "
    "`enough`."
)
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    "wait_s": seconds(0.05, "of the longest wait before a node decides whether to repeat an event"),
    "enough": count(
        3, "number of received copies after which a node does not repeat an event", 1, 1000
    ),
}


class Rules(NamedTuple):
    """The scalars of counter-based broadcast, equal on every node."""

    wait_s: float  # the longest wait before a node decides
    enough: int  # [Ni et al. 1999 §3.2] C: copies after which a node does not repeat an event


class CounterState(NamedTuple):
    """The state of a node of counter-based broadcast: random state, events, subscriptions."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    seen: EventWindows  # the newest events received of each publisher
    copies: npt.NDArray[np.uint16]  # [n, places, newest events] further copies received of each
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes


State = CounterState


def state(
    node_ids: npt.NDArray[np.int32],
    publishers: int,
    topics: int,
    seed: int,
    *,
    in_flight: int = WINDOW,
) -> CounterState:
    """Return the initial state of counter-based broadcast: no event received, no subscription.

    publishers: whose `in_flight` newest events a node distinguishes; it does not repeat an older
    event.
    """
    n = len(node_ids)
    seen = empty_windows(n, publishers, in_flight)
    return CounterState(
        node_ids,
        random_states(node_ids, seed),
        seen,
        np.zeros((*seen.of.shape, window_length(seen)), np.uint16),
        application.no_subscriptions(n, topics),
    )


def most_emissions(state: CounterState, rules: Rules) -> int:
    """Return the most records that one call of counter-based broadcast's `handle` emits."""
    return 2


@handles(CounterState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of counter-based broadcast."""
    # A node that restarts repeats nothing: its timers died with it.
    slot = window_slot(state.seen, message.event)
    if message.kind in (COPY, application.PUBLISH):
        is_new = record_if_new(state.seen, i, message)
        place = place_of_event(state.seen, i, message)
        if is_new:
            state.copies[i, place, slot] = 0
            wait = rules.wait_s * uniform(random_bits(state, i))
            application.emit_event(message, DECIDE, wait, state.node_id[i], out)
            application.notify_application(state, i, message, out)
        elif place != NO_PLACE and state.copies[i, place, slot] < rules.enough:
            state.copies[i, place, slot] += 1
    elif message.kind == DECIDE:
        # A node that forgot the publisher meanwhile does not repeat the event.
        place = place_of_event(state.seen, i, message)
        if place != NO_PLACE and state.copies[i, place, slot] < rules.enough - 1:
            application.emit_event(message, COPY, 0.0, EVERYONE, out)
    elif message.kind in (application.SUBSCRIBE, application.UNSUBSCRIBE):
        application.change_subscription(state, i, message)
