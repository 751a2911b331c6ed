"""Pure random walks [drw §4.1]: the next node is any neighbour. The papers' baseline."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.dice import mixed, pick
from halfway.core.handler import handles
from halfway.protocols.rendezvous import (
    STEP,
    STEPS,
    WALK_ID,
    Book,
    Rules,
    Trace,
    arrived,
    dice_of,
    send_step,
    settle,
    trace,
)

__all__ = ["Book", "RandomState", "Rules", "State", "handle", "state"]


class RandomState(NamedTuple):
    """The traces alone: a pure walk remembers nothing else."""

    trace: Trace


State = RandomState


def state(names: npt.NDArray[np.int32], degree: int, topics: int, seed: int) -> RandomState:
    """Nodes that no walk has passed. `degree` is not needed here, but asked of every system."""
    del degree
    return RandomState(trace(names, topics, seed))


@handles(RandomState)
def handle(state, rules, around, book, i, message, out):
    """A node's whole behaviour, one message at a time."""
    memory = state.trace
    if message.kind != STEP:
        settle(memory, rules, around, i, message, out)
    elif not arrived(memory, rules, i, message, out):
        word = dice_of(message)
        first, last = around.first[i], around.last[i]
        towards = around.who[first + pick(mixed(word), last - first)]
        steps = message.args[STEPS] + 1
        send_step(memory, rules, i, message.args[WALK_ID], word, steps, towards, out)
