"""The records of systems whose publisher and subscriber each send a walk: kinds, places, rules.

Topic t has two walks: 2t starts at the publisher, 2t+1 at the subscriber.
"""

import math
from typing import NamedTuple

import numpy as np

from halfway.core.message import COMMAND_ARG, START

# Kinds. Letters from the application:
LAUNCH = 1  # start the walk args[WALK_ID] here, as its initiator
PUBLISH = 2  # send the data `event` along the path of `topic`
# Between neighbours:
STEP = 3  # a walk arrives; args carry its dice and its number
TRACE = 4  # "I carry the trace of that walk": every neighbour hears it once a launch
MATCH = 5  # back to an initiator: the walks have met
DATA = 6  # an event on the loop-erased path
ACK = 10  # that STEP, MATCH or DATA arrived
# To the application:
MATCHED = 7  # your walk was met, args[STEPS] hops away; told once for each better meeting
DELIVERED = 8  # an event for a subscriber, once
UNMATCHED = 9  # a PUBLISH that came before the meeting and that nobody keeps
# To oneself:
PATIENCE = 11  # has that hop been acknowledged?
RELAUNCH = 12  # has that launch been answered? if not, launch again
REFRESH = 13  # the time has come to launch anew
RESUME = 14  # back after a crash: launch the walk args[WALK_ID] anew, then the node's next one

KINDS = {
    LAUNCH: "launch",
    PUBLISH: "publish",
    STEP: "step",
    TRACE: "trace",
    MATCH: "match",
    DATA: "data",
    MATCHED: "matched",
    DELIVERED: "delivered",
    UNMATCHED: "unmatched",
    ACK: "ack",
    PATIENCE: "patience",
    RELAUNCH: "relaunch",
    REFRESH: "refresh",
    RESUME: "resume",
    int(START): "boot",
}

# Where they keep things in `args`.
RANDOM_LOW, RANDOM_HIGH = 0, 1  # of a STEP
WALK_ID = COMMAND_ARG  # the application names the walk that it launches
STEPS = 3  # of a STEP: made so far; of a MATCH: hops back so far
ATTEMPT = 3  # of a RELAUNCH: launches in a row before this one that nobody answered
GENERATION = 4  # of a walk: which launch it is, from 0
SERIAL = 5  # the sender's number for a hop that it wants acknowledged; 0: it does not
OTHER = 6  # of a MATCH: generation of the other walk; of DATA: of the trace that leads them

NEVER = np.int32(-1)


class Rules(NamedTuple):
    """The scalars of a walk system, the same on every node.

    The paper knows neither loss nor faults, and says that it does not [drw §2]. Everything from
    `retries` on is ours, and off by default.
    """

    pace: tuple[float, float]  # seconds a publisher's, a subscriber's walk rests on each node
    hear: bool  # [dwo Alg. 2] a neighbour that carries the other trace is met; else only the node
    most_steps: int  # a walk that has made this many steps ends; the paper leaves stopping open
    retries: int = 0  # repetitions of a hop that is not acknowledged; 0: nobody acknowledges
    patience_s: float = 1.0  # seconds until a hop counts as failed; more than there and back
    relaunch_s: float = math.inf  # seconds until a walk without a MATCH is launched again
    launches: int = 1  # launches in a row that nobody answers, at most
    refresh_s: float = math.inf  # seconds from a launch to the next in any case; then traces expire
    until_s: float = math.inf  # seconds: no launch of its own accord after that, so a run can end
    hold: int = 0  # events that a publisher keeps until the meeting, as far as it has room


class Book(NamedTuple):
    """What ids stand for: nothing beyond their number here."""

    topics: int
