"""The adapter of the walk systems: roles as commands, and table sizes."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, joined, publishing_roles
from halfway.adapters.interface import Adapter, ComparedRuns, RunContext, SystemInstance, limits_of
from halfway.protocols.parts.reliable_hop import hop_bytes, longest_wait_s
from halfway.protocols.walks.messages import (
    ADVERTISE,
    KINDS,
    MERGE,
    OPTIONS,
    PUBLISHES,
    SUBSCRIBES,
    WITHDRAW,
    Rules,
    rules_of,
)
from halfway.protocols.walks.state import (
    BRANCHES,
    KNOWN_HOPS,
    WalkTables,
)
from halfway.protocols.walks.tables.entries import OPEN, PASSED
from halfway.world.workload.demand import Demand

FEW_HOPS = 8  # in flight, for which every node has room
_MOST_BYTES = 1e9  # bytes of the tables of hops of all nodes
# Bytes of a hop in flight, with `came_from` and `redraws` of `WalkTables`.
HOP_BYTES = hop_bytes(KNOWN_HOPS) + 2 * np.int32().nbytes
_EVENTS = 4096  # events from which the rate of publications is measured


class WalkAdapter(Adapter):
    """The adapter of the walk systems, in which a publisher and a subscriber of a topic each launch
    one walk. One event is one command.
    """

    lists_members = True
    has_neighbour_tables = True

    @classmethod
    def notes(cls, runs: ComparedRuns) -> Sequence[str]:
        """Return the note on walks that are launched once, if nodes lose their memory."""
        default = OPTIONS["refresh_s"].default
        once = any(own.get("refresh_s", default) == 0.0 for own in runs.options)
        if not runs.loses_memory or not once:
            return ()
        return (
            "trails that nodes forget never come back, because no walk is launched again. Set "
            "`refresh_s`, for example to 20.",
        )

    def ends_subscriptions(self) -> bool:
        """Return True: a subscription can end."""
        return True

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance, with table sizes for a network."""
        rules, demand = rules_of(self.values), context.demand
        members = int(self.values["trails"]) or max(members_of(demand).max(initial=0), 2)
        state = self.module.state(
            context.node_ids, context.most_neighbours, max(demand.topics, 1), context.seed,
            members=int(members), places=places(context, rules),
            publishers=context.publishers, in_flight=context.in_flight,
            buffer_size=int(self.values["buffer_size"]),
        )  # fmt: skip
        return SystemInstance(
            state, rules, self.module.most_emissions(state, rules), KINDS,
            shortfalls=self.module.shortfalls,
            # Only the advertisement of a trail goes to all neighbours, and no node answers an
            # advertisement.
            most_beside=0, limits=limits_of(self.module, state, rules),
            path_to=partial(path_to_member, state.tables, rules),
        )  # fmt: skip

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the start-up commands: subscriptions, publishers' roles, and their ends.

        No publisher begins before half of `step_delay_s`.
        """
        after = 0.5 * float(self.values["step_delay_s"])
        roles = publishing_roles(demand, int(ADVERTISE), int(WITHDRAW), after)
        return joined((super().start_up_commands(demand), roles))


def members_of(demand: Demand) -> npt.NDArray[np.int64]:
    """Return [topics]: the number of members of each topic, publishers and subscribers, for which
    the walk systems size their tables.
    """
    both = zip(demand.publishers, demand.subscribers, strict=True)
    return np.array([len(some) + len(others) for some, others in both], np.int64)


def places(context: RunContext, rules: Rules) -> int:
    """Return the number of hops in flight that a node has room for; 0 without acknowledgements.

    A node launches all its walks at once, sends each event to at most all neighbours, sends the
    paths to all members of a topic and the root along all branches at once, and forwards the walks
    of others. If this would take too much memory, the number is less, and further hops are
    unacknowledged.
    """
    if rules.retries == 0:
        return 0
    demand, degree = context.demand, context.start.degree
    members = members_of(demand)
    rows = np.concatenate([np.zeros(0, np.int32), *demand.publishers, *demand.subscribers])
    launched = int(np.bincount(rows, minlength=1).max())
    # A walk visits a node in proportion to the node's degree, and is for a moment still in flight
    # from the node before.
    passing = int(members.sum()) * int(degree.max(initial=0)) / max(int(degree.sum()), 1)
    published = _most_published(context, longest_wait_s(rules))
    most = int(members.max(initial=0))
    news = most + min(BRANCHES * most, context.most_neighbours)
    need = launched + news + published + math.ceil(2 * passing) + FEW_HOPS
    fit = int(_MOST_BYTES / (max(context.n, 1) * HOP_BYTES))
    return max(min(need, fit), FEW_HOPS)


def _most_published(context: RunContext, longest_s: float) -> int:
    """Return the most copies of events that one node of a walk system sends within longest_s
    seconds: one copy of each event to each neighbour on the way to a subscriber.
    """
    publications = context.demand.begun_again().next_publications(context.seconds, _EVENTS)
    most_neighbours = max(context.most_neighbours, 1)
    subscribers = np.array([len(rows) for rows in context.demand.subscribers], np.int64)
    copies = np.minimum(subscribers, most_neighbours)[publications.topic]
    total = np.cumsum([0, *copies])
    begin = np.searchsorted(publications.t, publications.t - longest_s, side="right")
    return int((total[1:] - total[begin]).max(initial=0))


def path_to_member(
    tables: WalkTables,
    rules: Rules,
    row: int,
    topic: int,
    member: int,
    now: npt.NDArray[np.float64],
) -> list[int]:
    """Return the rows of the path from a row to a member of a topic (row), both ends included; []
    without a path.

    now: [n] the own clock of each node, in seconds. With MERGE, the path is the one of
    events to the member. With STOP and GO_ON, a node that has the member's own trail follows it.
    """
    merges = rules.at_meeting == MERGE
    pointers = [(tables.paths, OPEN)]
    if not merges:
        pointers.insert(0, (tables.trails, PASSED))
    row_of = {int(node_id): k for k, node_id in enumerate(tables.node_id.tolist())}
    for side in (SUBSCRIBES,) if merges else (SUBSCRIBES, PUBLISHES):
        way = [row]
        while way[-1] != member:
            here = way[-1]
            steps = [
                row_of.get(int(trail.back), here)
                for table, status in pointers
                for trail in table[here, topic]
                if trail.status == status
                and trail.side == side
                and trail.member == tables.node_id[member]
                and now[here] - trail.since <= 2.0 * rules.refresh_s
            ]
            if not steps or steps[0] in way:
                break
            way.append(steps[0])
        if way[-1] == member:
            return way
    return []


ADAPTERS = {"directional-walk": WalkAdapter, "random-walk": WalkAdapter}
