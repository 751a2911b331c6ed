"""The border between a node and its application: publish, subscribe, deliver.

Every system that spreads events by topic shares these. A node does not deliver an event to the
application that published it.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.kinds import EVENT_ID, Kinds
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.event_window import copy_event_id

EVENT_FIELDS = f"topic {EVENT_ID}"  # the fields of a kind that carries an event

KINDS = Kinds()
# The application fills `topic` and `event`, which it numbers from 0. The driver fills the rest when
# the node handles the command: `publisher` is the node's id, and `epoch` its epoch then.
PUBLISH = KINDS.command(1, "publish", "the application publishes `event` of `topic`", EVENT_FIELDS)
SUBSCRIBE = KINDS.command(5, "subscribe", "the application subscribes to `topic`", "topic")
DELIVERED = KINDS.report(
    4, "delivered", "the node delivers an event to a subscriber once", EVENT_FIELDS
)
# A number that no system uses, beside those of reliable hops.
UNSUBSCRIBE = KINDS.command(
    252, "unsubscribe", "the application ends its subscription to `topic`", "topic"
)


@inlined
def emit_event(message, kind, after, towards, out):
    """Emit an application's event: a record of `kind` with the event and topic of `message`."""
    o = emit(out, kind, after, towards)
    o.topic = message.topic
    copy_event_id(message, o)


@inlined
def notify_application(state, i, message, out):
    """Deliver a new event from a neighbour to row i's application, if it subscribes to the
    topic.
    """
    if message.kind != PUBLISH and state.subscribed[i, message.topic] == 1:
        emit_event(message, DELIVERED, 0.0, APP, out)


@inlined
def change_subscription(state, i, message):
    """Begin or end a subscription of row i's application, by a command SUBSCRIBE or UNSUBSCRIBE."""
    state.subscribed[i, message.topic] = message.kind == SUBSCRIBE


def no_subscriptions(n: int, topics: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return the table of subscriptions [n, topics] of applications that subscribe to nothing.

    A 1 means that the application of a node subscribes to the topic.
    """
    return np.zeros((n, topics), np.uint8)
