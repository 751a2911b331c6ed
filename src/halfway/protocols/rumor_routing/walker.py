"""The random walk of an agent or a query of rumor routing, which avoids recently visited nodes.

[Braginsky & Estrin 2002] the list of recently seen nodes straightens the path of an agent.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits
from halfway.protocols.rumor_routing.messages import AGENT, QUERY, STEPS_LEFT, VISITED, VISITED_END


@inlined
def visited(message, place):
    """Return a node that a rumor routing walker remembers, or NONE if it starts with this
    message.
    """
    return message.args[place] if message.kind in (AGENT, QUERY) else NONE


@inlined
def was_visited(message, node_id):
    """Return whether a rumor routing walker remembers that node."""
    found = node_id == message.source
    for place in range(VISITED, VISITED_END):
        found = found or node_id == visited(message, place)
    return found


@inlined
def has_no_neighbour(neighbourhood, i):
    """Return whether a rumor routing walker cannot leave row i at the moment."""
    return neighbourhood.first[i] == neighbourhood.last[i]


@inlined
def random_step(state, neighbourhood, i, message):
    """Return a random neighbour that a rumor routing walker does not
    remember; any if it remembers all."""
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
def emit_walker(message, kind, steps_left, next_hop, out):
    """Emit a rumor routing walker that remembers the sender of `message` and those before it."""
    o = emit(out, kind, 0.0, next_hop)
    o.topic = message.topic
    o.args[STEPS_LEFT] = steps_left
    o.args[VISITED] = message.source
    for place in range(VISITED + 1, VISITED_END):
        o.args[place] = visited(message, place - 1)
    return o
