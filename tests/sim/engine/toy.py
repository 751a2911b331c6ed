"""A toy protocol whose nodes follow a script: delayed timers, broadcasts, unicasts and reports.

It exists twice: compiled, and in plain Python for the slow engine. The compile cache does not hash
this file: remove the cache after an edit.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from tests.sim.engine.slow_engine import Emission, Handler, Record

# Actions of a line of the script, and the kinds of records.
NOTHING, TIMER, SHOUT, WHISPER, CALL, REPORT = 0, 1, 2, 3, 4, 5
START = 6  # a command from the application
ON_AIR = (SHOUT, WHISPER, CALL)
MOST_EMISSIONS = 2


class ToyState(NamedTuple):
    """The number of records that each node has handled."""

    node_id: npt.NDArray[np.int32]  # [n]
    received: npt.NDArray[np.int64]  # [n]


class Script(NamedTuple):
    """A script: each line is MOST_EMISSIONS emissions."""

    what: npt.NDArray[np.int64]  # [lines, emissions] TIMER, SHOUT…
    after: npt.NDArray[np.float64]  # [lines, emissions] seconds
    choice: npt.NDArray[np.int64]  # [lines, emissions] which neighbour, or which node id


class ToyRules(NamedTuple):
    """The number of records after which a node does nothing, and its script."""

    limit: int
    script: Script


@handles(ToyState)
def handle(state, rules, neighbourhood, i, message, out):
    """Follow the line of the script that the record and the node's history choose."""
    script = rules.script
    if state.received[i] == rules.limit:
        return
    state.received[i] += 1
    past = np.int64(state.received[i]) + np.int64(state.node_id[i]) + 3 * np.int64(message.kind)
    line = (np.int64(message.event) + past) % script.what.shape[0]
    degree = np.int64(neighbourhood.last[i]) - np.int64(neighbourhood.first[i])
    for k in range(script.what.shape[1]):
        what, choice = script.what[line, k], script.choice[line, k]
        if what == NOTHING or (what == WHISPER and degree == 0):
            continue
        towards = np.int64(state.node_id[i])
        if what == SHOUT:
            towards = np.int64(EVERYONE)
        elif what == REPORT:
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
    received: Counter[int] = Counter()
    script = rules.script

    def follow(row: int, record: Record, near: list[int]) -> list[Emission]:
        if received[row] == rules.limit:
            return []
        received[row] += 1
        line = (record.event + received[row] + row + 3 * record.kind) % len(script.what)
        emitted = []
        lines = zip(script.what[line], script.after[line], script.choice[line], strict=True)
        for what, after, choice in lines:
            if what == NOTHING or (what == WHISPER and not near):
                continue
            to = {
                TIMER: row, SHOUT: int(EVERYONE), REPORT: int(APP), CALL: int(choice),
                WHISPER: near[int(choice) % len(near)] if near else -1,
            }[int(what)]  # fmt: skip
            emitted.append(Emission(float(after), int(what), to, line, len(near)))
        return emitted

    return follow
