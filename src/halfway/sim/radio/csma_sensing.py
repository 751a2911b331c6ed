"""The carrier sensing of the CSMA radio: the transmissions that each node senses, their begin and
end, and the frames that nodes receive.

A node receives a frame if it sensed silence when the frame began, transmits nothing itself, and no
other node in reach transmits before the end of the frame. The model has no capture: a node receives
neither of two overlapping frames.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.prng import advanced, mixed, uniform
from halfway.sim.engine.changes import FORGOTTEN, KNOWN
from halfway.sim.engine.state import is_up
from halfway.sim.radio.csma_backoff import ABORTED, clear_queue, freeze, on_silence
from halfway.world.outages import NODE_DOWN, NODE_UP


@inlined
def is_cut(engine, place):
    """Return whether a static link is broken, so that CSMA nodes sense no carrier over this
    link.
    """
    return engine.cut.shape[0] > 0 and engine.cut[place] == 1


@inlined
def account(radio, i, now, up):
    """Add the time since the last change of carrier sensing to a CSMA node's seconds of sending and
    of sensing.
    """
    station = radio.station
    if up:
        if station[i].on_air >= 0:
            radio.station[i].sending_s += now - station[i].since
        elif station[i].busy > 0:
            radio.station[i].hearing_s += now - station[i].since
    station[i].since = now


@apart
def begin(engine, radio, reach, i, slot, now):
    """Begin a CSMA transmission, a frame or an acknowledgement: the sender's neighbours sense
    it.
    """
    station = radio.station
    account(radio, i, now, True)
    station[i].on_air = slot
    station[i].hearing = -1
    radio.station[i].frames += 1
    freeze(radio, i, now)  # a node acknowledges while its own frame waits
    for place in range(reach.first[i], reach.last[i]):
        if is_cut(engine, place):
            continue
        near = reach.who[place]
        account(radio, near, now, is_up(engine, near))
        station[near].busy += 1
        if station[near].busy == 1 and station[near].on_air < 0 and is_up(engine, near):
            station[near].hearing = slot
            station[near].corrupted = 0
        else:
            station[near].corrupted = 1
        freeze(radio, near, now)


@inlined
def succeeds(radio, place):
    """Draw, for carrier sensing, whether a CSMA frame without collision is received on the link at
    an index.
    """
    links = radio.success.shape[0]
    if links == 0:
        return True
    radio.losses[0] = advanced(radio.losses[0])
    share = radio.success[0] if links == 1 else radio.success[place]
    return uniform(mixed(radio.losses[0])) < share


@apart
def end(engine, radio, reach, i, slot, now, whole):
    """End a CSMA transmission for all nodes that sense it; the receivers of a whole frame go to
    `radio.receivers`.
    """
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
        received = station[near].hearing == slot
        if received:
            station[near].hearing = -1
        if whole and up:
            if received and station[near].corrupted == 0 and succeeds(radio, place):
                radio.receivers[count] = near
                count += 1
            else:
                radio.station[near].corrupted_receptions += 1
        on_silence(engine, radio, near, now)
    on_silence(engine, radio, i, now)
    radio.tally[0] = count


@inlined
def went_down(engine, radio, reach, i, now):
    """End the sensing of a crashed CSMA node's transmission, which breaks off, and empty the node's
    queue.
    """
    station = radio.station
    account(radio, i, now, True)
    slot = station[i].on_air
    if slot >= 0:
        engine.flight.cursor[slot] |= ABORTED
        end(engine, radio, reach, i, slot, now, False)
    station[i].hearing = -1
    clear_queue(engine, radio, i)


@apart
def recount_senders(engine, radio, reach, i, other, now):
    """Recount the CSMA transmissions that a node senses, after its link from `other` may have
    changed.
    """
    station = radio.station
    if station[other].on_air < 0:
        return
    count = 0
    for place in range(reach.first[i], reach.last[i]):
        if not is_cut(engine, place) and station.on_air[reach.who[place]] >= 0:
            count += 1
    account(radio, i, now, is_up(engine, i))
    if count > station[i].busy:
        # A node that enters the reach mid-frame cannot decode that frame.
        station[i].corrupted = 1
        station[i].busy = count
        freeze(radio, i, now)
    elif count < station[i].busy:
        if station[i].hearing == station[other].on_air:
            station[i].hearing = -1
        station[i].busy = count
        on_silence(engine, radio, i, now)


@apart
def changed(engine, radio, reach, kind, a, b, at):
    """Update CSMA sensing after a change of the world, while transmissions are on the air."""
    if kind == NODE_DOWN:
        went_down(engine, radio, reach, np.int64(a), at)
    elif kind == NODE_UP:
        # The transmissions around the node were counted even while the node was down.
        account(radio, np.int64(a), at, False)
    elif kind != KNOWN and kind != FORGOTTEN:
        recount_senders(engine, radio, reach, np.int64(a), np.int64(b), at)
        recount_senders(engine, radio, reach, np.int64(b), np.int64(a), at)
