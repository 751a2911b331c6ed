"""Links with a delay and a bandwidth of their own: records of one direction leave one by one.

Each directed link is a FIFO. A record for everybody is a copy over each link. The network's links
keep their places: they may be cut and mended, nodes may crash, but no link is new.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import embedded
from halfway.core.message import EVERYONE
from halfway.problem import Problem
from halfway.sim.engine.changes import LINK_DOWN, NODE_DOWN
from halfway.sim.engine.interface import DONE, LAST, declare
from halfway.sim.engine.neighbour_lists import place_of
from halfway.sim.engine.queue import push, reserved
from halfway.sim.engine.records import OVER, OWN_PHASES, count_heard, count_sent, is_up
from halfway.world.graphs.network import Network

__all__ = ["Wired", "wired"]

_IN_LINK = OWN_PHASES


class Wired(NamedTuple):
    """Point-to-point links for one run; all by place in `who`, a directed link each.

    A handler that tells everybody takes a slot a link: `spare` of a run is the product of
    receivers, most emissions and the largest degree.
    """

    delay_s: npt.NDArray[np.float64]  # [m] from the last bit's departure to its arrival
    bandwidth: npt.NDArray[np.float64]  # [m] bit/s; inf where a record takes no time to send
    limit_s: float  # what would wait longer than this for its first bit to leave is dropped
    free_at: npt.NDArray[np.float64]  # [m] seconds, when the last bit so far leaves
    breaks: npt.NDArray[np.int64]  # [m] how often the link lost what was in it
    dropped: npt.NDArray[np.int64]  # [m] records that found the queue too long


def wired(
    network: Network,
    delay_s: npt.ArrayLike,
    bandwidth: npt.ArrayLike = np.inf,
    limit_s: float = np.inf,
) -> Wired:
    """Links with that delay (seconds) and bandwidth (bit/s): one for all, or one a directed link.

    Raises Problem for a delay that is negative or infinite, a bandwidth that is not positive, a
    negative limit, or numbers that are not one a link.
    """
    delay, rate = np.asarray(delay_s, np.float64), np.asarray(bandwidth, np.float64)
    links = len(network.who)
    for name, values in (("delay_s", delay), ("bandwidth", rate)):
        if values.shape not in {(), (links,)}:
            what = f"{name} has {values.size} values for {links} directed links"
            raise Problem(what, remedy="give one for all or one a link")
    if not (np.isfinite(delay) & (delay >= 0)).all():
        raise Problem("a delay_s is negative or infinite", remedy="give 0 <= delay_s < inf")
    if not (rate > 0).all():
        raise Problem("a bandwidth is not positive", remedy="give bit/s > 0, or inf")
    if not limit_s >= 0:
        raise Problem(f"limit_s is {limit_s}", remedy="give seconds >= 0, or inf for no limit")
    return Wired(
        np.broadcast_to(delay, links).copy(),
        np.broadcast_to(rate, links).copy(),
        float(limit_s),
        np.zeros(links),
        *(np.zeros(links, np.int64) for _ in range(2)),
    )


@embedded
def enqueue(engine, radio, reach, slot, place, now):
    """Into the link at that place; the slot comes up when the record is across, or at once."""
    message = engine.out.pool[slot]
    begins = max(now, radio.free_at[place])
    arrives = now
    engine.flight.phase[slot] = OVER
    if begins - now > radio.limit_s:
        radio.dropped[place] += 1
    else:
        count_sent(engine, np.uint32(message.source), message.kind)
        size = np.float64(engine.bytes_of[message.kind])
        radio.free_at[place] = begins + size * 8.0 / radio.bandwidth[place]
        arrives = radio.free_at[place] + radio.delay_s[place]
        engine.flight.phase[slot] = _IN_LINK
        engine.flight.departed[slot] = begins
        engine.flight.cursor[slot] = place
        engine.flight.order[slot] = radio.breaks[place]
    message.at = arrives
    push(engine.queue, arrives, reserved(engine.queue, 1), slot)


@embedded
def depart(engine, radio, reach, slot):
    """Into its link, or a copy into each."""
    out = engine.out
    message = out.pool[slot]
    sender, now = np.uint32(message.source), message.at
    if message.next != EVERYONE:
        place = place_of(reach, sender, message.next)
        if place >= 0:
            enqueue(engine, radio, reach, slot, place, now)
            return
    else:
        for place in range(np.int64(reach.first[sender]) + 1, np.int64(reach.last[sender])):
            if out.tally[0] == 0:
                out.tally[1] += 1
                continue
            out.tally[0] -= 1
            copy = out.free[np.uint32(out.tally[0])]
            out.pool[copy] = message
            enqueue(engine, radio, reach, copy, place, now)
        if reach.first[sender] < reach.last[sender]:
            enqueue(engine, radio, reach, slot, np.int64(reach.first[sender]), now)
            return
    engine.flight.phase[slot] = OVER
    push(engine.queue, now, reserved(engine.queue, 1), slot)


@embedded
def arrive(engine, radio, reach, slot, cursor):
    """It is across, if the link did not break under it and somebody is there."""
    place = engine.flight.cursor[slot]
    row = np.uint32(reach.who[place])
    if engine.flight.order[slot] != radio.breaks[place] or not is_up(engine, row):
        return DONE, LAST
    if engine.cut.shape[0] > 0 and engine.cut[place] == 1:
        return DONE, LAST
    count_heard(engine, row, engine.out.pool[slot].kind)
    return np.int64(row), LAST


@embedded
def broken(radio, place, at):
    """A link loses what is in it, and what waits before it."""
    radio.breaks[place] += 1
    radio.free_at[place] = at


@embedded
def changed(engine, radio, reach, kind, a, b, at):
    """A cut link and a crashed node take what they were sending with them."""
    if kind == NODE_DOWN:
        for place in range(reach.first[a], reach.last[a]):
            broken(radio, place, at)
    elif kind == LINK_DOWN:
        there, back = place_of(reach, a, b), place_of(reach, b, a)
        if there >= 0 and back >= 0:
            broken(radio, there, at)
            broken(radio, back, at)


declare(Wired, depart, arrive, changed)
