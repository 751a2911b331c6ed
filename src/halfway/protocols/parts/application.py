"""The border between a node and its application: the commands publish and subscribe, and the
delivery of events.

Every system that spreads events by topic shares these kinds and functions. A system with its own
commands for subscriptions shares the kinds of events only. A node does not deliver an event to the
application that published it.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.kinds import EVENT_ID, Kinds
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.parts.event_window import copy_event_id

EVENT_FIELDS = f"topic {EVENT_ID}"  # the fields of a kind that carries an event

EVENT_KINDS = Kinds()
# The application fills `topic` and `event`, and numbers both from 0. The driver fills the other
# fields when the node handles the command: `publisher` is the id of the node, and `epoch` is the
# present epoch of the node.
PUBLISH = EVENT_KINDS.command(
    1, "publish", "the application publishes `event` of `topic`", EVENT_FIELDS
)
DELIVERED = EVENT_KINDS.report(
    4, "delivered", "the node delivers an event to a subscriber once", EVENT_FIELDS
)

KINDS = Kinds()
KINDS.include(EVENT_KINDS)
SUBSCRIBE = KINDS.command(5, "subscribe", "the application subscribes to `topic`", "topic")
# No system uses this number. The numbers of reliable hops follow it.
UNSUBSCRIBE = KINDS.command(
    252,
    "unsubscribe",
    "the application ends its subscription to `topic`",
    "topic",
    ends="subscribe",
)


@inlined
def emit_event(message, kind, after, towards, out):
    """Emit a record of `kind` with the event and the topic of the application's `message`."""
    o = emit(out, kind, after, towards)
    o.topic = message.topic
    copy_event_id(message, o)


@inlined
def notify_application(state, i, message, out):
    """Deliver a new event from a neighbour to the application of row i, if the application
    subscribes to the topic.
    """
    if message.kind != PUBLISH and state.subscribed[i, message.topic] == 1:
        emit_event(message, DELIVERED, 0.0, APP, out)


@inlined
def change_subscription(state, i, message):
    """Begin or end a subscription of the application of row i, as its command SUBSCRIBE or
    UNSUBSCRIBE states.
    """
    state.subscribed[i, message.topic] = message.kind == SUBSCRIBE


def no_subscriptions(n: int, topics: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return an empty table [n, topics] of the subscriptions of applications.

    A 1 in this table means that the application of the node subscribes to the topic.
    """
    return np.zeros((n, topics), np.uint8)
