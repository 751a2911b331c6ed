"""Whom a broker of the underlay-aware tree knows below it: children and grandchildren, by slot.

[uas §4 "The Data Structures"] a broker keeps its children, and a replica of each child's own list,
"updated periodically": the children of its children are those it serves if a child dies.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, kernel

NONE = np.int32(-1)


class Kin(NamedTuple):
    """Names by broker and slot, NONE where it is free; how long ago each was heard, in ticks."""

    child: npt.NDArray[np.int32]  # [brokers, kin]
    quiet: npt.NDArray[np.int32]  # [brokers, kin, 2] since the child's last PING on each path
    grandchild: npt.NDArray[np.int32]  # [brokers, kin]
    between: npt.NDArray[np.int32]  # [brokers, kin] whose child that grandchild is
    unheard: npt.NDArray[np.int32]  # [brokers, kin] since the grandchild said so
    refused: npt.NDArray[np.int64]  # [brokers] kin that found no free slot


def kin(brokers: int, slots: int) -> Kin:
    """Nobody has anybody below."""

    def free() -> npt.NDArray[np.int32]:
        return np.full((brokers, slots), NONE)

    quiet, unheard = np.zeros((brokers, slots, 2), np.int32), np.zeros((brokers, slots), np.int32)
    return Kin(free(), quiet, free(), free(), unheard, np.zeros(brokers, np.int64))


@apart
def child_slot(kin, i, node_id):
    """Where a child is kept; -1 if it is none."""
    for s in range(kin.child.shape[1]):
        if kin.child[i, s] == node_id:
            return s
    return -1


@kernel
def add_child(kin, i, node_id):
    """A child, heard of just now; returns its slot, -1 if there is no room."""
    free = -1
    for s in range(kin.child.shape[1] - 1, -1, -1):
        if kin.child[i, s] == node_id:
            return s
        if kin.child[i, s] == NONE:
            free = s
    if free < 0:
        kin.refused[i] += 1
        return -1
    kin.child[i, free] = node_id
    kin.quiet[i, free, 0] = kin.quiet[i, free, 1] = 0
    return free


@apart
def drop_child(kin, i, node_id):
    """Forget a child; returns whether it was one."""
    s = child_slot(kin, i, node_id)
    if s >= 0:
        kin.child[i, s] = NONE
    return s >= 0


@apart
def first_child(kin, i, but):
    """The child in the first slot that is not `but`; NONE if there is no other."""
    for s in range(kin.child.shape[1]):
        if kin.child[i, s] != NONE and kin.child[i, s] != but:
            return kin.child[i, s]
    return NONE


@kernel
def add_grandchild(kin, i, node_id, between):
    """A grandchild, heard of just now; perhaps below another child than before."""
    free = -1
    for s in range(kin.grandchild.shape[1] - 1, -1, -1):
        if kin.grandchild[i, s] == node_id:
            kin.between[i, s], kin.unheard[i, s] = between, 0
            return
        if kin.grandchild[i, s] == NONE:
            free = s
    if free < 0:
        kin.refused[i] += 1
    else:
        kin.grandchild[i, free], kin.between[i, free] = node_id, between
        kin.unheard[i, free] = 0


@apart
def age(kin, i, most):
    """A period is over: everybody is quiet for one more; forgotten grandchildren go."""
    for s in range(kin.child.shape[1]):
        kin.quiet[i, s, 0] += 1
        kin.quiet[i, s, 1] += 1
    for s in range(kin.grandchild.shape[1]):
        kin.unheard[i, s] += 1
        if kin.unheard[i, s] > most:
            kin.grandchild[i, s] = NONE
