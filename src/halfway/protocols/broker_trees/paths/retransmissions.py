"""The retransmissions of broker trees: the neighbours on a circuit acknowledge each reliable hop,
and a node retransmits a hop without acknowledgement.

The paper describes no retransmissions. We add them, because radio links lose records.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.floods import (
    hear_flood,
    is_flood,
    repeat_flood,
    track_flood,
)
from halfway.protocols.broker_trees.paths.nearby import drop_ways_over
from halfway.protocols.broker_trees.records.messages import AGES, NO_PATH
from halfway.protocols.parts import deaf_neighbours, reliable_hop
from halfway.protocols.parts.hop_windows import is_replayed
from halfway.protocols.parts.link_test import LINK_TEST

IN_FLIGHT, _ACCEPTED = 64, 256  # hops in flight, and hops accepted, that a node keeps


def hops_of_tree(node_ids: Int32s, retries: int) -> reliable_hop.ReliableHops:
    """Return the tables of the hops that nodes of a broker tree retransmit; the tables have no
    places if nodes retransmit nothing.
    """
    slots = (IN_FLIGHT, _ACCEPTED) if retries else (0, 1)
    return reliable_hop.reliable_hops(node_ids, *slots)


def with_reliable_hops(emissions: int, retries: int) -> int:
    """Return a limit of emissions, increased by the timers, ACKs and LINK_TESTs that
    retransmissions in a broker tree need.
    """
    more = 1 + deaf_neighbours.EMITTED + IN_FLIGHT
    return 2 * emissions + more if retries > 0 else emissions


@apart
def handle_hop(state, rules, i, message, out):
    """Handle what a record of a broker tree says about a retransmission: an ACK, a LINK_TEST, a
    timeout or a lost path; return True if the record needs no further handling.

    Counts in `lost` the hops that failed for good and the records without a path.
    """
    hops = state.hops
    if message.source == hops.node_id[i]:  # only such a message has the node's own incarnation
        reliable_hop.begin_hops(hops, i, message.incarnation)
    if message.kind == reliable_hop.ACK:
        reliable_hop.complete(hops, i, message)
        deaf_neighbours.unmark(state.deaf, i, message.source)
    elif message.kind == LINK_TEST:
        reliable_hop.acknowledge(hops, i, message, out)
    elif is_flood(message):
        hear_flood(hops, i, message)
        return deaf_neighbours.ignores(state.deaf, hops, rules, i, message, rules.refresh_s, out)
    elif message.kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.place_of_hop(hops, i, message.sequence)
        if place != NO_PLACE and hops.record[i, place].next == EVERYONE:
            repeat_flood(hops, rules, i, place, message, out)
            return True
        place = reliable_hop.overdue(hops, rules, i, message, AGES, out)
        if place != NO_PLACE:
            give_up(state, i, place, message.at)
    elif message.kind == NO_PATH:
        state.lost[i] += 1
    else:
        return is_repeated(state, i, message, out)
    return True


@apart
def is_repeated(state, i, message, out):
    """Acknowledge the hop of a record on a circuit; return True if row i accepted this hop
    before.
    """
    if message.sequence == 0:
        return False
    repeated = reliable_hop.acknowledge(state.hops, i, message, out)
    if state.windows.sender.shape[1] == 0:
        return repeated
    return is_replayed(state.windows, IN_FLIGHT, i, message) or repeated


@apart
def give_up(state, i, place, now):
    """Give up the retransmission of a hop on a circuit: the receiver is a deaf neighbour from now
    on, and the ways over it to near brokers do not count any more.
    """
    kept = state.hops.record[i, place]
    reliable_hop.release(state.hops, i, place)
    if kept.kind != LINK_TEST:
        state.lost[i] += 1
        deaf_neighbours.mark_deaf(state.deaf, i, kept.next, now)
        drop_ways_over(state.nearby, i, kept.next)


@apart
def track_new(hops, rules, i, message, before, out):
    """Track, for retransmission, all records on circuits that this call emitted; before the call
    the outbox had `before` free slots.
    """
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        record = out.pool[out.free[np.uint32(stacked)]]
        if record.next == EVERYONE and is_flood(record):
            track_flood(hops, rules, i, message.source, record, message.at, out)
        leaves = record.next >= 0 and record.next != hops.node_id[i]
        if leaves and record.kind not in (reliable_hop.ACK, LINK_TEST):
            record.hops = message.hops
            reliable_hop.track(hops, rules, i, record, message.at, out)
