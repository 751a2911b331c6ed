"""Whom a broker of the underlay-aware tree knows below it: children and grandchildren, by slot.

[uas §4 "The Data Structures"] a broker keeps its children with their alternates, and a replica of
each child's own list: the children of its children are those it serves if a child dies.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel

NONE = np.int32(-1)


class Kin(NamedTuple):
    """Names by node and slot; NONE where a slot is free."""

    child: npt.NDArray[np.int32]  # [n, kin]
    alternate: npt.NDArray[np.int32]  # [n, kin] the broker by which that child is reached else
    grandchild: npt.NDArray[np.int32]  # [n, kin]
    between: npt.NDArray[np.int32]  # [n, kin] whose child that grandchild is
    refused: npt.NDArray[np.int64]  # [n] kin that found no free slot


def kin(n: int, slots: int) -> Kin:
    """Nobody has anybody below."""

    def free() -> npt.NDArray[np.int32]:
        return np.full((n, slots), NONE)

    return Kin(free(), free(), free(), free(), np.zeros(n, np.int64))


@kernel
def _entered(names, beside, refused, i, name, value):
    free = -1
    for s in range(names.shape[1] - 1, -1, -1):
        if names[i, s] == name:
            beside[i, s] = value
            return
        if names[i, s] == NONE:
            free = s
    if free < 0:
        refused[i] += 1
    else:
        names[i, free], beside[i, free] = name, value


@kernel
def add_child(kin, i, name, alternate):
    """A child, new or with another alternate."""
    _entered(kin.child, kin.alternate, kin.refused, i, name, alternate)


@kernel
def add_grandchild(kin, i, name, between):
    """A grandchild, new or with another parent."""
    _entered(kin.grandchild, kin.between, kin.refused, i, name, between)


@inlined
def drop_child(kin, i, name):
    """Forget a child; returns whether it was one."""
    found = False
    for s in range(kin.child.shape[1]):
        if kin.child[i, s] == name:
            kin.child[i, s] = NONE
            found = True
    return found


@inlined
def drop_grandchild(kin, i, name, between):
    """Forget one grandchild, if it is below that child."""
    for s in range(kin.grandchild.shape[1]):
        if kin.grandchild[i, s] == name and kin.between[i, s] == between:
            kin.grandchild[i, s] = NONE
            kin.between[i, s] = NONE


@inlined
def drop_grandchildren(kin, i, between):
    """Forget every grandchild below a child."""
    for s in range(kin.grandchild.shape[1]):
        if kin.between[i, s] == between:
            kin.grandchild[i, s] = NONE
            kin.between[i, s] = NONE


@inlined
def alternate_of(kin, i, name):
    """The alternate of a child; NONE if it has none, or is no child."""
    for s in range(kin.child.shape[1]):
        if kin.child[i, s] == name:
            return kin.alternate[i, s]
    return NONE
