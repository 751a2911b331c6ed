"""Reliable floods of broker trees: a node repeats an announcement or a search until a neighbour
passes the record on.

The paper describes no flood. We let nodes repeat floods, because a lost record would leave a broker
unknown. Where hops are acknowledged, a flooded record counts as arrived when a neighbour passes it
on, except the neighbour that sent it. A node keeps the record among its reliable hops. The record
has no sequence number on the air, so no neighbour acknowledges it. A node without other neighbours
repeats the record `retries` times.
"""

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.protocols.broker_trees.records.messages import (
    AGES,
    ANNOUNCE,
    INCARNATION,
    ORIGIN,
    ROUTE,
    SEARCH,
    VERSION,
)
from halfway.protocols.parts import reliable_hop


@inlined
def is_flood(record):
    """Return whether a record of a broker tree floods the network: an announcement or a search."""
    return record.kind == ANNOUNCE or record.kind == SEARCH


@apart
def is_same_flood(kept, record):
    """Return whether two records of a broker tree belong to one flood: the same announced broker or
    the same search, in any version.
    """
    same = kept.kind == record.kind and kept.args[ORIGIN] == record.args[ORIGIN]
    return same and (kept.kind == ANNOUNCE or kept.args[ROUTE] == record.args[ROUTE])


@apart
def track_flood(hops, rules, i, source, record, now, out):
    """Track a flood of a broker tree that row i has just emitted, in place of its earlier version.
    source: the neighbour from which row i received the record.
    """
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence != 0 and kept.next == EVERYONE and is_same_flood(kept, record):
            reliable_hop.release(hops, i, place)
    place = reliable_hop.track(hops, rules, i, record, now, out)
    if place != NO_PLACE:
        hops.record[i, place].source = source
        record.sequence = 0


@apart
def hear_flood(hops, i, message):
    """Stop the repetitions of a flood of a broker tree, because a neighbour other than its source
    has passed the record on.
    """
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence == 0 or kept.next != EVERYONE or kept.source == message.source:
            continue
        if kept[INCARNATION] != message[INCARNATION]:
            continue
        if kept.args[VERSION] == message.args[VERSION] and is_same_flood(kept, message):
            reliable_hop.release(hops, i, place)


@apart
def repeat_flood(hops, rules, i, place, message, out):
    """Repeat a flood of a broker tree when its timer ends, at most `retries` times."""
    if hops.tries[i, place] != message.args[reliable_hop.ATTEMPT]:
        return
    if hops.tries[i, place] >= rules.retries:
        reliable_hop.release(hops, i, place)
        return
    hops.tries[i, place] += 1
    reliable_hop.emit_again(hops, i, place, EVERYONE, message.at, AGES, out)
    reliable_hop.start_timer(hops, rules, i, place, 0.0, message.hops, out)
