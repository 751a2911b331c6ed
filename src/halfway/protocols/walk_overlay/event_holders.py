"""The holders of buffered events in the walk overlay: the neighbours that already have an event, so
that a new link does not bring it again.

The paper buffers no events, so these rules are ours. We note holders, because a link that is made
anew would otherwise bring all buffered events again. A node knows that a neighbour has an event if
the neighbour sent the event, or acknowledged it. A neighbour that lost its memory has a new
incarnation, and holds no event.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.walk_overlay.state import link_of


@apart
def row_of(state, i, node_id):
    """Return the place of a neighbour in the table of holders of overlay events, or a place that
    the neighbour may take.

    We let a neighbour without a link leave the table first, because filters change
    over links only. NO_PLACE if all neighbours in the table have links.
    """
    holders, free = state.holders, NO_PLACE
    for h in range(holders.shape[1]):
        known = holders.node_id[i, h]
        if known == node_id:
            return np.int64(h)
        if free == NO_PLACE and (known == NONE or link_of(state, i, known) == NO_PLACE):
            free = np.int64(h)
    return free


@apart
def buffer_place(state, i, message):
    """Return the place of a buffered event among the bits of each holder, or NO_PLACE if the
    walk-overlay node's buffer lacks the event.
    """
    buffer = state.buffer
    for k in range(min(state.members.buffered[i], buffer.shape[1])):
        same = buffer.event[i, k] == message.event and buffer.epoch[i, k] == message.epoch
        if same and buffer.publisher[i, k] == message.publisher:
            return np.int64(k)
    return NO_PLACE


@apart
def note_holder(state, i, node_id, incarnation, event):
    """Note that a neighbour, in its present incarnation, is a holder of an event of the overlay."""
    k = buffer_place(state, i, event)
    if k == NO_PLACE:
        return
    h = row_of(state, i, node_id)
    if h == NO_PLACE:
        return
    holder = state.holders[i, h]
    if holder.node_id != node_id or holder.incarnation != incarnation:
        holder.node_id = node_id
        holder.incarnation = incarnation
        holder.events = 0
    holder.events |= np.int64(1) << np.int64(k)


@apart
def held_events(state, i, node_id, incarnation):
    """Return the buffered overlay events, one bit each, that a neighbour holds in its present
    incarnation.
    """
    for h in range(state.holders.shape[1]):
        holder = state.holders[i, h]
        if holder.node_id == node_id and holder.incarnation == incarnation:
            return holder.events
    return np.int64(0)


@apart
def forget_holders(state, i, k):
    """Note that no neighbour holds the overlay event that takes place k of the buffer."""
    for h in range(state.holders.shape[1]):
        state.holders.events[i, h] &= ~(np.int64(1) << np.int64(k))
