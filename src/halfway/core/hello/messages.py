"""The record kinds of hellos, which a node sends beside the records of its protocol.

A hello lists the nodes that its sender hears, in ascending order of their ids. A record has room
for IDS ids, and covers a range of ids. So a receiver that misses one record of a long list still
uses the other records.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.kinds import Kinds
from halfway.core.values.ranges import NODE, NODE_OR_NONE, REAL, whole

HELLO_KIND, HELLO_TIMER_KIND = 251, 250  # record kind numbers that no system uses
IN_ARGS, IN_REALS = 8, 4  # places for ids of listed nodes
IDS = IN_ARGS + IN_REALS
POSITION = 4  # first of two places in `reals`; both 0: no position
NUMBERS = 1 << 16  # the number of a hello is counted modulo this

LAST = np.uint8(1)  # flag: no node with a higher id is listed
LOWEST = "topic"  # the least id that the record covers
BOTH_WAYS = "event"  # one bit for each listed node; 1: the link works both ways

KINDS = Kinds(
    {
        "sequence": whole(0, NUMBERS - 1),
        "least id covered": NODE,
        "bits of links that work both ways": whole(0, (1 << IDS) - 1),
        "heard": NODE_OR_NONE,
        "also heard": NODE_OR_NONE,
        "position": REAL,
    }
)
HELLO_NAME = "neighbour-hello"
HELLO = KINDS.network(
    HELLO_KIND,
    HELLO_NAME,
    "the sender hears these nodes. It adds its position if neighbours need the position",
    "flags sequence",
    args={"heard[k]": 0},
    reals={"also heard[k]": 0, "position[k]": POSITION},
    reused={LOWEST: "least id covered", BOTH_WAYS: "bits of links that work both ways"},
)
HELLO_TIMER = KINDS.timer(HELLO_TIMER_KIND, "neighbour-hello-timer", "the next hello is due")


def kinds_with_hellos(kinds: Kinds) -> Kinds:
    """Return a protocol's record kinds together with the kinds of hellos.

    Raises ValueError if the protocol has one of the numbers or names of hellos.
    """
    together = Kinds()
    together.include(kinds)
    together.include(KINDS)
    if not together.starts:
        together.start_event()
    return together


@inlined
def listed(hello, e):
    """Return the node id in entry e of a hello's list, or NONE behind the end of the list."""
    return hello.args[e] if e < IN_ARGS else np.int32(hello.reals[e - IN_ARGS])
