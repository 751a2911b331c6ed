"""The changes of the world in a run: nodes and links fail and return at given times."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.neighbourhood import place_of
from halfway.world.outages import FLOOD_BEGINS, LOST, NODE_UP, REPLAY_BEGINS, FaultEvents

# These kinds follow NODE_DOWN, NODE_UP, LINK_DOWN and LINK_UP (0 to 3) of `world.outages`.
# LINK_DOWN and LINK_UP break and repair a link that keeps its place in the lists. LINK_GONE and
# LINK_NEAR remove a link from the lists of nodes in reach, or insert it there. FORGOTTEN and KNOWN
# remove and insert a link in the lists that nodes know.
LINK_GONE, LINK_NEAR, FORGOTTEN, KNOWN = 4, 5, 6, 7


class Changes(NamedTuple):
    """The changes of a run's world in order of time; equal times keep the given order."""

    t: npt.NDArray[np.float64]  # [changes] seconds
    kind: npt.NDArray[np.uint8]  # [changes]
    a: npt.NDArray[np.int32]  # [changes] row
    b: npt.NDArray[np.int32]  # [changes] row at a link's other end; -1 for nodes
    tally: npt.NDArray[np.int64]  # [1] number of applied changes


def changes(t: npt.ArrayLike, kind: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> Changes:
    """Return changes of the world of a run, of which the engine has applied none."""
    return Changes(
        t=np.array(t, np.float64),
        kind=np.array(kind, np.uint8),
        a=np.array(a, np.int32),
        b=np.array(b, np.int32),
        tally=np.zeros(1, np.int64),
    )


def no_changes() -> Changes:
    """Return an empty list of changes, for the world of a run that stays as it is."""
    return changes([], [], [], [])


def merged(*parts: Changes | FaultEvents) -> Changes:
    """Return several lists of changes of the world as one list, ordered by time; equal times keep
    the given order.
    """
    t, kind, a, b = (np.concatenate([part[column] for part in parts]) for column in range(4))
    order = np.argsort(t, kind="stable")
    return changes(t[order], kind[order], a[order], b[order])


def other_ends(of: Changes) -> npt.NDArray[np.int32]:
    """Return the row at the other end of each changed link or wormhole of the world; below 0 for
    other changes.
    """
    has_fault = np.isin(of.kind & ~np.uint8(1), (REPLAY_BEGINS, FLOOD_BEGINS))
    return np.where(has_fault, np.int32(-1), of.b)


@inlined
def set_link_broken(engine, reach, a, b, broken):
    """Break or repair a link in both directions, as a change of the world; the neighbour lists keep
    the link.
    """
    there, back = place_of(reach, a, b), place_of(reach, b, a)
    if there >= 0 and back >= 0:
        if engine.cut.shape[0] != reach.who.shape[0]:
            raise ValueError("a link is cut, but the engine was made without room for cuts")
        engine.cut[there] = broken
        engine.cut[back] = broken


@inlined
def loses_memory(changes, k):
    """Return whether change k of the world brings a node back without its memory."""
    return changes.kind[k] == NODE_UP and changes.b[k] == LOST


@inlined
def next_change(engine, changes, until):
    """Return the time of the next change of the world, or inf, and make it the queue's horizon.

    Receptions that are later than this change or than `until` wait.
    """
    k = changes.tally[0]
    next_at = changes.t[k] if k < changes.t.shape[0] else np.inf
    engine.horizon[0] = min(next_at, np.nextafter(until, np.inf))
    return next_at
