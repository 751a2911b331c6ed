"""The state of a rumor routing node: paths to topics, trails of queries, branches.

The paths are the event table of [Braginsky & Estrin 2002]. We keep trails and branches as well,
because the paper does not describe the way back to the source of a query.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import random_states
from halfway.protocols.parts.application import no_subscriptions
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows

TRAILS_EACH = 4  # trails of one subscription that a node keeps, those of its latest queries
# Entries of a node's two tables, if the number of subscriptions is unknown. One call of the handler
# may emit a record for each branch.
TRAILS, BRANCHES = 256, 64


class RumorState(NamedTuple):
    """The state of nodes of rumor routing: paths to witnesses, subscriptions, trails, branches."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    next_hop: npt.NDArray[np.int32]  # [n, topics] towards a witness; itself at a witness; -1
    distance: npt.NDArray[np.int32]  # [n, topics] hops to the witness; -1 unknown
    latest: npt.NDArray[np.int32]  # [n, topics] at a witness: its latest event; -1 none
    latest_epoch: npt.NDArray[np.uint32]  # [n, topics] the epoch of this event
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes
    attached: npt.NDArray[np.uint8]  # [n, topics] 1 once this node's own query was answered
    open_query: npt.NDArray[np.int32]  # [n, topics] number of this node's own open query; -1
    seen: EventWindows  # the newest events forwarded of each publisher
    queries: npt.NDArray[np.int32]  # [n] queries of this incarnation that this node has sent so far
    # The trails of queries, a few of each subscription; in a full table the oldest is replaced:
    trails: npt.NDArray[np.int32]  # [n] trails added so far
    trail_of: npt.NDArray[np.int32]  # [n, capacity] the subscriber's node id; -1 free
    trail_topic: npt.NDArray[np.int32]  # [n, capacity]
    trail_number: npt.NDArray[np.int32]  # [n, capacity] the subscriber's number of the query
    trail_back: npt.NDArray[np.int32]  # [n, capacity] neighbour that first sent the query
    # Neighbours on paths to subscribers; in a full table the oldest is replaced:
    branches: npt.NDArray[np.int32]  # [n] branches added so far
    branch_topic: npt.NDArray[np.int32]  # [n, capacity] -1 free
    branch_to: npt.NDArray[np.int32]  # [n, capacity] the neighbour's node id


def blank_state(
    node_ids: npt.NDArray[np.int32],
    publishers: int,
    topics: int,
    seed: int,
    trails: int = TRAILS,
    branches: int = BRANCHES,
    *,
    in_flight: int = WINDOW,
) -> RumorState:
    """Return the initial state of rumor routing nodes, with table sizes `trails` and `branches`.

    publishers: whose `in_flight` newest events a node distinguishes; it forwards no older event.
    The node in the middle of a star has the trails of all subscriptions. When a full table replaces
    its oldest entry, an answer or the events on a branch get lost; then `state.trails` or
    `state.branches` is above the capacity.
    """
    n = len(node_ids)
    return RumorState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        next_hop=np.full((n, topics), NONE, np.int32),
        distance=np.full((n, topics), NONE, np.int32),
        latest=np.full((n, topics), NONE, np.int32),
        latest_epoch=np.zeros((n, topics), np.uint32),
        subscribed=no_subscriptions(n, topics),
        attached=np.zeros((n, topics), np.uint8),
        open_query=np.full((n, topics), NONE, np.int32),
        seen=empty_windows(n, publishers, in_flight),
        queries=np.zeros(n, np.int32),
        trails=np.zeros(n, np.int32),
        trail_of=np.full((n, trails), NONE, np.int32),
        trail_topic=np.zeros((n, trails), np.int32),
        trail_number=np.zeros((n, trails), np.int32),
        trail_back=np.zeros((n, trails), np.int32),
        branches=np.zeros(n, np.int32),
        branch_topic=np.full((n, branches), NONE, np.int32),
        branch_to=np.zeros((n, branches), np.int32),
    )


@inlined
def learn_path(state, i, topic, distance, next_hop):
    """Keep the path to a topic that a rumor routing agent brought, if it is shorter than the kept
    path [Braginsky & Estrin 2002].
    """
    # While nodes keep their memory, paths only get shorter. So each next hop is closer than the
    # node itself, and paths have no cycles. But a node that lost its memory may learn a path that
    # leads back to it. Queries end in this cycle, until an agent brings a shorter path to one of
    # its nodes.
    if state.distance[i, topic] == NONE or distance < state.distance[i, topic]:
        state.distance[i, topic] = distance
        state.next_hop[i, topic] = next_hop


@inlined
def nearest_but(state, i, topic):
    """Return the topic other than `topic` with the shortest path in a rumor routing node's state.

    Return NONE if there is no such topic.
    """
    best = np.int64(NONE)
    for other in range(state.distance.shape[1]):
        if (
            other != topic
            and state.distance[i, other] != NONE
            and (best == NONE or state.distance[i, other] < state.distance[i, best])
        ):
            best = np.int64(other)
    return best


@inlined
def place_of_trail(state, i, subscriber, topic, number):
    """Return the place of a query's trail in a rumor routing node's state, or NO_PLACE."""
    for place in range(min(state.trails[i], state.trail_of.shape[1])):
        if (
            state.trail_number[i, place] == number
            and state.trail_of[i, place] == subscriber
            and state.trail_topic[i, place] == topic
        ):
            return place
    return NO_PLACE


@inlined
def place_for_trail(state, i, subscriber, topic):
    """Return the place for another trail of a subscription in a rumor routing node's state: that of
    its earliest trail, or a new place if the node has fewer than `TRAILS_EACH`.
    """
    trails_kept, earliest = 0, np.int64(NO_PLACE)
    for place in range(min(state.trails[i], state.trail_of.shape[1])):
        if state.trail_of[i, place] == subscriber and state.trail_topic[i, place] == topic:
            trails_kept += 1
            if (
                earliest == NO_PLACE
                or state.trail_number[i, place] < state.trail_number[i, earliest]
            ):
                earliest = np.int64(place)
    if trails_kept >= TRAILS_EACH:
        return earliest
    state.trails[i] += 1
    return (state.trails[i] - 1) % state.trail_of.shape[1]


@inlined
def keep_trail(state, i, subscriber, topic, number, back):
    """Keep the trail of a rumor routing query: the neighbour from which the query first came; later
    visits are loops of the walk.

    A subscriber repeats a query whose answer may still be under way, so the node also keeps the
    trails of the queries before.
    """
    if place_of_trail(state, i, subscriber, topic, number) == NO_PLACE:
        place = place_for_trail(state, i, subscriber, topic)
        state.trail_of[i, place] = subscriber
        state.trail_topic[i, place] = topic
        state.trail_number[i, place] = number
        state.trail_back[i, place] = back


@inlined
def add_branch(state, i, topic, to):
    """Add a neighbour as a branch of a topic to a rumor routing node's state; the node forwards
    events to it.
    """
    capacity = state.branch_topic.shape[1]
    for place in range(min(state.branches[i], capacity)):
        if state.branch_topic[i, place] == topic and state.branch_to[i, place] == to:
            return
    place = state.branches[i] % capacity
    state.branch_topic[i, place] = topic
    state.branch_to[i, place] = to
    state.branches[i] += 1


def shortfalls(state: RumorState) -> dict[str, int]:
    """Return how many trails and branches in the full tables of rumor routing nodes a newer one
    replaced.
    """
    over = (state.trails - state.trail_of.shape[1], state.branches - state.branch_topic.shape[1])
    trails, branches = (int(np.maximum(some, 0).sum()) for some in over)
    return {"forgotten trails of queries": trails, "forgotten branches of paths": branches}
