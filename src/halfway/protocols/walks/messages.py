"""Message kinds, options and rules of the walk systems.

Topic t has two walks: 2t starts at its publisher, 2t + 1 at its subscriber. A walk may be launched
several times; the number of a launch, from 0, is the walk's generation.
"""

import math
from typing import NamedTuple

from halfway.core.kinds import EVENT_ID, Kinds, MapRole, Meets, Step
from halfway.core.message import COMMAND_ARG
from halfway.core.options import count, seconds, switch
from halfway.core.values.ranges import BITS, COUNT, below
from halfway.protocols import reliable_hop
from halfway.protocols.reliable_hop import (
    ACK_BACKOFF_OPTION,
    ACK_TIMEOUT_OPTION,
    ACK_TIMEOUT_S,
    RETRIES_OPTION,
)

# Places in `args`.
RANDOM_LOW, RANDOM_HIGH = 0, 1  # the random state of a walk
WALK_ID = COMMAND_ARG
STEPS = 3  # of a STEP: made so far; of a MATCH or MATCHED: hops from the meeting
UNANSWERED = 3  # of a RELAUNCH or REFRESH: launches in a row without a meeting before this one
GENERATION = 4
OTHER = 5  # generation of the other walk: of the one met, or of the trail that an event follows

KINDS = Kinds(
    {
        "random state, low": BITS, "random state, high": BITS, "walk": below("walks"),
        "steps": COUNT, "hops": COUNT, "generation": COUNT, "other": COUNT, "unanswered": COUNT,
    }
)  # fmt: skip
KINDS.start()
KINDS.include(reliable_hop.KINDS)
LAUNCH = KINDS.command(
    1, "launch", "the application launches a walk from this node", "topic", {"walk": WALK_ID}
)
PUBLISH = KINDS.command(
    2, "publish", "the node sends `event` along the path of `topic`", f"topic {EVENT_ID}"
)
STEP = KINDS.network(
    3, "step", "a walk steps onto the receiver", "topic sequence",
    args={"random state, low": RANDOM_LOW, "random state, high": RANDOM_HIGH, "walk": WALK_ID,
          "steps": STEPS, "generation": GENERATION},
    on_map=Step(("walk of the publisher", "walk of the subscriber"), number=WALK_ID),
)  # fmt: skip
TRAIL = KINDS.network(
    4, "trail", "the sender advertises that it carries a walk's trail", "topic", {"walk": WALK_ID}
)
_MEETING = {"walk": WALK_ID, "hops": STEPS, "generation": GENERATION, "other": OTHER}
MATCH = KINDS.network(
    5,
    "match",
    "the news that two walks have met travels towards a walk's initiator",
    "topic sequence",
    _MEETING,
    on_map=Meets(fresh=STEPS),
)
DATA = KINDS.network(
    6,
    "data",
    "an event travels along the path of its topic",
    f"topic sequence {EVENT_ID}",
    {"other": OTHER},
    on_map=MapRole.EVENT_HOP,
)
MATCHED = KINDS.report(
    7,
    "matched",
    "the node's walk has met another walk. The node reports each better meeting once",
    "topic",
    _MEETING,
    on_map=Meets(fresh=STEPS),
)
DELIVERED = KINDS.report(
    8, "delivered", "the node delivers an event to a subscriber once", f"topic {EVENT_ID}"
)
UNMATCHED = KINDS.report(
    9,
    "unmatched",
    "the node drops an event that has no path and no room in the buffer",
    f"topic {EVENT_ID}",
)
_LAUNCH = {"walk": WALK_ID, "unanswered": UNANSWERED, "generation": GENERATION}
RELAUNCH = KINDS.timer(
    12,
    "relaunch",
    "the node launches its walk again unless the walk has met another walk",
    "topic",
    _LAUNCH,
)
REFRESH = KINDS.timer(
    13, "refresh", "the node launches its walk again in any case", "topic", _LAUNCH
)
RESUME = KINDS.timer(
    14,
    "resume",
    "the node launches one of its walks again after a crash",
    "topic",
    {"walk": WALK_ID},
)

OPTIONS = {
    "step_delay_s": seconds(
        0.01, "from the arrival of a walk at a node to the next step of the walk"
    ),
    "advertise": switch(
        True,
        "true means that nodes advertise trails. Two walks can then also meet at "
        "a neighbour of a trail",
    ),
    "most_steps": count(100_000, "number of steps after which a walk ends", 1, 2**31 - 1),
    "retries": RETRIES_OPTION,
    "ack_timeout_s": ACK_TIMEOUT_OPTION,
    "ack_backoff": ACK_BACKOFF_OPTION,
    "relaunch_s": seconds(
        10.0, "after which a node launches a walk without a meeting again. 0 means never"
    ),
    "launches": count(10, "largest number of launches in a row without a meeting", 1, 1000),
    "refresh_s": seconds(
        0.0, "from one launch of a walk to its next launch, even after a meeting. 0 means never"
    ),
    "buffer_size": count(
        8,
        "number of events that a publisher keeps for a subscriber until their walks meet",
        0,
        1000,
    ),
}


class Rules(NamedTuple):
    """The rules of the walks' messages: the scalars of a walk system, equal on every node.

    We add everything from `retries` on, off by default, because the paper excludes loss and faults
    [drw §2].
    """

    step_delay_s: tuple[float, float]  # of a publisher's, of a subscriber's walk
    advertise: bool  # [dwo Alg. 2] a neighbour that carries the other trail is met as well
    most_steps: int  # a walk that has made this many steps ends; the paper leaves stopping open
    retries: int = 0
    ack_timeout_s: float = ACK_TIMEOUT_S
    ack_backoff: float = 1.0
    relaunch_s: float = math.inf
    launches: int = 1
    refresh_s: float = math.inf  # trails expire after this time
    until_s: float = math.inf  # timers launch no walk after this time, so that a run can end
    buffer_size: int = 0  # events, for all of a publisher's subscribers, as far as it has room
