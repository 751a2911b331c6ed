"""The group of all members in walk detectors: each member publishes and subscribes, and walks make
the paths between members.

[drw §2] "all the nodes that are designed to be part of the group send a publication or a
subscription message". We let each member send both messages, because each member is monitored and
is itself a monitor. The group is topic 0 of directional walks.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.kinds import Kind
from halfway.core.options import Option, Value
from halfway.protocols.failure_detectors import reports, silence
from halfway.protocols.walks import directional_walk, messages, shared_handler
from halfway.protocols.walks.directional_walk import DirectionalState
from halfway.protocols.walks.messages import PUBLISHES, SUBSCRIBES
from halfway.protocols.walks.roles import begin_role

GROUP = np.int32(0)  # the topic of all members
SIDES = 2  # a member holds both roles, and each role has a trail and a path
RANGES = reports.MEMBER_RANGE
_UNUSED = {  # walk kinds without use here: members need no commands, and publish no events
    int(kind)
    for kind in (
        messages.ADVERTISE, messages.PUBLISH, messages.DATA, messages.DELIVERED,
        messages.UNMATCHED, messages.SUBSCRIBE, messages.WITHDRAW, messages.END,
        messages.CATCH_UP, messages.UNSUBSCRIBE, messages.LIST, messages.SWEPT,
    )
}  # fmt: skip
WALK_KINDS: list[Kind] = [kind for kind in messages.KINDS if kind.number not in _UNUSED]

# These rules of walks are fixed here. Monitors need the members of all walks that met. Walks start
# again in each period, so one search need not find everything.
_FIXED = {"at_meeting": messages.MERGE, "sweep_steps": 0}
_OURS = {"trails", "buffer_size", *_FIXED}  # a detector has no such options
# In the paper, each member launches its walk once: `refresh_s = 0`.
_REFRESH = messages.OPTIONS["refresh_s"]._replace(default=10.0)
OPTIONS: dict[str, Option] = {
    **{name: option for name, option in messages.OPTIONS.items() if name not in _OURS},
    "refresh_s": _REFRESH,
    **silence.OPTIONS,
}


def group_of(
    node_ids: npt.NDArray[np.int32], members: int, degree: int, seed: int, places: int
) -> DirectionalState:
    """Return the initial state of the walks of a group of members, with room for `members` at each
    node. places: number of hops in flight that a node tracks.
    """
    return directional_walk.state(
        node_ids,
        degree,
        1,
        seed,
        members=SIDES * members,
        places=places,
        publishers=1,
        buffer_size=0,
    )


def walk_rules(values: Mapping[str, Value]) -> messages.Rules:
    """Return the rules of the walks of a group from the values of a detector's options."""
    return messages.rules_of({**values, **_FIXED})


def most_walk_emissions(walks: DirectionalState, rules: messages.Rules) -> int:
    """Return the most records that one call emits for the walks of a group."""
    return shared_handler.most_emissions(walks.tables, rules)


@apart
def join(walks, rules, neighbourhood, i, message, out):
    """Let row i join the group of members: begin the next role that row i does not have yet."""
    # One call begins one role, because each launch may bring paths to all members.
    side = PUBLISHES if walks.tables.roles[i, PUBLISHES].held == 0 else SUBSCRIBES
    begin_role(walks.tables, rules, neighbourhood, i, GROUP, side, message, out)
