"""Neighbour discovery during a run: nodes learn of new and lost links after a delay.

A link works while its ends are up and in reach and the link is not cut. Both ends learn a fixed
time later that a link began to work or failed, as if every node sent hellos at this interval.
"""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.neighbourhood import Neighbourhood, exclude, include, is_full, place_of
from halfway.sim.engine.changes import (
    FORGOTTEN,
    KNOWN,
    LINK_GONE,
    LINK_NEAR,
    Changes,
    changes,
    merged,
)
from halfway.sim.engine.neighbour_lists import roomy
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP

_LISTS_FULL, _BUFFER_FULL = -1, -2


class NeighbourDiscovery:
    """The neighbour discovery of a run, which delays the changes of links by a constant time."""

    def __init__(self, links: Neighbourhood, delay_s: float) -> None:
        self._links, self._delay_s = roomy(links), delay_s
        n = len(links.first)
        self._up = np.ones(n, np.uint8)
        self._cut = np.zeros(0, np.uint8)
        self._waiting = changes([], [], [], [])

    def advance(self, world: Changes, end: float) -> Changes:
        """Return the changes KNOWN and FORGOTTEN before `end` that neighbour discovery reports."""
        learnt = self._learnt(world)
        delayed = changes(learnt.t + self._delay_s, learnt.kind, learnt.a, learnt.b)
        pending = merged(self._waiting, delayed)
        now = int(np.searchsorted(pending.t, end, side="left"))
        self._waiting = changes(*(column[now:] for column in pending[:4]))
        return changes(*(column[:now] for column in pending[:4]))

    def _learnt(self, world: Changes) -> Changes:
        if len(self._cut) != len(self._links.who):
            self._cut = np.zeros(len(self._links.who), np.uint8)
        parts: list[Changes] = []
        begin, capacity = 0, 4 * len(world.t) + 64
        while True:
            blank = np.zeros(capacity)
            learnt = changes(blank, blank, blank, blank)
            count, begin, why = _follow(self._links, self._up, self._cut, world, begin, learnt)
            parts.append(changes(*(column[:count] for column in learnt[:4])))
            if why == _LISTS_FULL:
                self._make_room()
            elif why == _BUFFER_FULL:
                capacity = 2 * capacity + len(self._links.first)
            else:
                return merged(*parts)

    def _make_room(self) -> None:
        # Only static links are cut, and their rows never fill.
        self._links = roomy(self._links)
        self._cut = np.zeros(len(self._links.who), np.uint8)


@inlined
def _append(learnt, count, at, works, a, b, up):
    """Append a link that works or fails to the changes of neighbour discovery, if both ends
    are up.
    """
    if up[a] == 0 or up[b] == 0:
        return count
    learnt.t[count], learnt.a[count], learnt.b[count] = at, a, b
    learnt.kind[count] = KNOWN if works else FORGOTTEN
    return count + 1


@inlined
def _link(links, a, b, near):
    """Add or remove a link in the lists that neighbour discovery keeps for both ends."""
    if near:
        include(links, a, b, b)
        include(links, b, a, a)
    else:
        exclude(links, a, b)
        exclude(links, b, a)


@kernel
def _follow(links, up, cut, world, begin, learnt):
    """Follow the changes of links in neighbour discovery, and append to `learnt` the changes that
    both ends learn.

    Return the number of entries, the next change, and the reason why the function stopped there.
    """
    count = 0
    for k in range(begin, world.t.shape[0]):
        at, kind, a, b = world.t[k], world.kind[k], world.a[k], world.b[k]
        if count + np.int64(links.last[a]) - np.int64(links.first[a]) + 1 > learnt.t.shape[0]:
            return count, k, _BUFFER_FULL
        if kind == LINK_NEAR and (is_full(links, a) or is_full(links, b)):
            return count, k, _LISTS_FULL
        if kind in (LINK_NEAR, LINK_GONE):
            _link(links, a, b, kind == LINK_NEAR)
            count = _append(learnt, count, at, kind == LINK_NEAR, a, b, up)
        elif kind in (LINK_DOWN, LINK_UP):
            there, back = place_of(links, a, b), place_of(links, b, a)
            if there >= 0:
                cut[there] = cut[back] = kind == LINK_DOWN
                count = _append(learnt, count, at, kind == LINK_UP, a, b, up)
        elif kind in (NODE_DOWN, NODE_UP) and up[a] == (kind == NODE_DOWN):
            up[a] = 1
            for e in range(links.first[a], links.last[a]):
                if cut[e] == 0:
                    count = _append(learnt, count, at, kind == NODE_UP, a, links.who[e], up)
            up[a] = kind == NODE_UP
    return count, world.t.shape[0], 0
