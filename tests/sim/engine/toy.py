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

    name: npt.NDArray[np.int32]  # [n]
    heard: npt.NDArray[np.int64]  # [n]


class ToyRules(NamedTuple):
    """When a node falls silent."""

    most: int


class ToyBook(NamedTuple):
    """The script: each line is MOST_EMISSIONS emissions."""

    what: npt.NDArray[np.int64]  # [lines, emissions] TIMER, SHOUT…
    after: npt.NDArray[np.float64]  # [lines, emissions] seconds
    choice: npt.NDArray[np.int64]  # [lines, emissions] which neighbour, or which name


@handles(ToyState)
def handle(state, rules, around, book, i, message, out):
    """Follow the line of the script that the record and the node's own past lead to."""
    if state.heard[i] == rules.most:
        return
    state.heard[i] += 1
    past = np.int64(state.heard[i]) + np.int64(state.name[i]) + 3 * np.int64(message.kind)
    line = (np.int64(message.event) + past) % book.what.shape[0]
    degree = np.int64(around.last[i]) - np.int64(around.first[i])
    for k in range(book.what.shape[1]):
        what, choice = book.what[line, k], book.choice[line, k]
        if what == NOTHING or (what == WHISPER and degree == 0):
            continue
        towards = np.int64(state.name[i])
        if what == SHOUT:
            towards = np.int64(EVERYONE)
        elif what == TELL:
            towards = np.int64(APP)
        elif what == WHISPER:
            towards = np.int64(around.who[np.int64(around.first[i]) + choice % degree])
        elif what == CALL:
            towards = choice
        o = emit(out, what, book.after[line, k], towards)
        o.event = line
        o.args[0] = degree


def slow_handler(rules: ToyRules, book: ToyBook) -> Handler:
    """The same in plain Python."""
    heard: Counter[int] = Counter()

    def follow(row: int, record: Record, near: list[int]) -> list[Emission]:
        if heard[row] == rules.most:
            return []
        heard[row] += 1
        line = (record.event + heard[row] + row + 3 * record.kind) % len(book.what)
        said = []
        script = zip(book.what[line], book.after[line], book.choice[line], strict=True)
        for what, after, choice in script:
            if what == NOTHING or (what == WHISPER and not near):
                continue
            to = {
                TIMER: row, SHOUT: int(EVERYONE), TELL: int(APP), CALL: int(choice),
                WHISPER: near[int(choice) % len(near)] if near else -1,
            }[int(what)]  # fmt: skip
            said.append(Emission(float(after), int(what), to, line, len(near)))
        return said

    return follow
