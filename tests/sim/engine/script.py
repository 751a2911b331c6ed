"""A protocol for tests of radios: it sends on command, and forwards or answers what it receives.

`relays` (args[2]) is how often a frame is sent on: if odd back to its sender, if even to all, after
a wait.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit

SEND, DATA = 1, 2  # a command or timer: send to row `topic`, or to all if that is -1; over the air


class Rules(NamedTuple):
    """The wait (seconds) before a frame is sent on to all."""

    wait: float


class ScriptState(NamedTuple):
    """The number of frames that each row received."""

    received: npt.NDArray[np.int64]  # [n]


@handles(ScriptState)
def handle(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def] # noqa: ARG001
    """Send, or forward."""
    relays = message.args[2]
    if message.kind == SEND:
        o = emit(out, DATA, 0.0, EVERYONE if message.topic < 0 else message.topic)
        o.event = message.event
        o.args[2] = relays
    elif message.kind == DATA:
        state.received[i] += 1
        if relays > 0:
            if relays % 2 == 1:
                o = emit(out, DATA, 0.0, message.source)
            else:
                o = emit(out, SEND, rules.wait, np.int32(i))
            o.event = message.event
            o.args[2] = relays - 1
