"""Kernels that build walk overlays over a static graph [dwo Alg. 1, 2], one decision a step.

Twin of the message-level run: both call the protocol's `next_hop.chosen` and `next_hop.cost`. Marks
are stamped with their walk, so that neither a new walk nor a new overlay has to clear them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.missing import NO_PLACE
from halfway.core.prng import advanced, mixed, seeded
from halfway.protocols.walk_overlay.next_hop import MET, PASSED, chosen, cost

# The outcome of one decision.
MOVED, RETREATED, JOINED, EXHAUSTED = 0, 1, 2, 3
HEADS = 4  # at most two walks together, of at most two branches


class Recipe(NamedTuple):
    """The rules of a walk in the bulk overlay's kernels."""

    pure: bool  # a pure random walk: no marks
    alpha: float  # [dwo (2)] weight of |N(v) ∩ N(DRW)|
    beta: float  # [dwo (2)] weight of |N(v) ∩ N²(DRW)|
    branches: int  # 1, or 2: a walk grows at both ends
    # When N(y) counts: False as soon as the walk leaves y (Alg. 2, Fig. 5); True once it is on y
    # (equation 4).
    early: bool


class Marks(NamedTuple):
    """The marks of a bulk overlay's walks. Walk w uses slot w & 1: at most two walk at once."""

    stamp: npt.NDArray[np.uint32]  # [1] of the last walk ever
    owner: npt.NDArray[np.uint32]  # [n] stamp of the walk that the node is part of
    back: npt.NDArray[np.int32]  # [n] row the walk came from; itself at the initiator
    marked: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk whose N(DRW) the node is in
    second: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk whose N²(DRW) the node is in
    counted: npt.NDArray[np.uint32]  # [n, 2] stamp of the walk that `near` and `far` count for
    near: npt.NDArray[np.int32]  # [n, 2] |N(v) ∩ N(DRW)|
    far: npt.NDArray[np.int32]  # [n, 2] |N(v) ∩ N²(DRW)|
    bids: npt.NDArray[np.float64]  # [degree] of the decision at hand


class Built(NamedTuple):
    """The nodes, steps and meetings of one overlay that the bulk kernels build."""

    order: npt.NDArray[np.int32]  # [n] its rows in the order in which they were added
    walk: npt.NDArray[np.int32]  # [n] the walk that added each of them
    tally: npt.NDArray[np.int64]  # [2] rows added; steps back
    steps: npt.NDArray[np.int64]  # [I] decisions of each walk, those to go back included
    met_from: npt.NDArray[np.int32]  # [I] row next to the other walk; -1: no meeting
    met_at: npt.NDArray[np.int32]  # [I] row of the other walk; an initiator on a walk: itself


def unmarked(n: int, degree: int) -> Marks:
    """Return the kernels' marks of n rows before any overlay walk; `degree` is the largest."""
    marked, second, counted = np.zeros((3, n, 2), np.uint32)
    near, far = np.zeros((2, n, 2), np.int32)
    return Marks(
        np.zeros(1, np.uint32), np.zeros(n, np.uint32), np.zeros(n, np.int32), marked, second,
        counted, near, far, np.zeros(degree),
    )  # fmt: skip


def nothing_built(n: int, initiators: int) -> Built:
    """Return a bulk overlay without nodes, with room for n, for the kernels."""
    order, walk = np.empty((2, n), np.int32)
    met_from, met_at = np.full((2, initiators), -1, np.int32)
    steps = np.zeros(initiators, np.int64)
    return Built(order, walk, np.zeros(2, np.int64), steps, met_from, met_at)


@inlined
def counting(marks, v, slot, stamp):
    """Reset a node's counts in the bulk overlay's marks unless they are this walk's."""
    if marks.counted[v, slot] != stamp:
        marks.counted[v, slot] = stamp
        marks.near[v, slot] = 0
        marks.far[v, slot] = 0


@inlined
def mark_second(marks, graph, u, slot, stamp):
    """Add u, next to N(DRW), to a bulk walk's N²(DRW); each of u's neighbours counts it."""
    if marks.second[u, slot] == stamp:
        return
    marks.second[u, slot] = stamp
    for e in range(graph.start[u], graph.start[np.uint32(u + 1)]):
        z = np.uint32(graph.who[e])
        counting(marks, z, slot, stamp)
        marks.far[z, slot] += 1


@inlined
def mark_around(marks, graph, recipe, y, slot, stamp):
    """[dwo (4)] Add N(y) to a bulk walk's N(DRW); each neighbour of a node new there counts it."""
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
    """Collect the bids of y's neighbours for a bulk walk; `first` stamps the overlay's first."""
    begin = graph.start[y]
    degree = np.int64(graph.start[np.uint32(y + 1)] - begin)
    for p in range(degree):
        v = np.uint32(graph.who[np.uint32(begin + p)])
        if marks.owner[v] == stamp:
            marks.bids[p] = PASSED
        elif marks.owner[v] >= first:
            marks.bids[p] = MET
        elif recipe.pure:
            marks.bids[p] = 0.0  # any neighbour will do
        else:
            counting(marks, v, slot, stamp)
            marks.bids[p] = cost(recipe.alpha, recipe.beta, marks.near[v, slot], marks.far[v, slot])
    return degree


@inlined
def add(marks, built, v, back, stamp, walk):
    """Add a node to a walk of the bulk overlay."""
    marks.owner[v] = stamp
    marks.back[v] = back
    built.order[built.tally[0]] = v
    built.walk[built.tally[0]] = walk
    built.tally[0] += 1


@inlined
def decide(marks, graph, recipe, built, y, word, slot, stamp, first, walk):
    """Make one decision of a bulk walk whose head is y. Returns (its new head, the outcome)."""
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
    """Let `count` bulk walks from `walk` on take turns until a meeting or all are exhausted."""
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
    """[dwo Alg. 1] Build a bulk overlay: first walks together, then one by one, until each meets
    another.
    """
    graph, marks, built = borrowed(graph), borrowed(marks), borrowed(built)
    first = marks.stamp[0] + np.uint32(1)
    walk = 0
    while walk < initiators.shape[0]:
        count = together_at_first if walk == 0 else 1
        row = np.uint32(initiators[walk])
        if marks.owner[row] >= first:  # on a walk, so in the overlay already
            built.met_at[walk] = row
        else:
            together(marks, graph, recipe, built, initiators, walk, count, seed, first, most_steps)
        walk += count


@kernel
def prune(n, links, ends, kept):
    """Clear dead ends of a bulk overlay in `kept` [n], repeatedly.

    `ends` counts each node's links [L, 2]. A node with a count of n or more is never cleared; every
    component has such a node.
    """
    others = np.zeros(n, np.int64)  # XOR of the neighbours left: at a dead end, its neighbour
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
