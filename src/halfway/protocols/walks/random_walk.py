"""Pure random walks [drw §4.1]: the next node is any neighbour. The papers' baseline."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.prng import mixed, pick
from halfway.protocols.walks import rendezvous
from halfway.protocols.walks.launch import go_on, leg
from halfway.protocols.walks.rendezvous import (
    DELIVERED,
    KINDS,
    LAUNCH,
    NEVER,
    PUBLISH,
    Book,
    Rules,
    Trace,
    draws,
    trace,
)

__all__ = [
    "DELIVERED",
    "KINDS",
    "LAUNCH",
    "PUBLISH",
    "START",
    "Book",
    "RandomState",
    "Rules",
    "State",
    "handle",
    "most_emissions",
    "state",
]


class RandomState(NamedTuple):
    """The traces alone: a pure walk remembers nothing else."""

    trace: Trace


State = RandomState


def state(
    node_ids: npt.NDArray[np.int32], degree: int, topics: int, seed: int, **memory: int
) -> RandomState:
    """Nodes that no walk has passed. `degree` is not needed here, but asked of every system.

    memory: `slots`, `window` and `hold` of `rendezvous.trace`.
    """
    del degree
    return RandomState(trace(node_ids, topics, seed, **memory))


def most_emissions(state: RandomState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    return rendezvous.most_emissions(state.trace, rules)


@inlined
def anywhere(neighbourhood, i, value, shunned):
    """Any neighbour, each equally likely; the shunned one only where there is no other."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    if shunned == NEVER or last - first == 1:
        return neighbourhood.who[first + pick(value, last - first)]
    place = first
    while place < last and neighbourhood.who[place] != shunned:
        place += 1
    chosen = first + np.int64(pick(value, last - first - (place < last)))
    return neighbourhood.who[chosen + (chosen >= place)]


@handles(RandomState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    memory = state.trace
    drawn, slot = draws(memory, rules, neighbourhood, i, message, out)
    if drawn:
        _, word, _, shunned = leg(memory, i, message, slot)
        towards = anywhere(neighbourhood, i, mixed(word), shunned)
        go_on(memory, rules, i, message, slot, word, towards, out)
