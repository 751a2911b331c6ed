"""A toy protocol whose nodes follow a script: timers, broadcasts, unicasts and letters, delayed.

It stands here twice: compiled, and in plain Python for the slow engine. The compile cache does not
know this file: whoever edits it removes the cache.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from tests.sim.engine.slow_engine import Emission, Handler, Record

# What a line of the script says, and the kind of what is sent.
NOTHING, TIMER, SHOUT, WHISPER, CALL, TELL = 0, 1, 2, 3, 4, 5
START = 6  # a letter from the application
ON_AIR = (SHOUT, WHISPER, CALL)
MOST_EMISSIONS = 2


class ToyState(NamedTuple):
    """How many records each node has followed the script for."""

    node_id: npt.NDArray[np.int32]  # [n]
    heard: npt.NDArray[np.int64]  # [n]


class Script(NamedTuple):
    """The script: each line is MOST_EMISSIONS emissions."""

    what: npt.NDArray[np.int64]  # [lines, emissions] TIMER, SHOUT…
    after: npt.NDArray[np.float64]  # [lines, emissions] seconds
    choice: npt.NDArray[np.int64]  # [lines, emissions] which neighbour, or which node id


class ToyRules(NamedTuple):
    """When a node falls silent, and the script that it follows until then."""

    most: int
    script: Script


@handles(ToyState)
def handle(state, rules, neighbourhood, i, message, out):
    """Follow the line of the script that the record and the node's own past lead to."""
    script = rules.script
    if state.heard[i] == rules.most:
        return
    state.heard[i] += 1
    past = np.int64(state.heard[i]) + np.int64(state.node_id[i]) + 3 * np.int64(message.kind)
    line = (np.int64(message.event) + past) % script.what.shape[0]
    degree = np.int64(neighbourhood.last[i]) - np.int64(neighbourhood.first[i])
    for k in range(script.what.shape[1]):
        what, choice = script.what[line, k], script.choice[line, k]
        if what == NOTHING or (what == WHISPER and degree == 0):
            continue
        towards = np.int64(state.node_id[i])
        if what == SHOUT:
            towards = np.int64(EVERYONE)
        elif what == TELL:
            towards = np.int64(APP)
        elif what == WHISPER:
            towards = np.int64(
                neighbourhood.who[np.int64(neighbourhood.first[i]) + choice % degree]
            )
        elif what == CALL:
            towards = choice
        o = emit(out, what, script.after[line, k], towards)
        o.event = line
        o.args[0] = degree


def slow_handler(rules: ToyRules) -> Handler:
    """The same in plain Python."""
    heard: Counter[int] = Counter()
    script = rules.script

    def follow(row: int, record: Record, near: list[int]) -> list[Emission]:
        if heard[row] == rules.most:
            return []
        heard[row] += 1
        line = (record.event + heard[row] + row + 3 * record.kind) % len(script.what)
        said = []
        lines = zip(script.what[line], script.after[line], script.choice[line], strict=True)
        for what, after, choice in lines:
            if what == NOTHING or (what == WHISPER and not near):
                continue
            to = {
                TIMER: row, SHOUT: int(EVERYONE), TELL: int(APP), CALL: int(choice),
                WHISPER: near[int(choice) % len(near)] if near else -1,
            }[int(what)]  # fmt: skip
            said.append(Emission(float(after), int(what), to, line, len(near)))
        return said

    return follow
