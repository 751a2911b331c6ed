"""An agent or a query of Rumor Routing: how it walks, at random but not where it just was."""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits
from halfway.protocols.rumor_routing.state import NONE

# Kinds.
AGENT = 2  # tells of the way to `topic`, and perhaps to a second one
QUERY = 3  # from the subscriber `target`: who knows of `topic`?

# Places in `args`. Of an AGENT and a QUERY alike:
STEPS_LEFT = 0  # steps that it may still make: its time to live
VISITED, VISITED_END = 4, 8  # the nodes before `source`, the latest first; -1 none


@inlined
def visited(message, place):
    """A node that the walker remembers; nobody if the walker only sets out with this message."""
    return message.args[place] if message.kind in (AGENT, QUERY) else NONE


@inlined
def was_visited(message, node_id):
    """Whether a walker remembers that node."""
    found = node_id == message.source
    for place in range(VISITED, VISITED_END):
        found = found or node_id == visited(message, place)
    return found


@inlined
def alone(neighbourhood, i):
    """Whether there is nobody to walk to, at the moment."""
    return neighbourhood.first[i] == neighbourhood.last[i]


@inlined
def onwards(state, neighbourhood, i, message):
    """A random neighbour that the walker does not remember; any if it remembers them all."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    fresh = np.int64(0)
    for e in range(first, last):
        fresh += not was_visited(message, neighbourhood.who[e])
    value = random_bits(state, i)
    if fresh == 0:
        return neighbourhood.who[first + pick(value, last - first)]
    rank = np.int64(pick(value, fresh))
    chosen = first - 1
    while rank >= 0:
        chosen += 1
        if not was_visited(message, neighbourhood.who[chosen]):
            rank -= 1
    return neighbourhood.who[chosen]


@inlined
def walker(message, kind, steps_left, towards, out):
    """An AGENT or QUERY that leaves this node, remembering whom its message came from."""
    o = emit(out, kind, 0.0, towards)
    o.topic = message.topic
    o.args[STEPS_LEFT] = steps_left
    o.args[VISITED] = message.source
    for place in range(VISITED + 1, VISITED_END):
        o.args[place] = visited(message, place - 1)
    return o
