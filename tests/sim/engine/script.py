"""A protocol for trying radios: it says what it is told, and passes on what it hears or answers.

`relays` (args[2]) is how often a frame is passed on: odd back to where it came from, even to all,
after a wait.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit

SAY, DATA = 1, 2  # to oneself: say it to row `topic`, or to all if that is -1; over the air


class Rules(NamedTuple):
    """Seconds before a frame is passed on to all."""

    wait: float


class ScriptState(NamedTuple):
    """How many frames each row heard."""

    heard: npt.NDArray[np.int64]  # [n]


@handles(ScriptState)
def handle(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Say it, or pass it on."""
    relays = message.args[2]
    if message.kind == SAY:
        o = emit(out, DATA, 0.0, EVERYONE if message.topic < 0 else message.topic)
        o.event = message.event
        o.args[2] = relays
    elif message.kind == DATA:
        state.heard[i] += 1
        if relays > 0:
            if relays % 2 == 1:
                o = emit(out, DATA, 0.0, message.source)
            else:
                o = emit(out, SAY, rules.wait, np.int32(i))
            o.event = message.event
            o.args[2] = relays - 1
