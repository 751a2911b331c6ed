"""The children and the grandchildren of a broker in the underlay-aware tree, by slot.

[uas §4 "The Data Structures"] a broker keeps a list of its children, and a replica of the list of
each child, "updated periodically". With this replica the broker adopts the children of a child that
dies. The filters of grandchildren are in `replicas.py`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, kernel
from halfway.core.missing import NONE
from halfway.protocols.parts.row_search import place_in_row


class Children(NamedTuple):
    """The children and grandchildren of a broker by slot (NONE: free), with the silent ticks of
    each.
    """

    child: npt.NDArray[np.int32]  # [brokers, slots]
    child_silence: npt.NDArray[np.int32]  # [brokers, slots, 2] since the last PING, by path
    grandchild: npt.NDArray[np.int32]  # [brokers, slots]
    via: npt.NDArray[np.int32]  # [brokers, slots] the grandchild's parent
    grandchild_silence: npt.NDArray[np.int32]  # [brokers, slots]
    refused: npt.NDArray[np.int64]  # [brokers] children and grandchildren without a free slot


def no_children(brokers: int, slots: int) -> Children:
    """Return empty tables of children and of grandchildren, with `slots` places of each kind at
    each broker.
    """
    shape = brokers, slots
    return Children(
        np.full(shape, NONE),
        np.zeros((*shape, 2), np.int32),
        np.full(shape, NONE),
        np.full(shape, NONE),
        np.zeros(shape, np.int32),
        np.zeros(brokers, np.int64),
    )


@kernel
def add_child(children, i, node_id):
    """Add a child to a broker's table; return its slot, or NO_PLACE if the table is full."""
    s = place_in_row(children.child, i, node_id)
    if s >= 0:
        return s
    s = place_in_row(children.child, i, NONE)
    if s < 0:
        children.refused[i] += 1
    else:
        children.child[i, s] = node_id
        reset_silence(children, i, s)
    return s


@apart
def reset_silence(children, i, slot):
    """Reset the silent ticks of a child on both paths in its broker's table of children."""
    children.child_silence[i, slot, 0] = children.child_silence[i, slot, 1] = 0


@apart
def remove_child(children, i, node_id):
    """Remove a child from a broker's table; return whether the table had the child."""
    s = place_in_row(children.child, i, node_id)
    if s >= 0:
        children.child[i, s] = NONE
    return s >= 0


@apart
def first_child(children, i, but):
    """Return the child of a broker in the first slot, but not `but`; NONE if the broker has no
    other child.
    """
    for s in range(children.child.shape[1]):
        if children.child[i, s] != NONE and children.child[i, s] != but:
            return children.child[i, s]
    return NONE


@apart
def nth_child(children, i, n, but):
    """Return a broker's child at place n among its children, except `but`; n counts round and
    round. NONE if there is no other child.
    """
    count = 0
    for s in range(children.child.shape[1]):
        count += children.child[i, s] != NONE and children.child[i, s] != but
    left = n % max(count, 1)
    for s in range(children.child.shape[1]):
        if children.child[i, s] != NONE and children.child[i, s] != but:
            if left == 0:
                return children.child[i, s]
            left -= 1
    return NONE


@kernel
def add_grandchild(children, i, node_id, via):
    """[uas §4, Algorithm 1, line 9] Add a grandchild below the child `via` to a broker's table, or
    move a known grandchild there.
    """
    s = place_in_row(children.grandchild, i, node_id)
    if s < 0:
        s = place_in_row(children.grandchild, i, NONE)
    if s < 0:
        children.refused[i] += 1
        return
    children.grandchild[i, s], children.via[i, s] = node_id, via
    children.grandchild_silence[i, s] = 0


@apart
def age(children, i, most):
    """Count one more silent tick of each child of a broker; remove grandchildren with more than
    `most` silent ticks.
    """
    for s in range(children.child.shape[1]):
        children.child_silence[i, s, 0] += 1
        children.child_silence[i, s, 1] += 1
    for s in range(children.grandchild.shape[1]):
        children.grandchild_silence[i, s] += 1
        if children.grandchild_silence[i, s] > most:
            children.grandchild[i, s] = NONE
