"""Reliable floods of broker trees: a node repeats an announcement or search until a neighbour
forwards the record.

The paper's links lose nothing. Where hops are acknowledged, an announcement or a search that a node
sends to all neighbours counts as arrived when another node than the one it came from passes it on.
A node keeps it among its reliable hops, without a sequence number on the air, so that no neighbour
answers it. A node without other neighbours repeats it `retries` times without an answer.
"""

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.protocols import reliable_hop
from halfway.protocols.broker_trees.records.messages import ANNOUNCE, ORIGIN, ROUTE, SEARCH, VERSION


@inlined
def is_flood(record):
    """Return whether a record of a broker tree floods the network: an announcement or a search."""
    return record.kind == ANNOUNCE or record.kind == SEARCH


@apart
def is_same_flood(kept, record):
    """Return whether two records belong to one flood, of any version: same announced broker, or
    same search.
    """
    same = kept.kind == record.kind and kept.args[ORIGIN] == record.args[ORIGIN]
    return same and (kept.kind == ANNOUNCE or kept.args[ROUTE] == record.args[ROUTE])


@apart
def track_flood(hops, rules, i, source, record, out):
    """Track a flood that row i has just emitted, instead of its earlier version. source: its
    sender.
    """
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence != 0 and kept.next == EVERYONE and is_same_flood(kept, record):
            reliable_hop.release(hops, i, place)
    place = reliable_hop.track(hops, rules, i, record, out)
    if place != NO_PLACE:
        hops.record[i, place].source = source
        record.sequence = 0


@apart
def hear_flood(hops, i, message):
    """Stop the repetitions of a flood, as a neighbour other than its source has passed it on."""
    for place in range(hops.record.shape[1]):
        kept = hops.record[i, place]
        if kept.sequence == 0 or kept.next != EVERYONE or kept.source == message.source:
            continue
        version = kept.args[VERSION] == message.args[VERSION] and kept.epoch == message.epoch
        if version and is_same_flood(kept, message):
            reliable_hop.release(hops, i, place)


@apart
def repeat_flood(hops, rules, i, place, message, out):
    """Repeat a flood when its timer ends, until its retries are used up."""
    if hops.tries[i, place] != message.args[reliable_hop.ATTEMPT]:
        return
    if hops.tries[i, place] >= rules.retries:
        reliable_hop.release(hops, i, place)
        return
    hops.tries[i, place] += 1
    reliable_hop.emit_again(hops, i, place, EVERYONE, out)
    reliable_hop.start_timer(hops, rules, i, place, 0.0, message.hops, out)
