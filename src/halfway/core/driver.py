"""The driver's half of the contract of a node: how every driver treats the records of a handler.

The simulator's engine and the live node are drivers. The functions are pure, and are inlined into
the loop of a driver. The turns of a node count how often it went down or came up: the number is
even while the node is up. The incarnation of a node is the number of times that it lost its memory.
The epoch of an event is the incarnation of its publisher at the publication: the numbers of a
publisher's events ascend within an epoch, and begin again with 0 in the next epoch.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.message import AFRESH, APP, COUNTED_ON

# The destinations of a stamped record after its delay.
TO_APPLICATION, TO_SELF, TO_NETWORK = 0, 1, 2

# Ticks of a node's clock per second. Its times are whole ticks, and below 2^32 s. So the difference
# of two times is the same double for every offset of the clock.
TICKS = 2.0**20

MAX_HOPS = 65_534  # the largest hop count

# A command of an application belongs to no turn of its node. The node only has to be up.
ANY_TURN = np.uint32(0xFFFFFFFF)


@inlined
def destination(record):
    """Return where a driver delivers a stamped record: the application, the node or the network."""
    if record.next == APP:
        return TO_APPLICATION
    if record.next == record.source:
        return TO_SELF
    return TO_NETWORK


@inlined
def stamp(record, node_id, incarnation, hops):
    """Stamp an emitted record with sender and hop count, as every driver does; return its
    destination.

    hops: hop count of the record that the handler was handling.
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
def stamp_command(command, node_id, incarnation):
    """Stamp an application's command or a start event, as every driver does before the handler.

    incarnation: present incarnation of the node.
    """
    command.incarnation = incarnation
    if command.event >= 0:
        command.publisher = node_id
        command.epoch = incarnation


@inlined
def is_running(turns):
    """Return whether the node of a driver is up, by the parity of its count of turns."""
    return turns & np.uint32(1) == 0


@inlined
def is_alive(emitted_in, turns):
    """Return whether a driver still handles a waiting record, because its node had no turn since.

    Timers and delayed records of an earlier turn are void, even if the node is up again.
    """
    return emitted_in == turns or (emitted_in == ANY_TURN and is_running(turns))
