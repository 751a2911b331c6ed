"""What nodes come to know of their neighbours, a while after it happened.

A link works while it is there, nothing cuts it and both its ends are up. Its two ends learn of
the beginning and of the end of that a fixed time later, as if everybody said hello that often.
"""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.neighbourhood import Neighbourhood
from halfway.sim.engine.changes import (
    FORGOTTEN,
    KNOWN,
    LINK_DOWN,
    LINK_GONE,
    LINK_NEAR,
    LINK_UP,
    NODE_DOWN,
    NODE_UP,
    Changes,
    changes,
    merged,
)
from halfway.sim.engine.neighbour_lists import exclude, include, is_full, place_of, roomy

_FULL, _LONG = -1, -2


class Hearsay:
    """The delayed news of one run; the world is told to it window by window, in order."""

    def __init__(self, links: Neighbourhood, late_s: float) -> None:
        self._links, self._late_s = roomy(links), late_s
        n = len(links.first)
        self._up = np.ones(n, np.uint8)
        self._cut = np.zeros(0, np.uint8)
        self._waiting = changes([], [], [], [])

    def advance(self, happened: Changes, end: float) -> Changes:
        """News that reaches the nodes before `end`, of this window's events and of earlier ones."""
        told = self._news(happened)
        late = changes(told.t + self._late_s, told.kind, told.a, told.b)
        news = merged(self._waiting, late)
        now = int(np.searchsorted(news.t, end, side="left"))
        self._waiting = changes(*(column[now:] for column in news[:4]))
        return changes(*(column[:now] for column in news[:4]))

    def _news(self, happened: Changes) -> Changes:
        if len(self._cut) != len(self._links.who):
            self._cut = np.zeros(len(self._links.who), np.uint8)
        found: list[Changes] = []
        begin, room = 0, 4 * len(happened.t) + 64
        while True:
            blank = np.zeros(room)
            told = changes(blank, blank, blank, blank)
            count, begin, why = _tell(self._links, self._up, self._cut, happened, begin, told)
            found.append(changes(*(column[:count] for column in told[:4])))
            if why == _FULL:
                self._make_room()
            elif why == _LONG:
                room = 2 * room + len(self._links.first)
            else:
                return merged(*found)

    def _make_room(self) -> None:
        # Cuts are only of links that stand, whose rows never fill.
        self._links = roomy(self._links)
        self._cut = np.zeros(len(self._links.who), np.uint8)


@inlined
def _say(told, count, at, works, one, other, up):
    """Put it down, if both ends are up to notice: the link works from now on, or no longer."""
    if up[one] == 0 or up[other] == 0:
        return count
    told.t[count], told.a[count], told.b[count] = at, one, other
    told.kind[count] = KNOWN if works else FORGOTTEN
    return count + 1


@inlined
def _link(links, one, other, near):
    """Edit the lists of both ends."""
    if near:
        include(links, one, other)
        include(links, other, one)
    else:
        exclude(links, one, other)
        exclude(links, other, one)


@kernel
def _tell(links, up, cut, happened, begin, told):
    """Follow the world from change `begin` on. How much was told, where to go on, and why."""
    count = 0
    for k in range(begin, happened.t.shape[0]):
        at, what, one, other = happened.t[k], happened.kind[k], happened.a[k], happened.b[k]
        if count + np.int64(links.last[one]) - np.int64(links.first[one]) + 1 > told.t.shape[0]:
            return count, k, _LONG
        if what == LINK_NEAR and (is_full(links, one) or is_full(links, other)):
            return count, k, _FULL
        if what in (LINK_NEAR, LINK_GONE):
            _link(links, one, other, what == LINK_NEAR)
            count = _say(told, count, at, what == LINK_NEAR, one, other, up)
        elif what in (LINK_DOWN, LINK_UP):
            there, back = place_of(links, one, other), place_of(links, other, one)
            if there >= 0:
                cut[there] = cut[back] = what == LINK_DOWN
                count = _say(told, count, at, what == LINK_UP, one, other, up)
        elif up[one] == (what == NODE_DOWN):
            up[one] = 1
            for e in range(links.first[one], links.last[one]):
                if cut[e] == 0:
                    count = _say(told, count, at, what == NODE_UP, one, links.who[e], up)
            up[one] = what == NODE_UP
    return count, happened.t.shape[0], 0
