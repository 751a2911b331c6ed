"""The driver's half of a node's contract: what every driver does with the records of a handler.

The simulator's engine is a driver. Pure functions, to be inlined into a driver's own loop.
A node's incarnation is even while it is up and odd while it is down: each change adds one.
A node's epoch is the incarnation in which its memory began: events keep ascending numbers as long
as the memory of their publisher lasts, and a node that lost its memory begins again with 0.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.message import AFRESH, APP, COUNTED_ON

# Where a stamped record goes when its delay is over.
TO_APPLICATION, TO_SELF, TO_NETWORK = 0, 1, 2

MAX_HOPS = 65_534  # the hop count does not exceed it

# A command of an application belongs to no incarnation: its node only has to be up.
ANY_INCARNATION = np.uint32(0xFFFFFFFF)


@inlined
def destination(record):
    """Return where a driver delivers a stamped record: to the application, its node, or out."""
    if record.next == APP:
        return TO_APPLICATION
    if record.next == record.source:
        return TO_SELF
    return TO_NETWORK


@inlined
def stamp(record, node_id, incarnation, hops):
    """Stamp an emitted record, as a driver does: sender and hop count; return its destination.

    hops: those of the message that the handler was handling.
    """
    record.source = node_id
    record.incarnation = incarnation
    if record.hops == AFRESH:
        record.hops = 0
    elif record.hops == COUNTED_ON:
        record.hops = hops
    to = destination(record)
    if to == TO_NETWORK:
        record.hops += np.uint16(record.hops < MAX_HOPS)
    return to


@inlined
def stamp_publication(command, node_id, epoch):
    """Stamp an application's command that carries an event, as a driver does when it is handled.

    epoch: of the node at that moment.
    """
    if command.event >= 0:
        command.publisher = node_id
        command.epoch = epoch


@inlined
def is_running(incarnation):
    """Whether a driver's node is up, from its incarnation."""
    return incarnation & np.uint32(1) == 0


@inlined
def is_alive(emitted_in, incarnation):
    """Whether a driver still handles a record that waits at its node, from the incarnation now.

    Timers and delayed records of an earlier incarnation are void, even if the node is up again.
    """
    return emitted_in == incarnation or (emitted_in == ANY_INCARNATION and is_running(incarnation))
