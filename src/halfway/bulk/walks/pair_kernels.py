"""The compiled kernels of a pair of bulk walks: the two walks step on a static graph until they
meet.

The message-level run gives the same nodes in the same order and the same meeting for the same
seeds. The module `networks` stores a network, `trails` stores trails, and `choices` chooses the
next node. The kernels depend on none of these choices.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.choices import next_position
from halfway.bulk.walks.networks import degree_of, end_of, link_of, neighbours_of
from halfway.bulk.walks.trails import hears, leave_trail, passage
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded


class PairOfWalks(NamedTuple):
    """A pair of bulk walks between two steps."""

    at: npt.NDArray[np.uint32]  # [2] node of each walk
    position: npt.NDArray[np.uint32]  # [2] position of the next node among the neighbours
    random: npt.NDArray[np.uint64]  # [2] random state
    passed: npt.NDArray[np.uint32]  # [2] number of passed nodes
    steps: npt.NDArray[np.int64]  # [1] steps of both walks


class MeetingRule(NamedTuple):
    """The rule by which the two bulk walks of a pair meet."""

    k: int  # steps of the second walk after each step of the first
    advertise: bool  # whether a walk also meets a trail that a neighbour carries
    most_steps: int  # of both walks


class Meetings(NamedTuple):
    """The meetings of many pairs of bulk walks, which `meetings` fills."""

    steps: npt.NDArray[np.int64]  # [P] steps of both walks together
    nodes: npt.NDArray[np.int64]  # [P] node of the meeting, or -1


def pair_of_walks() -> PairOfWalks:
    """Return the empty arrays for a pair of bulk walks, which `begin_pair` fills."""
    at, position, passed = np.zeros((3, 2), np.uint32)
    return PairOfWalks(at, position, np.zeros(2, np.uint64), passed, np.zeros(1, np.int64))


@inlined
def last_advertiser(trails, graph, stamp, w, y):
    """Return the node where the other bulk walk of a pair, on y, meets the advertised trail of walk
    w: the neighbour of y that w passed last.
    """
    latest = np.int64(0)
    v = np.uint32(0)
    for neighbour in neighbours_of(graph, y):
        u = np.uint32(neighbour)
        order = passage(trails, stamp, w, u)
        if order > 0 and order >= latest:
            latest = order
            v = u
    return v


@inlined
def visit(trails, graph, stamp, w, x, y, passed, advertise):
    """Let bulk walk w of a pair step from x onto node y; return 1 for a first visit, otherwise 0,
    and whether the walks meet.
    """
    order = passage(trails, stamp, w, y) - 1
    first = order < 0
    if first:
        order = np.int64(passed)
        leave_trail(trails, graph, stamp, w, y, x, passed, advertise)
    met = passage(trails, stamp, 1 - w, y) > 0
    if advertise:
        met = met or hears(trails, graph, stamp, 1 - w, y, order)
    return np.uint32(first), met


@inlined
def meeting_at(trails, graph, stamp, w, y, passed):
    """Return the node where bulk walk w of a pair, now on y, meets the other walk, and the extra
    steps to this node.

    The node is y if the other walk passed it, or else the last advertiser around y.
    """
    if passage(trails, stamp, 1 - w, y) > 0:
        return np.int64(y), 0
    v = last_advertiser(trails, graph, stamp, 1 - w, y)
    if passage(trails, stamp, w, v) == 0:
        leave_trail(trails, graph, stamp, w, v, y, passed, False)
    return np.int64(v), 1


@inlined
def begin(trails, graph, stamp, walks, w, x, seed, stream, advertise):
    """Begin a bulk walk of a pair [drw Fig. 3, line 1] at its initiator x, which has the trail of
    the walk.
    """
    leave_trail(trails, graph, stamp, w, x, x, np.uint32(0), advertise)
    walks.random[w] = advanced(seeded(seeded(seed, x), stream))
    walks.position[w] = pick(mixed(walks.random[w]), degree_of(graph, x))
    walks.at[w], walks.passed[w] = x, 1


@inlined
def begin_walks(trails, graph, walks, a, b, seed, topic, advertise):
    """Begin the two bulk walks of a pair at a and b. Returns the stamp of the pair."""
    trails.stamp[0] += np.uint32(1)
    stamp = trails.stamp[0]
    begin(trails, graph, stamp, walks, 0, a, seed, 2 * topic, advertise)
    begin(trails, graph, stamp, walks, 1, b, seed, 2 * topic + 1, advertise)
    walks.steps[0] = 0
    return stamp


@inlined
def step(memory, trails, graph, stamp, w, x, e, random, passed, advertise):
    """Make one step of bulk walk w of a pair from x over link e.

    Returns the meeting node or -1, the steps, the reached node, and for this node the position of
    the next node, the random state and the number of passed nodes.
    """
    y = end_of(graph, e)
    first, met = visit(trails, graph, stamp, w, x, y, passed, advertise)
    passed = np.uint32(passed + first)
    if met:
        node, extra = meeting_at(trails, graph, stamp, w, y, passed)
        return node, 1 + extra, y, np.uint32(0), random, passed
    random = advanced(random)
    z = np.uint32(next_position(memory, graph, stamp, w, e, x, mixed(random)))
    return np.int64(-1), 1, y, z, random, passed


@inlined
def meet(memory, trails, graph, stamp, walks, rule, pause):
    """Continue a pair of bulk walks until they meet, have made the most steps, or could exceed
    `pause` steps. Return the meeting node or -1.

    A meeting by an advertised trail may take one step more.
    """
    k, advertise, most_steps = rule.k, rule.advertise, rule.most_steps
    x_a, x_b = walks.at[0], walks.at[1]
    z_a, z_b = walks.position[0], walks.position[1]
    e_a, e_b = link_of(graph, x_a, z_a), link_of(graph, x_b, z_b)
    random_a, random_b = walks.random[0], walks.random[1]
    passed_a, passed_b = walks.passed[0], walks.passed[1]
    met, steps = np.int64(-1), walks.steps[0]
    while met < 0 and steps < most_steps and steps + k < pause:
        met, made, x_a, z_a, random_a, passed_a = step(
            memory, trails, graph, stamp, 0, x_a, e_a, random_a, passed_a, advertise
        )
        e_a = link_of(graph, x_a, z_a)
        steps += made
        for _ in range(min(k, most_steps - steps)):
            if met >= 0:
                break
            met, made, x_b, z_b, random_b, passed_b = step(
                memory, trails, graph, stamp, 1, x_b, e_b, random_b, passed_b, advertise
            )
            e_b = link_of(graph, x_b, z_b)
            steps += made
    walks.at[0], walks.at[1], walks.position[0], walks.position[1] = x_a, x_b, z_a, z_b
    walks.random[0], walks.random[1] = random_a, random_b
    walks.passed[0], walks.passed[1], walks.steps[0] = passed_a, passed_b, steps
    return met


@kernel
def begin_pair(trails, graph, walks, a, b, seed, topic, advertise):
    """Begin one pair of bulk walks at a and b, as pair `topic` of `meetings`. Returns its stamp."""
    trails, graph, walks = borrowed(trails), borrowed(graph), borrowed(walks)
    return begin_walks(trails, graph, walks, np.uint32(a), np.uint32(b), seed, topic, advertise)


@kernel
def continue_pair(memory, trails, graph, stamp, walks, rule, pause):
    """Continue one pair of bulk walks, as `meet` does."""
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    walks = borrowed(walks)
    return meet(memory, trails, graph, stamp, walks, rule, pause)


@kernel
def stride(memory, trails, graph, stamp, walks, w, advertise):
    """Make one step of bulk walk w of a pair, as a kernel that Python calls. Returns the meeting
    node or -1, and the steps.
    """
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    x = walks.at[w]
    e = link_of(graph, x, walks.position[w])
    met, made, y, z, random, passed = step(
        memory, trails, graph, stamp, w, x, e, walks.random[w], walks.passed[w], advertise
    )
    walks.at[w], walks.position[w] = y, z
    walks.random[w], walks.passed[w] = random, passed
    walks.steps[0] += made
    return met, made


@inlined
def meet_once(memory, trails, graph, walks, pair, seed, topic, rule):
    """Run a pair [2] of bulk walks until they meet. Return the node or -1."""
    a, b = np.uint32(pair[0]), np.uint32(pair[1])
    stamp = begin_walks(trails, graph, walks, a, b, seed, topic, rule.advertise)
    never = np.int64(1) << 62
    return meet(memory, trails, graph, stamp, walks, rule, never)


@kernel
def meetings(memory, trails, graph, walks, pairs, seed, rule, found):
    """Run all pairs of bulk walks [P, 2], where pair p has topic p, and fill in their meetings."""
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    walks = borrowed(walks)
    for p in range(pairs.shape[0]):
        found.nodes[p] = meet_once(memory, trails, graph, walks, pairs[p], seed, p, rule)
        found.steps[p] = walks.steps[0]
