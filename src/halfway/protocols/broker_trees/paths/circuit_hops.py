"""The reliable hops on circuits of broker trees: acknowledgements and retransmissions between the
neighbours on a path.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.protocols import reliable_hop
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.floods import (
    hear_flood,
    is_flood,
    repeat_flood,
    track_flood,
)
from halfway.protocols.broker_trees.records.messages import AGES, NO_PATH

_IN_FLIGHT, _ACCEPTED = 64, 256  # hops in flight, and hops accepted, that a node keeps


def hops_of_tree(node_ids: Int32s, retries: int) -> reliable_hop.ReliableHops:
    """Return the tables of reliable hops on circuits of a broker tree; the tables have no places if
    nodes retransmit nothing.
    """
    room = (_IN_FLIGHT, _ACCEPTED) if retries else (0, 1)
    return reliable_hop.reliable_hops(node_ids, *room)


def with_reliable_hops(emissions: int, retries: int) -> int:
    """Return a limit of emissions, increased by the timers and the ACK of reliable hops on
    circuits.
    """
    return 2 * emissions + 1 + _IN_FLIGHT if retries > 0 else emissions


@apart
def handle_hop(hops, lost, rules, i, message, out):
    """Handle the part of a record that concerns a circuit's reliable hop; return True if the record
    needs no further handling.

    Counts in `lost` the hops that failed for good and the records without a path.
    """
    if message.source == hops.node_id[i]:  # only such a message has the node's own incarnation
        reliable_hop.begin_hops(hops, i, message.incarnation)
    if message.kind == reliable_hop.ACK:
        reliable_hop.complete(hops, i, message)
    elif is_flood(message):
        hear_flood(hops, i, message)
        return False
    elif message.kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.place_of_hop(hops, i, message.sequence)
        if place != NO_PLACE and hops.record[i, place].next == EVERYONE:
            repeat_flood(hops, rules, i, place, message, out)
            return True
        place = reliable_hop.overdue(hops, rules, i, message, AGES, out)
        if place != NO_PLACE:
            lost[i] += 1
            reliable_hop.release(hops, i, place)
    elif message.kind == NO_PATH:
        lost[i] += 1
    else:
        return reliable_hop.acknowledge_if_asked(hops, i, message, out)
    return True


@apart
def track_new(hops, rules, i, message, before, out):
    """Track, as reliable hops, all records on circuits that this call emitted; before the call the
    outbox had `before` free slots.
    """
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        record = out.pool[out.free[np.uint32(stacked)]]
        if record.next == EVERYONE and is_flood(record):
            track_flood(hops, rules, i, message.source, record, message.at, out)
        leaves = record.next >= 0 and record.next != hops.node_id[i]
        if leaves and record.kind != reliable_hop.ACK:
            record.hops = message.hops
            reliable_hop.track(hops, rules, i, record, message.at, out)
