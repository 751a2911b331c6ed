"""Kernels that build an overlay of walks over a static graph [dwo Alg. 1, 2]: a step, a decision.

Twin of the message-level run: the protocol's own `chosen` and `cost` decide here too. Marks are
kept by walk in stamped cells, so that neither a new walk nor a new overlay clears anything.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, seeded
from halfway.protocols.walk_overlay.next_hop import MET, NOBODY, PASSED, chosen, cost

# What came of one decision.
MOVED, RETREATED, JOINED, EXHAUSTED = 0, 1, 2, 3
NO_ROW = np.int64(-1)
HEADS = 4  # two walks together, of two branches at most


class Recipe(NamedTuple):
    """How walks are made."""

    pure: bool  # a pure random walk: no marks, no memory
    alpha: float  # [dwo (2)] weight of |N(v) ∩ N(DRW)|
    beta: float  # [dwo (2)] weight of |N(v) ∩ N²(DRW)|
    branches: int  # 1, or 2: a walk grows at both ends
    # When N(y) counts: False as soon as the walk leaves y (Alg. 2, Fig. 5); True once it is on y
    # (equation 4).
    early: bool


class Field(NamedTuple):
    """What walks left on the nodes. Slot w & 1 of a cell is walk w's: two at most walk at once."""

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
    """What an overlay came to."""

    order: npt.NDArray[np.int32]  # [n] its rows in the order in which they were added
    walk: npt.NDArray[np.int32]  # [n] the walk that added each of them
    tally: npt.NDArray[np.int64]  # [2] rows added; steps back
    steps: npt.NDArray[np.int64]  # [I] decisions of each walk, those to go back included
    met_from: npt.NDArray[np.int32]  # [I] row from which the walk heard the other; -1 it did not
    met_at: npt.NDArray[np.int32]  # [I] row of the other walk; an initiator on a walk: itself


def field(n: int, degree: int) -> Field:
    """A field of n rows that nobody has walked on; `degree` is the largest."""
    return Field(
        stamp=np.zeros(1, np.uint32),
        owner=np.zeros(n, np.uint32),
        back=np.zeros(n, np.int32),
        marked=np.zeros((n, 2), np.uint32),
        second=np.zeros((n, 2), np.uint32),
        counted=np.zeros((n, 2), np.uint32),
        near=np.zeros((n, 2), np.int32),
        far=np.zeros((n, 2), np.int32),
        bids=np.zeros(degree),
    )


def built(n: int, initiators: int) -> Built:
    """Room for an overlay."""
    return Built(
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.zeros(2, np.int64),
        np.zeros(initiators, np.int64),
        np.full(initiators, NO_ROW, np.int32),
        np.full(initiators, NO_ROW, np.int32),
    )


@inlined
def counting(field, v, slot, stamp):
    """Make the counts of a node those of this walk."""
    if field.counted[v, slot] != stamp:
        field.counted[v, slot] = stamp
        field.near[v, slot] = 0
        field.far[v, slot] = 0


@inlined
def mark_second(field, ground, u, slot, stamp):
    """A neighbour of u is in N(DRW): u is in N²(DRW), and each of its neighbours counts it."""
    if field.second[u, slot] == stamp:
        return
    field.second[u, slot] = stamp
    for e in range(ground.start[u], ground.start[np.uint32(u + 1)]):
        z = np.uint32(ground.who[e])
        counting(field, z, slot, stamp)
        field.far[z, slot] += 1


@inlined
def mark_around(field, ground, recipe, y, slot, stamp):
    """[dwo (4)] N(y) joins N(DRW): who is new to it is counted by each of its neighbours."""
    if recipe.pure:
        return
    for e in range(ground.start[y], ground.start[np.uint32(y + 1)]):
        u = np.uint32(ground.who[e])
        if field.marked[u, slot] == stamp:
            continue
        field.marked[u, slot] = stamp
        for f in range(ground.start[u], ground.start[np.uint32(u + 1)]):
            z = np.uint32(ground.who[f])
            counting(field, z, slot, stamp)
            field.near[z, slot] += 1
            if recipe.beta != 0.0:
                mark_second(field, ground, z, slot, stamp)


@inlined
def gather(field, ground, recipe, y, slot, stamp, first):
    """What each neighbour of y bids to a walk; `first` is the stamp of the overlay's first walk."""
    begin = ground.start[y]
    degree = np.int64(ground.start[np.uint32(y + 1)] - begin)
    for p in range(degree):
        v = np.uint32(ground.who[np.uint32(begin + p)])
        if field.owner[v] == stamp:
            field.bids[p] = PASSED
        elif field.owner[v] >= first:
            field.bids[p] = MET
        elif recipe.pure:
            field.bids[p] = 0.0  # it goes anywhere, whatever that costs
        else:
            counting(field, v, slot, stamp)
            field.bids[p] = cost(recipe.alpha, recipe.beta, field.near[v, slot], field.far[v, slot])
    return degree


@inlined
def add(field, told, v, back, stamp, walk):
    """A node becomes part of a walk."""
    field.owner[v] = stamp
    field.back[v] = back
    told.order[told.tally[0]] = v
    told.walk[told.tally[0]] = walk
    told.tally[0] += 1


@inlined
def decide(field, ground, recipe, told, y, word, slot, stamp, first, walk):
    """One decision of a walk whose head is y. (where its head is then, what came of it)."""
    if recipe.early and told.steps[walk] > 0:  # [dwo Alg. 2, line 11] the first step is random
        mark_around(field, ground, recipe, y, slot, stamp)
    degree = gather(field, ground, recipe, y, slot, stamp, first)
    p = chosen(field.bids, degree, recipe.pure, mixed(word))
    told.steps[walk] += 1
    if p != NOBODY:
        z = np.uint32(ground.who[np.uint32(ground.start[y] + p)])
        if field.bids[p] == MET:
            told.met_from[walk] = y
            told.met_at[walk] = z
            return z, JOINED
        if field.owner[z] != stamp:
            add(field, told, z, y, stamp, walk)
        mark_around(field, ground, recipe, y, slot, stamp)
        return z, MOVED
    # [dwo §V-B] it "goes back in the DRW to search for the nearest non traversed neighbor"
    if np.uint32(field.back[y]) == y:
        return y, EXHAUSTED
    mark_around(field, ground, recipe, y, slot, stamp)
    told.tally[1] += 1
    return np.uint32(field.back[y]), RETREATED


@inlined
def together(field, ground, recipe, told, initiators, walk, count, seed, first, most_steps):
    """Let `count` walks from `walk` on take turns until one is joined or all are exhausted."""
    at = np.zeros(HEADS, np.uint32)
    words = np.zeros(HEADS, np.uint64)
    going = np.zeros(HEADS, np.bool_)
    heads = count * recipe.branches
    stamps = field.stamp[0] + np.uint32(1)
    field.stamp[0] += np.uint32(count)
    for h in range(heads):
        w, branch = h % count, h // count
        row = np.uint32(initiators[walk + w])
        at[h], going[h] = row, True
        words[h] = seeded(seeded(seed, row), branch)
        if branch == 0:
            add(field, told, row, row, np.uint32(stamps + w), walk + w)
    left, steps = heads, 0
    while left > 0 and steps < most_steps:
        for h in range(heads):
            if not going[h]:
                continue
            w = h % count
            words[h] = advanced(words[h])
            at[h], what = decide(
                field, ground, recipe, told, at[h], words[h], (walk + w) & 1,
                np.uint32(stamps + w), first, walk + w,
            )  # fmt: skip
            steps += 1
            if what == JOINED:
                return
            if what == EXHAUSTED:
                going[h] = False
                left -= 1


@kernel
def build(ground, field, recipe, told, initiators, together_at_first, seed, most_steps):
    """[dwo Alg. 1] The first walks together, then one by one; each until it meets another."""
    ground, field, told = borrowed(ground), borrowed(field), borrowed(told)
    first = field.stamp[0] + np.uint32(1)
    walk = 0
    while walk < initiators.shape[0]:
        count = together_at_first if walk == 0 else 1
        row = np.uint32(initiators[walk])
        if field.owner[row] >= first:  # it sits on a walk: part of the overlay already
            told.met_at[walk] = row
        else:
            together(field, ground, recipe, told, initiators, walk, count, seed, first, most_steps)
        walk += count


@kernel
def prune(n, links, ends, kept):
    """Let `kept` [n] go where a node has at most one of the links [L, 2] left; `ends` counts them.

    Whoever shall stay whatever happens has a count of n and more.
    """
    start = np.zeros(n + 1, np.int64)
    for a in range(links.shape[0]):
        start[links[a, 0] + 1] += 1
        start[links[a, 1] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    other = np.empty(2 * links.shape[0], np.int64)
    filled = start[:-1].copy()
    for a in range(links.shape[0]):
        for side in range(2):
            i = links[a, side]
            other[filled[i]] = links[a, 1 - side]
            filled[i] += 1
    for leaf in range(n):
        i = leaf
        while kept[i] and ends[i] <= 1:
            kept[i] = False
            following = i
            for e in range(start[i], start[i + 1]):
                if kept[other[e]]:
                    ends[other[e]] -= 1
                    following = other[e]
            i = following
