"""What a node of Rumor Routing remembers: ways to topics, queries that passed, who asked.

How agents and queries move is not decided here.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.prng import random_states
from halfway.protocols.event_window import empty_window

NONE = np.int32(-1)


class RumorState(NamedTuple):
    """What a node remembers: ways, its application's wishes, queries that passed, who asked."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    towards: npt.NDArray[np.int32]  # [n, topics] next hop to a witness; itself if it is one; -1
    distance: npt.NDArray[np.int32]  # [n, topics] hops to it; -1 unknown
    latest: npt.NDArray[np.int32]  # [n, topics] a witness's latest event; -1 none
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application wants the topic
    attached: npt.NDArray[np.uint8]  # [n, topics] 1 once this node's own query was answered
    asking: npt.NDArray[np.uint8]  # [n, topics] 1 while a query of this node's own is open
    seen: npt.NDArray[np.int32]  # [n, window] the last events passed on, see `recent`
    boots: npt.NDArray[np.int32]  # [n] BOOTs so far: a RETRY of an older one is void
    queries: npt.NDArray[np.int32]  # [n] queries that this node has sent, each its number
    # Queries that passed; over a full memory the oldest is forgotten:
    trails: npt.NDArray[np.int32]  # [n] trails ever kept
    trail_of: npt.NDArray[np.int32]  # [n, memory] the subscriber's name; -1 free
    trail_number: npt.NDArray[np.int32]  # [n, memory] its number for the query
    trail_back: npt.NDArray[np.int32]  # [n, memory] who brought it first
    # Neighbours who lead to subscribers; over a full memory the oldest is forgotten:
    branches: npt.NDArray[np.int32]  # [n] branches ever grown
    branch_topic: npt.NDArray[np.int32]  # [n, memory] -1 free
    branch_to: npt.NDArray[np.int32]  # [n, memory] the neighbour's name


def state(
    node_ids: npt.NDArray[np.int32],
    window: int,
    topics: int,
    seed: int,
    trails: int = 32,
    branches: int = 32,
) -> RumorState:
    """Nodes that know nothing; `trails` and `branches` are a node's memory for each.

    window: events that may be on their way at a time; an older one is not passed on any more.
    A full memory forgets its oldest entry, because a mote has no heap; then an answer or the
    events on a branch get lost, and `state.trails`, `state.branches` above the capacity tell it.
    """
    n = len(node_ids)
    return RumorState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        towards=np.full((n, topics), NONE, np.int32),
        distance=np.full((n, topics), NONE, np.int32),
        latest=np.full((n, topics), NONE, np.int32),
        subscribed=np.zeros((n, topics), np.uint8),
        attached=np.zeros((n, topics), np.uint8),
        asking=np.zeros((n, topics), np.uint8),
        seen=empty_window(n, window),
        boots=np.zeros(n, np.int32),
        queries=np.zeros(n, np.int32),
        trails=np.zeros(n, np.int32),
        trail_of=np.full((n, trails), NONE, np.int32),
        trail_number=np.zeros((n, trails), np.int32),
        trail_back=np.zeros((n, trails), np.int32),
        branches=np.zeros(n, np.int32),
        branch_topic=np.full((n, branches), NONE, np.int32),
        branch_to=np.zeros((n, branches), np.int32),
    )


@inlined
def learn(state, i, topic, distance, towards):
    """Keep the shorter of the node's way and the walker's."""
    # Only ever shorter, so each way's next hop is nearer than the node: ways have no loops.
    if state.distance[i, topic] == NONE or distance < state.distance[i, topic]:
        state.distance[i, topic] = distance
        state.towards[i, topic] = towards


@inlined
def nearest_but(state, i, topic):
    """The topic other than `topic` to which this node knows the shortest way; -1 if to none."""
    best = -1
    for other in range(state.distance.shape[1]):
        if (
            other != topic
            and state.distance[i, other] != NONE
            and (best == -1 or state.distance[i, other] < state.distance[i, best])
        ):
            best = other
    return best


@inlined
def trail(state, i, subscriber, number):
    """Where this node remembers that query; -1 if it does not."""
    for place in range(min(state.trails[i], state.trail_of.shape[1])):
        if state.trail_of[i, place] == subscriber and state.trail_number[i, place] == number:
            return place
    return -1


@inlined
def keep_trail(state, i, subscriber, number, back):
    """Remember who brought a query first: later passages are loops of its walk."""
    if trail(state, i, subscriber, number) == -1:
        place = state.trails[i] % state.trail_of.shape[1]
        state.trail_of[i, place] = subscriber
        state.trail_number[i, place] = number
        state.trail_back[i, place] = back
        state.trails[i] += 1


@inlined
def grow_branch(state, i, topic, to):
    """From now on events of the topic go to that neighbour as well."""
    capacity = state.branch_topic.shape[1]
    for place in range(min(state.branches[i], capacity)):
        if state.branch_topic[i, place] == topic and state.branch_to[i, place] == to:
            return
    place = state.branches[i] % capacity
    state.branch_topic[i, place] = topic
    state.branch_to[i, place] = to
    state.branches[i] += 1
