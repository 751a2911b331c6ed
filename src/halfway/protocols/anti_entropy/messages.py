"""The record kinds of anti-entropy: digests, requests and events, and the fields of their
records.
"""

import numpy as np

from halfway.core.kinds import Kinds, MapRole
from halfway.core.values.ranges import COUNT, EPOCH, NODE, NODE_OR_NONE, NUMBER, whole
from halfway.protocols.parts import application

SPAN = 48  # newest events of a publisher that nodes compare; a float64 holds their bits
PAGE = 3  # publishers that a digest has room for
NO_PUBLISHER, LAST_ID = np.int32(-1), np.int32(2**31 - 1)
# Places in `args` of a DIGEST and a REQUEST: the id of each publisher (-1: no publisher) and its
# newest known event. The digest is complete for the ids above AFTER up to UPTO.
PUBLISHERS, NEWEST, AFTER, UPTO = 0, PAGE, 2 * PAGE, 2 * PAGE + 1
# Places in `reals`: the bits of each publisher, where bit k is the event `newest` - k, and its
# epoch.
BITS, EPOCHS = 0, PAGE
START_NUMBER = 0  # place in `args` of a ROUND: the number of the START with which its rounds began

_PAGE = {"publishers[3]": PUBLISHERS, "newest events[3]": NEWEST}

_BITS = whole(0, 2**SPAN - 1)
KINDS = Kinds(
    {
        "publishers": NODE_OR_NONE,
        "newest events": NUMBER,
        "above publisher": NODE_OR_NONE,
        "up to publisher": NODE,
        "held bits": _BITS,
        "lacking bits": _BITS,
        "epochs": EPOCH,
        "start number": COUNT,
    }
)
KINDS.include(application.KINDS)
KINDS.start_event()
DIGEST = KINDS.network(
    2,
    "digest",
    "the sender states which events of some publishers it holds",
    args={**_PAGE, "above publisher": AFTER, "up to publisher": UPTO},
    reals={"held bits[3]": BITS, "epochs[3]": EPOCHS},
)
REQUEST = KINDS.network(
    7,
    "request",
    "the sender states which events of some publishers it lacks",
    args=_PAGE,
    reals={"lacking bits[3]": BITS, "epochs[3]": EPOCHS},
)
EVENT = KINDS.network(
    8,
    "event",
    "the sender passes an event that the receiver lacks",
    application.EVENT_FIELDS,
    on_map=MapRole.EVENT_HOP,
)
ROUND = KINDS.timer(
    3,
    "round",
    "the node compares its events with a random neighbour",
    args={"start number": START_NUMBER},
)
