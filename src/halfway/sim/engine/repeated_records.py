"""Records that attackers of a run transmit again: replays, and wormholes.

A repeated record keeps all fields that its sender wrote, `source` included. So its receivers take
the sender for a neighbour, as without keys. An attacker repeats only records whose sender has
transmitted them itself. Otherwise two attackers would repeat the same record without end.

Replay: the attacker hears all records of the nodes in its reach. After a wait it repeats a
broadcast that it received, and a record that a node in its reach received, for the same receiver.
The age in the record stays the age at the reception.

Wormhole: each end repeats, at the other end, the broadcasts that it receives. If a node sends a
record to one node that is out of its reach, but in reach of the other end of a wormhole, the end
next to the sender receives the record in place of the addressed node. Then the other end transmits
it to the addressed node. The first end does not handle this record, because it has the address of
another node.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.neighbourhood import place_of
from halfway.sim.engine.attackers import ANY_WORMHOLE, DROPPING_WORMHOLE, REPLAYS
from halfway.sim.engine.calendar_queue.operations import push, reserved
from halfway.sim.engine.clocks import add_age
from halfway.sim.engine.node_ids import id_of, row_of
from halfway.sim.engine.pauses import is_paused
from halfway.sim.engine.radio_interface import depart
from halfway.sim.engine.state import ARRIVED, HELD, POSTED, is_up


@inlined
def transmit(engine, radio, reach, slot, plain):
    """Transmit the record in a slot by the radio, to the end of a wormhole if only a wormhole leads
    to its receiver.

    plain: whether the run is plain, so that no record is repeated.
    """
    if not plain and engine.attacks.onward.shape[0] > 0:
        address_end(engine, reach, slot)
    depart(engine, radio, reach, slot)


@apart
def address_end(engine, reach, slot):
    """Write the end of a wormhole into `next` of a departing record if its receiver is out of
    reach, and keep the id of the receiver.
    """
    attacks, message = engine.attacks, engine.out.pool[slot]
    attacks.onward[slot] = NONE
    if message.next == EVERYONE:
        return
    sender, to = engine.out.row[slot], row_of(engine, message.next)
    if to < 0 or place_of(reach, sender, to) >= 0:
        return
    for place in range(reach.first[sender], reach.last[sender]):
        end = reach.who[place]
        if attacks.conduct[end] & ANY_WORMHOLE == 0 or not is_up(engine, end):
            continue
        other = attacks.peer[end]
        if place_of(reach, other, to) >= 0:
            attacks.onward[slot] = message.next
            message.next = id_of(engine, end)
            return


@inlined
def is_taken(engine, reach, row, slot, now):
    """Let an attacking row repeat an arrived record; return whether the row's handler does not
    receive it.
    """
    if engine.attacks.onward.shape[0] == 0:
        return False
    return repeats(engine, reach, row, slot, now)


@apart
def repeats(engine, reach, row, slot, now):
    """Repeat an arrived record as the conduct of its receiving row says; return whether the handler
    of the row does not receive it.

    No handler receives a record for a node behind a wormhole. A node drops a record that names the
    node itself as its sender.
    """
    phase, attacks = engine.flight.phase[slot], engine.attacks
    if phase in (HELD, POSTED):
        return False
    message, conduct = engine.out.pool[slot], attacks.conduct[row]
    own = message.source == id_of(engine, row)
    if phase == ARRIVED:
        return own
    onward, acts = attacks.onward[slot], not is_paused(engine, row)
    passes = conduct & DROPPING_WORMHOLE == 0 or attacks.carried[message.kind] == 0
    if onward != NONE and message.next != EVERYONE:
        attacks.onward[slot] = NONE
        if acts and conduct & ANY_WORMHOLE != 0 and passes:
            repeat(engine, attacks.peer[row], slot, onward, now, 0.0)
        return True
    if acts and message.source == id_of(engine, engine.out.row[slot]):
        tunnels = conduct & ANY_WORMHOLE != 0 and message.next == EVERYONE and passes
        # The other end would only transmit its own record twice, and this end would hear it.
        if tunnels and message.source != id_of(engine, attacks.peer[row]):
            repeat(engine, attacks.peer[row], slot, EVERYONE, now, 0.0)
        if conduct & REPLAYS != 0 and message.next == EVERYONE:
            repeat(engine, row, slot, EVERYONE, now, attacks.wait_s[attacks.fault[row]])
    if message.next != EVERYONE and message.source == id_of(engine, engine.out.row[slot]):
        replay_heard(engine, reach, row, slot, now)
    return own


@inlined
def replay_heard(engine, reach, row, slot, now):
    """Let the attackers that hear both the sender and the receiving row replay a record for one
    node.
    """
    attacks, sender = engine.attacks, engine.out.row[slot]
    for place in range(reach.first[row], reach.last[row]):
        near = reach.who[place]
        if attacks.conduct[near] & REPLAYS == 0 or is_paused(engine, near):
            continue
        if place_of(reach, sender, near) >= 0:
            wait_s = attacks.wait_s[attacks.fault[near]]
            repeat(engine, near, slot, engine.out.pool[slot].next, now, wait_s)


@inlined
def repeat(engine, row, slot, to, now, wait_s):
    """Queue a copy of an arrived record, which an attacking row transmits to `to` after a wait, if
    the row is up.
    """
    if not is_up(engine, row):
        return
    engine.out.tally[0] -= 1
    own = engine.out.free[np.uint32(engine.out.tally[0])]
    engine.out.pool[own] = engine.out.pool[slot]
    record = engine.out.pool[own]
    record.next, record.at = to, now + wait_s
    add_age(engine, record, 1.0, now)
    add_age(engine, record, -1.0, record.at)
    engine.flight.phase[own] = HELD
    engine.out.row[own] = row
    engine.flight.turns[own] = engine.turns[row]
    push(engine.queue, record.at, reserved(engine.queue, 1), own)
