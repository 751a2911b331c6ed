"""The random walk of a rumor routing agent or query, which avoids recently visited nodes.

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
    """Return the node at a place in the memory of a rumor routing walker, or NONE for an empty
    place.
    """
    return message.args[place] if message.kind in (AGENT, QUERY) else NONE


@inlined
def was_visited(message, node_id):
    """Return whether a node is in a rumor routing walker's memory."""
    found = node_id == message.source
    for place in range(VISITED, VISITED_END):
        found = found or node_id == visited(message, place)
    return found


@inlined
def has_no_neighbour(neighbourhood, i):
    """Return whether row i has no neighbour to which a rumor routing walker can step."""
    return neighbourhood.first[i] == neighbourhood.last[i]


@inlined
def random_step(state, neighbourhood, i, message):
    """Return a random neighbour that is not in the memory of a rumor routing walker; any neighbour
    if the memory has all.
    """
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
    """Emit the next step of a rumor routing walker, and add the sender of `message` to the walker's
    memory.
    """
    o = emit(out, kind, 0.0, next_hop)
    o.topic = message.topic
    o.args[STEPS_LEFT] = steps_left
    o.args[VISITED] = message.source
    for place in range(VISITED + 1, VISITED_END):
        o.args[place] = visited(message, place - 1)
    return o
