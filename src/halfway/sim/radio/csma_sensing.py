"""What is on the air around each node: who senses whom, and who can make out what.

A node makes out a frame if it was silent around it when the frame began, nobody else in range sent
anything before its end, and it sent nothing itself. There is no capture: of two frames that overlap
at a node neither is received.
"""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.sim.engine.changes import FORGOTTEN, KNOWN, NODE_DOWN, NODE_UP
from halfway.sim.engine.records import is_up
from halfway.sim.radio.csma_backoff import CUT, flush, freeze, hush


@embedded
def is_cut(engine, place):
    """Whether a link that stands in its list carries nothing now."""
    return engine.cut.shape[0] > 0 and engine.cut[place] == 1


@embedded
def account(radio, i, now, up):
    """Add the time since the last change at a node to what it did meanwhile."""
    station = radio.station
    if up:
        if station[i].on_air >= 0:
            radio.station[i].sending_s += now - station[i].since
        elif station[i].busy > 0:
            radio.station[i].hearing_s += now - station[i].since
    station[i].since = now


@apart
def begin(engine, radio, reach, i, slot, now):
    """A node begins to send what stands in that slot, or the answer to it."""
    station = radio.station
    account(radio, i, now, True)
    station[i].on_air = slot
    station[i].hearing = -1
    radio.station[i].frames += 1
    freeze(radio, i, now)  # an acknowledgement goes out while its sender's own frame waits
    for place in range(reach.first[i], reach.last[i]):
        if is_cut(engine, place):
            continue
        near = reach.who[place]
        account(radio, near, now, is_up(engine, near))
        station[near].busy += 1
        if station[near].busy == 1 and station[near].on_air < 0 and is_up(engine, near):
            station[near].hearing = slot
            station[near].spoilt = 0
        else:
            station[near].spoilt = 1
        freeze(radio, near, now)


@apart
def end(engine, radio, reach, i, slot, now, whole):
    """A node stops sending. If the frame is whole, those who made it out stand in `radio.got`."""
    station = radio.station
    count = 0
    account(radio, i, now, True)
    station[i].on_air = -1
    for place in range(reach.first[i], reach.last[i]):
        if is_cut(engine, place):
            continue
        near = reach.who[place]
        up = is_up(engine, near)
        account(radio, near, now, up)
        station[near].busy -= 1
        heard = station[near].hearing == slot
        if heard:
            station[near].hearing = -1
        if whole and up:
            if heard and station[near].spoilt == 0:
                radio.got[count] = near
                count += 1
            else:
                radio.station[near].missed += 1
        hush(engine, radio, near, now)
    hush(engine, radio, i, now)
    radio.tally[0] = count


@embedded
def went_down(engine, radio, reach, i, now):
    """A node crashed: what it was sending breaks off, and what it wanted to send is gone."""
    station = radio.station
    account(radio, i, now, True)
    slot = station[i].on_air
    if slot >= 0:
        engine.flight.cursor[slot] |= CUT
        end(engine, radio, reach, i, slot, now, False)
    station[i].hearing = -1
    flush(engine, radio, i)


@apart
def look_again(engine, radio, reach, i, other, now):
    """The link from `other` to a node may have come or gone: count anew whom the node senses."""
    station = radio.station
    if station[other].on_air < 0:
        return
    count = 0
    for place in range(reach.first[i], reach.last[i]):
        if not is_cut(engine, place) and station.on_air[reach.who[place]] >= 0:
            count += 1
    account(radio, i, now, is_up(engine, i))
    if count > station[i].busy:
        # Who comes near in the middle of a frame hears no more than noise.
        station[i].spoilt = 1
        station[i].busy = count
        freeze(radio, i, now)
    elif count < station[i].busy:
        if station[i].hearing == station[other].on_air:
            station[i].hearing = -1
        station[i].busy = count
        hush(engine, radio, i, now)


@apart
def changed(engine, radio, reach, kind, a, b, at):
    """The world changed in the middle of whatever is on the air."""
    if kind == NODE_DOWN:
        went_down(engine, radio, reach, np.int64(a), at)
    elif kind == NODE_UP:
        # What was on the air around it was counted while it was down.
        account(radio, np.int64(a), at, False)
    elif kind != KNOWN and kind != FORGOTTEN:
        look_again(engine, radio, reach, np.int64(a), np.int64(b), at)
        look_again(engine, radio, reach, np.int64(b), np.int64(a), at)
