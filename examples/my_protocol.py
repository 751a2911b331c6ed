"""A protocol of one's own in one file: counter-based broadcast, to be laid beside all others.

    halfway compare examples/scenarios/sensor-field.toml --system examples/my_protocol.py

After Ni, Tseng, Chen & Sheu 1999, "The broadcast storm problem in a mobile ad hoc network": who
hears an event for the first time waits for a random while, counts how often it hears the event
again, and repeats it only if that was rarely. A file needs what this one has: `Rules`, `Book`,
`State`, `state`, `most_emissions`, `handle`, and the kinds PUBLISH, SUBSCRIBE and DELIVERED with
their names in `KINDS`. It may import `halfway.core`, `halfway.protocols`, numpy and what comes with
Python.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, random_states, uniform
from halfway.protocols.event_window import empty_window, is_new
from halfway.protocols.flooding import (
    DELIVERED,
    PUBLISH,
    SUBSCRIBE,
    Book,
    emit_event,
    notify_application,
)

__all__ = ["DELIVERED", "PUBLISH", "SUBSCRIBE", "Book", "handle", "most_emissions", "state"]

COPY = 2  # between neighbours
DECIDE = 3  # a letter to oneself: the wait is over

KINDS = {
    PUBLISH: "publish",
    COPY: "copy",
    DECIDE: "decide",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
}

# What a user may set as [options.my-protocol]: (default, least, most, what it is).
OPTIONS = {
    "wait": (0.05, 0.0, 1e9, "seconds; the longest wait before a node decides"),
    "enough": (3, 1, 1000, "copies heard after which a node keeps silent"),
}


class Rules(NamedTuple):
    """The scalars of the protocol, the same on every node."""

    wait: float
    enough: int


class CountState(NamedTuple):
    """What a node remembers. The first axis of every array is the node."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    seen: npt.NDArray[np.int32]  # [n, window] the last events heard of
    copies: npt.NDArray[np.int32]  # [n, window] how often each of these was heard
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic


State = CountState


def state(node_ids: npt.NDArray[np.int32], window: int, topics: int, seed: int) -> CountState:
    """Nodes that have heard of nothing. A protocol without dice leaves `seed` out."""
    seen = empty_window(len(node_ids), window)
    subscribed = np.zeros((len(node_ids), topics), np.uint8)
    return CountState(
        node_ids, random_states(node_ids, seed), seen, np.zeros_like(seen), subscribed
    )


def most_emissions(state: CountState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del state, rules
    return 2


@handles(CountState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time: compiled, so plain loops and numbers."""
    place = message.event % state.copies.shape[1]
    if message.kind in (COPY, PUBLISH):
        if is_new(state.seen, i, message.event):
            state.copies[i, place] = 0
            wait = rules.wait * uniform(random_bits(state, i))
            own = emit(out, DECIDE, wait, state.node_id[i])  # a timer is a letter to oneself
            own.topic = message.topic
            own.event = message.event
            notify_application(state, i, message, out)
        elif state.seen[i, place] == message.event:
            state.copies[i, place] += 1
    elif message.kind == DECIDE:
        if state.copies[i, place] < rules.enough - 1:
            emit_event(message, COPY, 0.0, EVERYONE, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
