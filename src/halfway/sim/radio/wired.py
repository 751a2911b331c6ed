"""The wired radio: point-to-point links, each with a delay, a bandwidth and a queue.

Each directed link is a FIFO. A broadcast is a copy over each link. The links of the network keep
their places: they may break and be repaired, and nodes may crash, but no link is new.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.message import EVERYONE
from halfway.core.neighbourhood import place_of
from halfway.problem import Problem
from halfway.sim.engine.calendar_queue.operations import push, reserved
from halfway.sim.engine.counting import count_sent, received_by, size_of
from halfway.sim.engine.node_ids import row_of
from halfway.sim.engine.radio_interface import DONE, LAST, declare
from halfway.sim.engine.state import OVER, OWN_PHASES, is_up
from halfway.world.graphs.network import Network
from halfway.world.outages import LINK_DOWN, NODE_DOWN

_IN_LINK = OWN_PHASES


class Wired(NamedTuple):
    """The links of the wired radio in one run: one entry for each directed link, in the order of
    the neighbour lists.

    A broadcast takes a slot for each link, and each copy has one receiver. So an arrival may need
    as many slots as the product of most emissions and the largest degree.
    """

    delay_s: npt.NDArray[np.float64]  # [m] from the last bit's departure to its arrival
    bandwidth: npt.NDArray[np.float64]  # [m] bit/s; inf where a record takes no time to send
    limit_s: float  # longest wait of a record before its first bit leaves; then a drop
    free_at: npt.NDArray[np.float64]  # [m] seconds: departure of the last bit so far
    breaks: npt.NDArray[np.int64]  # [m] how often the link lost its records
    dropped: npt.NDArray[np.int64]  # [m] records that would have waited too long


def wired(
    network: Network,
    delay_s: npt.ArrayLike,
    bandwidth: npt.ArrayLike = np.inf,
    limit_s: float = np.inf,
) -> Wired:
    """Return the links of a wired radio from a delay (seconds) and a bandwidth (bit/s), each one
    number for all links or one for each link.

    Raises Problem for a negative or infinite delay, a bandwidth that is not positive, a negative
    limit, or values that are not one for each directed link.
    """
    delay, rate = np.asarray(delay_s, np.float64), np.asarray(bandwidth, np.float64)
    links = len(network.who)
    for name, values in (("delay_s", delay), ("bandwidth", rate)):
        if values.shape not in {(), (links,)}:
            expected = f"one value for all links, or one for each of {links} directed links"
            raise Problem(f"radio.{name}: {values.size} values: expected {expected}")
    for name, fits, worst, expected in (
        ("delay_s", np.isfinite(delay) & (delay >= 0), delay, "a finite time of 0 s or more"),
        ("bandwidth", rate > 0, rate, "a number above 0, in bit/s, or inf"),
        ("limit_s", np.asarray(limit_s >= 0), np.asarray(limit_s), "a time of 0 s or more, or inf"),
    ):
        if not fits.all():
            raise Problem(f"radio.{name} = {worst[~fits].flat[0]}: expected {expected}")
    delay, rate = (np.broadcast_to(values, links).copy() for values in (delay, rate))
    breaks, dropped = np.zeros((2, links), np.int64)
    return Wired(delay, rate, float(limit_s), np.zeros(links), breaks, dropped)


@inlined
def enqueue(engine, radio, slot, place, now):
    """Append a record to the queue of a wired link, due at its arrival; drop the record if its wait
    is too long.
    """
    message = engine.out.pool[slot]
    begins = max(now, radio.free_at[place])
    arrives = now
    engine.flight.phase[slot] = OVER
    if begins - now > radio.limit_s:
        radio.dropped[place] += 1
    else:
        count_sent(engine, engine.out.row[slot], message)
        size = np.float64(size_of(engine, message))
        radio.free_at[place] = begins + size * 8.0 / radio.bandwidth[place]
        arrives = radio.free_at[place] + radio.delay_s[place]
        engine.flight.phase[slot] = _IN_LINK
        engine.flight.departed[slot] = begins
        engine.flight.cursor[slot] = place
        engine.flight.order[slot] = radio.breaks[place]
    message.at = arrives
    push(engine.queue, arrives, reserved(engine.queue, 1), slot)


@inlined
def depart(engine, radio, reach, slot):
    """Transmit a record over the wired link to its receiver; a broadcast sends one copy over each
    link.
    """
    out = engine.out
    message = out.pool[slot]
    sender, now = engine.out.row[slot], message.at
    if message.next != EVERYONE:
        place = place_of(reach, sender, row_of(engine, message.next))
        if place >= 0:
            enqueue(engine, radio, slot, place, now)
            return
    else:
        for place in range(np.int64(reach.first[sender]) + 1, np.int64(reach.last[sender])):
            if out.tally[0] == 0:
                out.tally[1] += 1
                continue
            out.tally[0] -= 1
            copy = out.free[np.uint32(out.tally[0])]
            out.pool[copy] = message
            engine.out.row[copy] = sender
            enqueue(engine, radio, copy, place, now)
        if reach.first[sender] < reach.last[sender]:
            enqueue(engine, radio, slot, np.int64(reach.first[sender]), now)
            return
    engine.flight.phase[slot] = OVER
    push(engine.queue, now, reserved(engine.queue, 1), slot)


@inlined
def arrive(engine, radio, reach, slot, cursor, most):
    """Deliver a record at the end of its wired link, unless the link broke or the receiver
    is down.
    """
    place = engine.flight.cursor[slot]
    row = np.uint32(reach.who[place])
    if engine.flight.order[slot] != radio.breaks[place] or not is_up(engine, row):
        return DONE, LAST
    if engine.cut.shape[0] > 0 and engine.cut[place] == 1:
        return DONE, LAST
    return received_by(engine, row, engine.out.pool[slot]), LAST


@inlined
def lose_contents(radio, place, at):
    """Drop all records on a link of the wired radio and in its queue."""
    radio.breaks[place] += 1
    radio.free_at[place] = at


@inlined
def changed(engine, radio, reach, kind, a, b, at):
    """Drop the records on a broken wired link, or on all wired links of a crashed node."""
    if kind == NODE_DOWN:
        for place in range(reach.first[a], reach.last[a]):
            lose_contents(radio, place, at)
    elif kind == LINK_DOWN:
        there, back = place_of(reach, a, b), place_of(reach, b, a)
        if there >= 0 and back >= 0:
            lose_contents(radio, there, at)
            lose_contents(radio, back, at)


declare(Wired, depart, arrive, changed)
