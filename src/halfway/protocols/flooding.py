"""Flooding: a node repeats every event once, when it first receives the event. Flooding is the
simplest baseline.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import EVERYONE
from halfway.core.options import seconds
from halfway.protocols.parts import application
from halfway.protocols.parts.event_window import (
    WINDOW,
    EventWindows,
    empty_windows,
    record_if_new,
)

KINDS = Kinds()
KINDS.include(application.KINDS)
FLOOD = KINDS.network(
    2,
    "flood",
    "the sender passes an event to every neighbour",
    application.EVENT_FIELDS,
    on_map=MapRole.EVENT_HOP,
)
REPEAT = KINDS.timer(
    3, "repeat", "the delay is over, and the node transmits the event", application.EVENT_FIELDS
)

NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {"repeat_delay_s": seconds(0.01, "from the reception of an event to its repetition")}


class Rules(NamedTuple):
    """The scalars of flooding, equal on every node."""

    repeat_delay_s: float


class FloodState(NamedTuple):
    """The state of nodes of flooding: received events, and subscriptions."""

    node_id: npt.NDArray[np.int32]  # [n]
    seen: EventWindows  # the newest events received of each publisher
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes


State = FloodState


def state(
    node_ids: npt.NDArray[np.int32], publishers: int, topics: int, *, in_flight: int = WINDOW
) -> FloodState:
    """Return the initial state of flooding: no event received, no subscription.

    publishers: whose `in_flight` newest events a node distinguishes; it does not repeat an older
    event.
    """
    n = len(node_ids)
    seen = empty_windows(n, publishers, in_flight)
    return FloodState(node_ids, seen, application.no_subscriptions(n, topics))


def most_emissions(state: FloodState, rules: Rules) -> int:
    """Return the most records that one call of flooding's `handle` emits."""
    return 2


@handles(FloodState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of flooding."""
    # A node that restarts repeats nothing, because the crash ended its timers, and the node does
    # not know which events it had still to repeat. This baseline loses these events.
    if message.kind in (FLOOD, application.PUBLISH):
        if record_if_new(state.seen, i, message):
            application.emit_event(message, REPEAT, rules.repeat_delay_s, state.node_id[i], out)
            application.notify_application(state, i, message, out)
    elif message.kind == REPEAT:
        application.emit_event(message, FLOOD, 0.0, EVERYONE, out)
    elif message.kind in (application.SUBSCRIBE, application.UNSUBSCRIBE):
        application.change_subscription(state, i, message)
