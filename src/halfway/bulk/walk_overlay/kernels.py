"""The kernels that build walk overlays on a static graph [dwo Alg. 1, 2], one decision a step.

The kernels are twins of the message-level run: both call the protocol's `bids.chosen` and
`bids.cost`. Each mark has the stamp of its walk, so that a new walk or a new overlay need not
clear old marks.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.missing import NO_PLACE
from halfway.core.prng import advanced, mixed, seeded
from halfway.protocols.walk_overlay.bids import MET, PASSED, chosen, cost

# The outcome of one decision.
MOVED, RETREATED, JOINED, EXHAUSTED = 0, 1, 2, 3
HEADS = 4  # at most two walks at a time, with at most two branches


class Recipe(NamedTuple):
    """The rules of a walk in the kernels that build a walk overlay."""

    pure: bool  # a pure random walk: no marks
    alpha: float  # [dwo (2)] weight of |N(v) ∩ N(DRW)|
    beta: float  # [dwo (2)] weight of |N(v) ∩ N²(DRW)|
    branches: int  # 1, or 2: a walk grows at both ends
    # When N(y) counts. False: when the walk leaves y (Alg. 2, Fig. 5); True: when the walk arrives
    # on y (equation 4).
    early: bool


class Marks(NamedTuple):
    """The marks that walks leave in the kernels of a walk overlay, where walk w uses slot w & 1,
    because at most two walks run at once.
    """

    stamp: npt.NDArray[np.uint32]  # [1] stamp of the last walk so far
    owner: npt.NDArray[np.uint32]  # [n] stamp of the walk that the node is part of
    back: npt.NDArray[np.int32]  # [n] row from which the walk came; itself at the initiator
    marked: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk whose N(DRW) the node is in
    second: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk whose N²(DRW) the node is in
    counted: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk that `near` and `far` count for
    near: npt.NDArray[np.int32]  # [n, 2] |N(v) ∩ N(DRW)|
    far: npt.NDArray[np.int32]  # [n, 2] |N(v) ∩ N²(DRW)|
    bids: npt.NDArray[np.float64]  # [degree] bids of the present decision


class Built(NamedTuple):
    """The nodes, steps and meetings of one walk overlay that the kernels build."""

    order: npt.NDArray[np.int32]  # [n] rows of the overlay, in the order of addition
    walk: npt.NDArray[np.int32]  # [n] the walk that added each row
    tally: npt.NDArray[np.int64]  # [2] rows added; steps back
    steps: npt.NDArray[np.int64]  # [I] decisions of each walk, with steps back
    met_from: npt.NDArray[np.int32]  # [I] row next to the other walk; -1: no meeting
    met_at: npt.NDArray[np.int32]  # [I] row of the other walk; itself, if already on a walk


def unmarked(n: int, degree: int) -> Marks:
    """Return the marks of n rows before any walk, for the kernels of a walk overlay; `degree` is
    the largest number of neighbours.
    """
    marked, second, counted = np.zeros((3, n, 2), np.uint32)
    near, far = np.zeros((2, n, 2), np.int32)
    return Marks(
        stamp=np.zeros(1, np.uint32),
        owner=np.zeros(n, np.uint32),
        back=np.zeros(n, np.int32),
        marked=marked,
        second=second,
        counted=counted,
        near=near,
        far=far,
        bids=np.zeros(degree),
    )


def nothing_built(n: int, initiators: int) -> Built:
    """Return an overlay without nodes, which the kernels of a walk overlay fill, with room for n
    nodes.
    """
    order, walk = np.empty((2, n), np.int32)
    met_from, met_at = np.full((2, initiators), -1, np.int32)
    steps = np.zeros(initiators, np.int64)
    return Built(order, walk, np.zeros(2, np.int64), steps, met_from, met_at)


@inlined
def counting(marks, v, slot, stamp):
    """Reset the counts of a node in the marks of the kernels of a walk overlay, unless they belong
    to this walk.
    """
    if marks.counted[v, slot] != stamp:
        marks.counted[v, slot] = stamp
        marks.near[v, slot] = 0
        marks.far[v, slot] = 0


@inlined
def mark_second(marks, graph, u, slot, stamp):
    """Add node u, a neighbour of N(DRW), to N²(DRW) of a bulk overlay walk; each neighbour of u
    counts u.
    """
    if marks.second[u, slot] == stamp:
        return
    marks.second[u, slot] = stamp
    for e in range(graph.start[u], graph.start[np.uint32(u + 1)]):
        z = np.uint32(graph.who[e])
        counting(marks, z, slot, stamp)
        marks.far[z, slot] += 1


@inlined
def mark_around(marks, graph, recipe, y, slot, stamp):
    """[dwo (4)] Add N(y) to N(DRW) of a bulk overlay walk; each neighbour of a new node in N(DRW)
    counts this node.
    """
    if recipe.pure:
        return
    for e in range(graph.start[y], graph.start[np.uint32(y + 1)]):
        u = np.uint32(graph.who[e])
        if marks.marked[u, slot] == stamp:
            continue
        marks.marked[u, slot] = stamp
        for f in range(graph.start[u], graph.start[np.uint32(u + 1)]):
            z = np.uint32(graph.who[f])
            counting(marks, z, slot, stamp)
            marks.near[z, slot] += 1
            if recipe.beta != 0.0:
                mark_second(marks, graph, z, slot, stamp)


@inlined
def gather(marks, graph, recipe, y, slot, stamp, first):
    """Collect the bids of the neighbours of y in a kernel for a bulk overlay walk; `first` is the
    stamp of the overlay's first walk.
    """
    begin = graph.start[y]
    degree = np.int64(graph.start[np.uint32(y + 1)] - begin)
    for p in range(degree):
        v = np.uint32(graph.who[np.uint32(begin + p)])
        if marks.owner[v] == stamp:
            marks.bids[p] = PASSED
        elif marks.owner[v] >= first:
            marks.bids[p] = MET
        elif recipe.pure:
            marks.bids[p] = 0.0  # any neighbour is chosen
        else:
            counting(marks, v, slot, stamp)
            marks.bids[p] = cost(recipe.alpha, recipe.beta, marks.near[v, slot], marks.far[v, slot])
    return degree


@inlined
def add(marks, built, v, back, stamp, walk):
    """Add a node to a walk of the bulk overlay in a kernel."""
    marks.owner[v] = stamp
    marks.back[v] = back
    built.order[built.tally[0]] = v
    built.walk[built.tally[0]] = walk
    built.tally[0] += 1


@inlined
def decide(marks, graph, recipe, built, y, word, slot, stamp, first, walk):
    """Make one decision of a bulk overlay walk in a kernel, whose head is y; return the new head
    and the outcome.
    """
    if recipe.early and built.steps[walk] > 0:  # [dwo Alg. 2, line 11] the first step is random
        mark_around(marks, graph, recipe, y, slot, stamp)
    degree = gather(marks, graph, recipe, y, slot, stamp, first)
    p = chosen(marks.bids, degree, recipe.pure, mixed(word))
    built.steps[walk] += 1
    if p != NO_PLACE:
        z = np.uint32(graph.who[np.uint32(graph.start[y] + p)])
        if marks.bids[p] == MET:
            built.met_from[walk] = y
            built.met_at[walk] = z
            return z, JOINED
        if marks.owner[z] != stamp:
            add(marks, built, z, y, stamp, walk)
        mark_around(marks, graph, recipe, y, slot, stamp)
        return z, MOVED
    # [dwo §V-B] it "goes back in the DRW to search for the nearest non traversed neighbor"
    if np.uint32(marks.back[y]) == y:
        return y, EXHAUSTED
    mark_around(marks, graph, recipe, y, slot, stamp)
    built.tally[1] += 1
    return np.uint32(marks.back[y]), RETREATED


@inlined
def together(marks, graph, recipe, built, initiators, walk, count, seed, first, most_steps):
    """Let `count` bulk overlay walks in a kernel, from `walk` on, take turns until a meeting, or
    until all are exhausted.
    """
    at = np.zeros(HEADS, np.uint32)
    words = np.zeros(HEADS, np.uint64)
    going = np.zeros(HEADS, np.bool_)
    heads = count * recipe.branches
    stamps = marks.stamp[0] + np.uint32(1)
    marks.stamp[0] += np.uint32(count)
    for h in range(heads):
        w, branch = h % count, h // count
        row = np.uint32(initiators[walk + w])
        at[h], going[h] = row, True
        words[h] = seeded(seeded(seed, row), branch)
        if branch == 0:
            add(marks, built, row, row, np.uint32(stamps + w), walk + w)
    left, steps = heads, 0
    while left > 0 and steps < most_steps:
        for h in range(heads):
            if not going[h]:
                continue
            w = h % count
            words[h] = advanced(words[h])
            at[h], outcome = decide(
                marks, graph, recipe, built, at[h], words[h], (walk + w) & 1,
                np.uint32(stamps + w), first, walk + w,
            )  # fmt: skip
            steps += 1
            if outcome == JOINED:
                return
            if outcome == EXHAUSTED:
                going[h] = False
                left -= 1


@kernel
def build(graph, marks, recipe, built, initiators, together_at_first, seed, most_steps):
    """[dwo Alg. 1] Build a walk overlay in the kernels: the first walks run together, the others
    one by one, each until it meets another walk.
    """
    graph, marks, built = borrowed(graph), borrowed(marks), borrowed(built)
    first = marks.stamp[0] + np.uint32(1)
    walk = 0
    while walk < initiators.shape[0]:
        count = together_at_first if walk == 0 else 1
        row = np.uint32(initiators[walk])
        if marks.owner[row] >= first:  # the initiator is on a walk, and so in the overlay already
            built.met_at[walk] = row
        else:
            together(marks, graph, recipe, built, initiators, walk, count, seed, first, most_steps)
        walk += count


@kernel
def prune(n, links, ends, kept):
    """Clear the dead ends of a walk overlay in a kernel, in `kept` [n], repeatedly.

    `ends` counts each node's links [L, 2]. A node with a count of n or more is never cleared; every
    component has such a node.
    """
    others = np.zeros(n, np.int64)  # XOR of the remaining neighbours: at a dead end, its neighbour
    for a in range(links.shape[0]):
        others[links[a, 0]] ^= links[a, 1]
        others[links[a, 1]] ^= links[a, 0]
    for leaf in range(n):
        i = leaf
        while kept[i] and ends[i] <= 1:
            kept[i] = False
            others[others[i]] ^= i
            ends[others[i]] -= 1
            i = others[i]
