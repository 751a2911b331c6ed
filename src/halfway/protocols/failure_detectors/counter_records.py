"""The records of heartbeat counters: a record has six entries, and an entry has a member and its
counter.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.values.ranges import NODE_OR_NONE, whole
from halfway.protocols.failure_detectors.silence import note_counter

ENTRIES = 6  # of a record
_MOST = (1 << 52) - 1

RANGES = {"known": NODE_OR_NONE, "counter": whole(0, _MOST)}
# Places of the entries in `args` and `reals`.
KNOWN = {"known[k]": 0}
COUNTERS = {"counter[k]": 0}


@inlined
def emit_counters(kind, towards, out):
    """Emit an empty record of heartbeat counters."""
    o = emit(out, kind, 0.0, towards)
    for a in range(o.args.shape[0]):
        o.args[a] = NONE
    return o


@inlined
def write_counter(o, k, member, number):
    """Write a member (id) and the number of its counter into entry k of a record of counters."""
    o.args[k] = member
    o.reals[k] = number


@apart
def append_trusted(heard, i, o, used, out):
    """Append the heartbeat counters of all members that row i trusts to a record with `used`
    entries, each a member and its counter.

    If the record is full, the other counters follow in copies of this record.
    """
    first = o
    for k in range(heard.members.known[i]):
        known = heard.entry[i, heard.members.place[i, k]]
        if known.is_suspected == 1:
            continue
        if used == ENTRIES:
            o, used = emit_counters(first.kind, first.next, out), 0
            for a in range(ENTRIES, o.args.shape[0]):
                o.args[a] = first.args[a]
        write_counter(o, used, known.node_id, heard.members.number[i, k])
        used += 1


@inlined
def member_in(message, k, own_id):
    """Return the member in entry k of a record of counters; NONE if the entry is empty or has the
    id of this node.
    """
    member = message.args[k]
    return np.int32(NONE) if member == own_id else member


@inlined
def note_entry(heard, i, message, k, now, out):
    """Note the heartbeat counter in entry k of a record at row i; return whether the counter
    grew.
    """
    return note_counter(heard, i, message.args[k], np.int64(message.reals[k]), now, out)
