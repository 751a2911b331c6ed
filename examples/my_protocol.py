"""A user's protocol in one file: a node repeats an event with a probability that suits its density.

    halfway compare examples/scenarios/sensor-field.toml --system examples/my_protocol.py

A node with d neighbours repeats a new event with probability min(1, repeats / d), after a random
wait. So a neighbourhood carries about `repeats` transmissions of an event, however dense it is.

A file defines what this one defines: KINDS, Rules, State, state, most_emissions and handle. KINDS
has the kinds publish, subscribe and delivered of `halfway.protocols.parts.application`. A file may
import `halfway.core`, `halfway.protocols`, numpy and Python's own library.
"""

import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import EVERYONE
from halfway.core.prng import random_bits, random_states, uniform
from halfway.protocols.parts import application
from halfway.protocols.parts.application import (
    EVENT_FIELDS,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
    change_subscription,
    emit_event,
    no_subscriptions,
    notify_application,
)
from halfway.protocols.parts.event_window import EventWindows, empty_windows, record_if_new

KINDS = Kinds()
KINDS.include(application.KINDS)
# Number, name, meaning, the header fields that a record fills, and what the map draws for it.
COPY = KINDS.network(
    2,
    "copy",
    "the sender passes an event to every neighbour",
    EVENT_FIELDS,
    on_map=MapRole.EVENT_HOP,
)
REPEAT = KINDS.timer(3, "repeat", "the wait is over: repeat the event", EVENT_FIELDS)

# What a user may set in [options.my-protocol]: (default, low, high, meaning).
OPTIONS = {
    "wait_s": (0.05, 0.0, 1e9, "seconds of the longest wait before a node repeats an event"),
    "repeats": (6.0, 0.0, 1e9, "mean transmissions of an event in a neighbourhood"),
}


class Rules(NamedTuple):
    """The scalars of the protocol, equal on every node: one for each option."""

    wait_s: float
    repeats: float


class State(NamedTuple):
    """The memory of a node. The first axis of every array is the node."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    seen: EventWindows  # the newest events received of each publisher
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes


def state(node_ids: npt.NDArray[np.int32], publishers: int, topics: int, seed: int) -> State:
    """Return nodes that have received no event. A protocol without random numbers omits `seed`."""
    n = len(node_ids)
    return State(
        node_ids,
        random_states(node_ids, seed),
        empty_windows(n, publishers),
        no_subscriptions(n, topics),
    )


def most_emissions(state: State, rules: Rules) -> int:
    """Return the most records that one call of `handle` emits."""
    del state, rules
    return 2


@handles(State)
def handle(state, rules, neighbourhood, i, message, out):
    """Let node i handle one record. This is compiled: use loops, numbers and arrays only."""
    if message.kind in (COPY, PUBLISH):
        if record_if_new(state.seen, i, message):
            neighbours = neighbourhood.last[i] - neighbourhood.first[i]
            chosen = uniform(random_bits(state, i)) * neighbours < rules.repeats
            if chosen or message.kind == PUBLISH:
                wait = rules.wait_s * uniform(random_bits(state, i))
                # A record towards the node itself is a timer.
                emit_event(message, REPEAT, wait, state.node_id[i], out)
            notify_application(state, i, message, out)
    elif message.kind == REPEAT:
        emit_event(message, COPY, 0.0, EVERYONE, out)
    elif message.kind in (SUBSCRIBE, UNSUBSCRIBE):
        change_subscription(state, i, message)


if __name__ == "__main__":
    sys.stdout.write(__doc__ or "")
