"""Outages of nodes and links: their random begins and ends, and their merging to fault events.

`faults.py` declares the faults that a user can choose.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, seeded, uniform

NODE_DOWN, NODE_UP, LINK_DOWN, LINK_UP = 0, 1, 2, 3
# A node pauses, and resumes. The numbers 4 to 7 are changes of links of moving nodes, in the room
# `sim`.
NODE_PAUSED, NODE_RESUMED = 8, 9
BLACK_HOLE_BEGINS, BLACK_HOLE_ENDS = 10, 11
LIES_BEGIN, LIES_END = 12, 13
REPLAY_BEGINS, WORMHOLE_BEGINS, DROPPING_WORMHOLE_BEGINS, FLOOD_BEGINS = 14, 16, 18, 20
FALSE_HELLOS_BEGIN, FULL_FILTERS_BEGIN = 22, 24  # the odd numbers after these are their ends
# In `b` of a NODE_UP: the node comes back with its memory, or without.
KEPT, LOST = -1, -2
LATEST_S = 1e100  # bound of the times of faults and publications


class FaultEvents(NamedTuple):
    """The outages as events (down or up) of nodes and links, in the order (t, kind, a, b), where
    all are up at first.
    """

    t: npt.NDArray[np.float64]  # [events] seconds
    kind: npt.NDArray[np.uint8]  # NODE_DOWN … LINK_UP, or from NODE_PAUSED on
    a: npt.NDArray[np.int32]  # row
    # Row at the other end of a link, a < b, or of a wormhole; for nodes KEPT or LOST; index of the
    # fault for replays and floods.
    b: npt.NDArray[np.int32]


def is_turn(kind: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return which fault events of outages are turns of a node: it goes down, or comes up."""
    return kind <= NODE_UP


@inlined
def is_pause(kind):
    """Return whether the fault event of an outage begins or ends the pause of a node, by its
    kind.
    """
    return NODE_PAUSED <= kind <= NODE_RESUMED


@inlined
def is_attack(kind):
    """Return whether the fault event of an outage begins or ends an attack by a node, by its
    kind.
    """
    return kind >= BLACK_HOLE_BEGINS


def part(of: FaultEvents, which: slice | npt.NDArray[np.bool_]) -> FaultEvents:
    """Select fault events of merged outages, in their order."""
    return FaultEvents(of.t[which], of.kind[which], of.a[which], of.b[which])


class Outages(NamedTuple):
    """Outages [begin, end), in which a fault takes nodes or links down. An outage with the end inf
    has no recovery.
    """

    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]  # as `b` of `FaultEvents`
    begin: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]


def outages(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], at: float, for_: float | None
) -> Outages:
    """Return outages that all begin at `at`, for `for_` seconds or without recovery (None)."""
    begin = np.full(len(a), float(at))
    return Outages(a, b, begin, begin + (math.inf if for_ is None else for_))


def events(
    held: Sequence[Outages], seconds: float, since: float = 0.0, begins: int = NODE_DOWN
) -> FaultEvents:
    """Merge outages to fault events in [since, seconds); of overlapping outages, the last end
    counts.

    A node loses its memory if one of the overlapping outages takes it. Outages that ended before
    `since` may be left out. begins: kind of the event at which the outage of a node begins. With
    NODE_DOWN, outages of links are merged too.
    """
    none = np.empty(0, np.int32)
    held = [Outages(none, none, np.empty(0), np.empty(0)), *held]
    begin = np.concatenate([outage.begin for outage in held])
    a, b = (
        np.concatenate([outage.a for outage in held]),
        np.concatenate([outage.b for outage in held]),
    )
    early = np.flatnonzero(begin < seconds)
    lost = b == LOST
    b = np.maximum(b, KEPT)
    order = early[np.lexsort((begin[early], b[early], a[early]))]
    a, b, begin, lost = a[order], b[order], begin[order], lost[order]
    end = np.concatenate([outage.end for outage in held])[order]
    last = int(_merged(a, b, begin, end, lost))
    back = np.flatnonzero(end[:last] < seconds)
    is_link = (b[:last] >= 0) & (begins == NODE_DOWN)
    link = np.where(is_link, LINK_DOWN, begins).astype(np.uint8)
    t = np.concatenate((begin[:last], end[back]))
    kind = np.concatenate((link, link[back] + np.uint8(1)))
    b_back = np.where(lost[back], np.int32(LOST), b[back])
    a, b = np.concatenate((a[:last], a[back])), np.concatenate((b[:last], b_back))
    order = np.lexsort((b, a, kind, t))
    order = order[t[order] >= since]
    return FaultEvents(t[order], kind[order], a[order], b[order])


def in_order(*parts: FaultEvents) -> FaultEvents:
    """Join the fault events of several outages in their order."""
    t, kind, a, b = (np.concatenate([part[column] for part in parts]) for column in range(4))
    order = np.lexsort((b, a, kind, t))
    return FaultEvents(t[order], kind[order], a[order], b[order])


def random_state_of(seed: int, fault: int) -> np.uint64:
    """Return the random state of the outages of one fault, which seeds the random states of its
    nodes.
    """
    return np.uint64(_seeded(np.uint64(seed), fault))


def drawn_rows(count: int, n: int, word: np.uint64) -> npt.NDArray[np.int32]:
    """Draw `count` of n rows for outages, in the order of their lots; a larger count begins with
    the rows of a smaller count.
    """
    lot = np.empty(n, np.uint64)
    _draw_lots(word, lot)
    return np.argsort(lot, kind="stable")[:count].astype(np.int32)


class _ChurnTimes(NamedTuple):
    mean_up: float  # seconds, as all times here
    mean_down: float
    since: float  # outages that ended before are not kept
    until: float  # outages begin before


def churn_outages(
    chosen: npt.NDArray[np.int32],
    word: np.uint64,
    mean_up: float,
    mean_down: float,
    until: float,
    since: float = 0.0,
) -> Outages:
    """Draw the outages of churn (exponential times up and down, all up at 0), in seconds.

    The outages begin before `until` and end at `since` or later. Earlier outages are drawn again,
    and not kept.
    """
    times = _ChurnTimes(mean_up, mean_down, since, until)
    capacity = int(1.2 * len(chosen) * max(until - since, 0.0) / (mean_up + mean_down)) + 64
    while True:
        node, begin, end = np.empty(capacity, np.int32), np.empty(capacity), np.empty(capacity)
        count = int(_draw_churn(chosen, word, times, node, begin, end))
        if count <= capacity:
            none = np.full(count, -1, np.int32)
            return Outages(node[:count], none, begin[:count], end[:count])
        capacity = count


@kernel
def _seeded(seed, index):
    return seeded(seed, index)


@kernel
def _draw_lots(word, lot):
    for i in range(lot.shape[0]):
        lot[i] = mixed(advanced(seeded(word, i)))


@inlined
def exponential_time(word, mean):
    """Draw the exponential length of an outage, or of the time between two, for a given mean: next
    random state, and time.
    """
    # We use von Neumann's comparisons, because the last bit of a logarithm differs between
    # machines. A run of falling uniforms of odd length yields its first.
    whole = 0.0
    while True:
        word = advanced(word)
        first = last = uniform(mixed(word))
        odd = True
        while True:
            word = advanced(word)
            u = uniform(mixed(word))
            if not u < last:
                break
            last, odd = u, not odd
        if odd:
            return word, (whole + first) * mean
        whole += 1.0


@kernel
def _draw_churn(chosen, fault, times, node, begin, end):
    # Write the outages of the chosen nodes that begin before `until` and end at `since` or later,
    # as many as fit; return their number.
    mean_up, mean_down, since, until = times
    count = 0
    for c in range(chosen.shape[0]):
        # The first random number is the lot of `_draw_lots`.
        word = advanced(seeded(fault, chosen[c]))
        word, t = exponential_time(word, mean_up)
        while t < until:
            word, down = exponential_time(word, mean_down)
            if t + down >= since:
                if count < node.shape[0]:
                    node[count], begin[count], end[count] = chosen[c], t, t + down
                count += 1
            word, up = exponential_time(word, mean_up)
            t = t + down + up
    return count


@kernel
def _merged(a, b, begin, end, lost):
    # Merge the outages of each node or link in place, sorted by (a, b, begin); return their number.
    count = 0
    for k in range(a.shape[0]):
        j = count - 1
        if count > 0 and a[k] == a[j] and b[k] == b[j] and begin[k] <= end[j]:
            end[j] = max(end[j], end[k])
            lost[j] |= lost[k]
        else:
            a[count], b[count], begin[count], end[count] = a[k], b[k], begin[k], end[k]
            lost[count] = lost[k]
            count += 1
    return count
