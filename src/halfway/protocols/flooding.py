"""Flooding: whoever hears an event for the first time says it once more. The baseline of baselines.

Here too stands what every system that floods, gossips or walks after events shares: the letters
between a node and its application. An event's own publisher is not told of it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.event_window import is_news, nothing_heard

__all__ = ["Book", "FloodState", "Rules", "State", "handle", "most_emissions", "state"]

# Kinds. From the application:
PUBLISH = 1  # spread `event` of `topic`
SUBSCRIBE = 5  # from now on tell of events of `topic`
# Between neighbours, and to oneself:
FLOOD = 2
REPEAT = 3  # a letter to oneself: the time has come to say it again
# To the application:
DELIVERED = 4  # an event for a subscriber, once

KINDS = {
    PUBLISH: "publish",
    FLOOD: "flood",
    REPEAT: "repeat",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
}


class Rules(NamedTuple):
    """The scalars of flooding, the same on every node."""

    wait: float  # seconds between hearing an event and repeating it


class Book(NamedTuple):
    """What ids stand for: nothing beyond their number here."""

    topics: int


class FloodState(NamedTuple):
    """What a node remembers: which events it has heard of, and what it subscribed to."""

    name: npt.NDArray[np.int32]  # [n]
    seen: npt.NDArray[np.int32]  # [n, window] the last events heard of, see `recent`
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic


State = FloodState


def state(names: npt.NDArray[np.int32], window: int, topics: int) -> FloodState:
    """Nodes that have heard of nothing and subscribed to nothing.

    window: events that may be on their way at a time; an older one is not repeated any more.
    """
    n = len(names)
    return FloodState(names, nothing_heard(n, window), np.zeros((n, topics), np.uint8))


def most_emissions(state: FloodState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del state, rules
    return 2


@inlined
def tell(message, kind, after, towards, out):
    """Emit what a message says of an event: the same event, the same topic."""
    o = emit(out, kind, after, towards)
    o.topic = message.topic
    o.event = message.event


@inlined
def inform(state, i, message, out):
    """Tell the application of an event that a neighbour told for the first time, if it wants it."""
    if message.kind != PUBLISH and state.subscribed[i, message.topic] == 1:
        tell(message, DELIVERED, 0.0, APP, out)


@handles(FloodState)
def handle(state, rules, around, book, i, message, out):
    """A node's whole behaviour, one message at a time."""
    # A node that comes back (BOOT) repeats nothing: its REPEATs died with it, and it does not know
    # which. What it heard and did not say is the loss that this baseline has.
    if message.kind in (FLOOD, PUBLISH):
        if is_news(state.seen, i, message.event):
            tell(message, REPEAT, rules.wait, state.name[i], out)
            inform(state, i, message, out)
    elif message.kind == REPEAT:
        tell(message, FLOOD, 0.0, EVERYONE, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
