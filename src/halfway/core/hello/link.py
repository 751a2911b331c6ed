"""The quality of the link from one neighbour, judged by the hellos of this neighbour that
arrived.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.hello.messages import NUMBERS
from halfway.core.missing import NONE

# The knowledge of a node about one sender of hellos.
LINK = np.dtype(
    [
        ("heard_at", "<f8"),  # the node's own clock at the last hello (seconds)
        ("node_id", "<i4"),  # the sender; -1: free
        ("incarnation", "<u4"),  # of the sender
        ("number", "<u2"),  # number of the last hello
        ("history", "<u2"),  # the newest hellos, newest in bit 0; 1: the hello arrived
        ("expected", "u1"),  # number of valid bits in the history
        ("is_heard", "u1"),  # 1: the link from the sender works
        ("hears_us", "u1"),  # 1: the last list of the sender has this node
        ("is_neighbour", "u1"),  # 1: works both ways; the sender is in the neighbourhood
    ]
)

HISTORY = 16  # hellos that count
NEWEST, APPEARS = 4, 3  # a link begins to work when 3 of the newest 4 hellos came …
LEAST_TENTHS = 4  # … and works until fewer than 4 tenths of the history came …
MISSED = 5  # … or 5 in a row did not
_ALL = (1 << HISTORY) - 1
_OLDER = NUMBERS // 2  # a number further ahead belongs to an older hello


@inlined
def begin_link(link, hello, now):
    """Reset a link to the sender of a hello: no earlier hello counts."""
    link.heard_at = now
    link.node_id = hello.source
    link.incarnation = hello.incarnation
    link.number = hello.sequence
    link.history = 1
    link.expected = 1
    link.is_heard = 0
    link.hears_us = 0


@inlined
def came(history):
    """Return how many hellos in the history of a link arrived: the number of its bits that are 1.

    The bits are added in pairs, then the sums in pairs, up to all HISTORY bits.
    """
    history = (history & 0x5555) + (history >> 1 & 0x5555)
    history = (history & 0x3333) + (history >> 2 & 0x3333)
    history = (history & 0x0F0F) + (history >> 4 & 0x0F0F)
    return (history & 0xFF) + (history >> 8)


@inlined
def note_hello(link, hello, now):
    """Add a hello to a link's history. Return False, without effect, if the history has a newer
    hello.

    The records of one hello have one number, and count once.
    """
    ahead = (np.int64(hello.sequence) - np.int64(link.number)) % NUMBERS
    if ahead >= _OLDER:
        return False
    link.heard_at = now
    if ahead > 0:
        history = 0 if ahead >= HISTORY else np.int64(link.history) << ahead
        link.history = (history | 1) & _ALL
        link.expected = min(np.int64(link.expected) + ahead, HISTORY)
        link.number = hello.sequence
    judge(link)
    return True


@inlined
def judge(link):
    """Decide whether a link works, from the hellos in its history; hysteresis prevents frequent
    changes.
    """
    history = np.int64(link.history)
    if link.is_heard == 0:
        link.is_heard = np.uint8(came(history & ((1 << NEWEST) - 1)) >= APPEARS)
    else:
        expected = np.int64(link.expected)
        link.is_heard = np.uint8(10 * came(history) >= LEAST_TENTHS * expected)


@inlined
def is_silent(link, now, longest_s):
    """Return whether the last MISSED hellos of a link's sender did not arrive, by the time since
    its last hello.

    longest_s: the longest time between two hellos of a node, by the clock of `now`.
    """
    return link.node_id != NONE and now - link.heard_at > MISSED * longest_s
