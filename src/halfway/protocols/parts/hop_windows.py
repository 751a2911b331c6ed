"""Windows over the numbers of reliable hops, so that a node accepts no replay of an old hop.

The table of accepted hops has the last hops of all neighbours together. A busy node forgets a hop
there within seconds, and would then accept a replay of this hop as a new one. [RFC 4303, §3.4.3] a
receiver keeps the highest number of each sender, and one bit for each of the numbers below it. The
receiver takes a number below this window for a number that it has received.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NONE
from halfway.protocols.parts.hash_table import FORGOTTEN, USES

SENDERS = 64  # neighbours with a window at one node
_WORDS = 16
_BITS = 64 * _WORDS
# Turns in a window: no two have the same bit, even where the turns begin again.
WIDTH = _BITS - 1
_NUMBERS = 2**31 - 1  # largest sequence number of a hop; then the numbers start again
_ONE = np.uint64(1)


class HopWindows(NamedTuple):
    """The windows of each node, one for each of its neighbours, in no order."""

    sender: npt.NDArray[np.int32]  # [n, windows] id; NONE: a free place
    incarnation: npt.NDArray[np.uint32]  # [n, windows] of the sender
    newest: npt.NDArray[np.int64]  # [n, windows] highest turn of the sender
    bits: npt.NDArray[np.uint64]  # [n, windows, words] by turn, modulo: the hop was accepted
    used: npt.NDArray[np.int64]  # [n, windows] count of uses at the last use
    counts: npt.NDArray[np.int64]  # [n, 2] uses; windows that others replaced


def hop_windows(n: int, tracked: int) -> HopWindows:
    """Return empty windows for n nodes; without places if nodes track no reliable hops."""
    shape = n, SENDERS if tracked else 0
    return HopWindows(
        sender=np.full(shape, NONE),
        incarnation=np.zeros(shape, np.uint32),
        newest=np.zeros(shape, np.int64),
        bits=np.zeros((*shape, _WORDS), np.uint64),
        used=np.zeros(shape, np.int64),
        counts=np.zeros((n, 2), np.int64),
    )


@apart
def window_of(windows, i, message, turn):
    """Return the place of the window of a hop's sender at row i. A sender without a window gets one
    that begins at this hop, in place of the window that row i has not used for the longest time.
    """
    oldest = np.int64(0)
    for s in range(windows.sender.shape[1]):
        if windows.sender[i, s] == message.source:
            return np.int64(s)
        if windows.sender[i, s] == NONE:
            oldest = np.int64(s)
            break
        if windows.used[i, s] < windows.used[i, oldest]:
            oldest = np.int64(s)
    windows.counts[i, FORGOTTEN] += windows.sender[i, oldest] != NONE
    windows.sender[i, oldest] = message.source
    begin_window(windows, i, oldest, message.incarnation, turn)
    return oldest


@apart
def begin_window(windows, i, s, incarnation, turn):
    """Begin a window of row i at a turn of its sender, without any accepted hop."""
    windows.incarnation[i, s], windows.newest[i, s] = incarnation, turn
    windows.bits[i, s] = 0


@inlined
def word_and_bit(turn):
    """Return the word of a turn in a window, and the bit in this word."""
    return (turn % _BITS) >> 6, _ONE << np.uint64(turn % _BITS & 63)


@apart
def move_window(windows, i, s, ahead, turns):
    """Move a window of row i forward by a number of turns. turns: after which they begin again."""
    before = windows.newest[i, s]
    if ahead >= WIDTH:
        windows.bits[i, s] = 0
    else:
        for k in range(1, ahead + 1):
            word, bit = word_and_bit((before + k) % turns)
            windows.bits[i, s, word] &= ~bit
    windows.newest[i, s] = (before + ahead) % turns


@apart
def is_replayed(windows, places, i, message):
    """Note a reliable hop that arrives at row i; return whether its number shows that row i
    received this hop before, or that the hop belongs to an earlier incarnation of its sender.

    places: places for hops in flight of the sender, which give the turn of the hop.
    """
    turns = np.int64(_NUMBERS // places)
    turn = (np.int64(message.sequence) - 1) // places
    s = window_of(windows, i, message, turn)
    windows.counts[i, USES] += 1
    windows.used[i, s] = windows.counts[i, USES]
    if message.incarnation != windows.incarnation[i, s]:
        if message.incarnation < windows.incarnation[i, s]:
            return True
        begin_window(windows, i, s, message.incarnation, turn)
    ahead = (turn - windows.newest[i, s]) % turns
    if ahead < turns // 2:
        move_window(windows, i, s, ahead, turns)
    elif turns - ahead >= WIDTH:
        return True
    word, bit = word_and_bit(turn)
    known = windows.bits[i, s, word] & bit != 0
    windows.bits[i, s, word] |= bit
    return known
