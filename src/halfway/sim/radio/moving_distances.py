"""The distance radio of moving nodes: the delay of a hop grows with the distance at the departure
of the transmission.

The receivers of a broadcast are the nodes in reach when it is due. The nearest node is first, and
of equally near nodes the node with the lowest row.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.message import EVERYONE
from halfway.core.neighbourhood import place_of
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.sim.engine.calendar_queue.operations import push, reserved
from halfway.sim.engine.counting import count_sent, received_by
from halfway.sim.engine.node_ids import row_of
from halfway.sim.engine.radio_interface import DONE, FRESH, LAST, LOSSES, QUEUED, declare
from halfway.sim.engine.state import FLYING, OVER, SPREADING, is_up
from halfway.world.mobility.motion import Legs, place

_NO_ROW = np.int64(-1)
_NEXT = np.int64(0)  # cursor: the nearest receivers already have the record


class MovingDistances(NamedTuple):
    """The distance radio of moving nodes: delay_s + distance / speed, and independent losses."""

    delay_s: float
    speed: float  # units of the legs per second
    legs: Legs  # of the whole run
    success: float  # probability of a reception
    random_state: npt.NDArray[np.uint64]  # [1] one stream, drawn in the total order of receptions


def moving_distances(
    legs: Legs, delay_s: float, speed: float, success: float, seed: int
) -> MovingDistances:
    """Return the distance radio of nodes that move on mobility legs."""
    state = seeded(np.uint64(seed), LOSSES)
    return MovingDistances(delay_s, speed, legs, success, np.array([state], np.uint64))


@inlined
def position_at(legs, row, t):
    """Return the position of a moving row for the distance radio at a time, found by binary search
    among its legs.
    """
    first, last = legs.first[row], legs.first[row + 1] - 1
    while first < last:
        middle = (first + last + 1) >> 1
        if legs.t0[middle] <= t:
            first = middle
        else:
            last = middle - 1
    return place(legs, first, t)


@inlined
def travel_s(radio, sender, row, departed):
    """Return the delay in seconds of a hop of the distance radio between two moving rows, by their
    distance at departure.
    """
    x, y = position_at(radio.legs, sender, departed)
    to_x, to_y = position_at(radio.legs, row, departed)
    return radio.delay_s + np.hypot(to_x - x, to_y - y) / radio.speed


@inlined
def receiver_after(radio, reach, sender, departed, last):
    """Return the moving receiver of a distance radio that follows row `last` in the order of
    delays. `last` = -1 gives the first receiver; the result is -1 after the last receiver.
    """
    receiver, found_s, last_s = _NO_ROW, np.inf, -1.0
    if last >= 0:
        last_s = travel_s(radio, sender, last, departed)
    for at in range(np.int64(reach.first[sender]), np.int64(reach.last[sender])):
        row = np.int64(reach.who[at])
        seconds = travel_s(radio, sender, row, departed)
        follows = seconds > last_s or (seconds == last_s and row > last)
        if follows and seconds < found_s:
            receiver, found_s = row, seconds
    return receiver


@inlined
def enqueue(engine, radio, slot, row):
    """Make a record of a distance radio due at its next moving receiver, or at once if no further
    receiver is left.
    """
    message, departed = engine.out.pool[slot], engine.flight.departed[slot]
    if row >= 0:
        engine.flight.cursor[slot] = row
        message.at = departed + travel_s(radio, engine.out.row[slot], row, departed)
    push(engine.queue, message.at, reserved(engine.queue, 1), slot)


@inlined
def depart(engine, radio, reach, slot):
    """Transmit a record of a distance radio to its moving receiver, or, for a broadcast, first to
    the nearest node in reach.
    """
    message = engine.out.pool[slot]
    sender = engine.out.row[slot]
    engine.flight.departed[slot] = message.at
    count_sent(engine, sender, message)
    if message.next == EVERYONE:
        row = receiver_after(radio, reach, sender, message.at, _NO_ROW)
        phase = SPREADING
    else:
        row = np.int64(row_of(engine, message.next))
        if place_of(reach, sender, row) < 0:
            row = _NO_ROW
        phase = FLYING
    engine.flight.phase[slot] = phase if row >= 0 else OVER
    enqueue(engine, radio, slot, row)


@inlined
def receives(engine, radio, reach, sender, row):
    """Return whether a moving row is still in reach, and receives the record from the distance
    radio.
    """
    if not is_up(engine, row) or place_of(reach, sender, row) < 0:
        return False
    if radio.success < 1.0:
        radio.random_state[0] = advanced(radio.random_state[0])
        if not uniform(mixed(radio.random_state[0])) < radio.success:
            return False
    return True


@inlined
def arrive(engine, radio, reach, slot, cursor, most):
    """Let the next moving receiver of the distance radio receive the record, then make the record
    due at the one after it.
    """
    message, sender = engine.out.pool[slot], engine.out.row[slot]
    row, is_spreading = np.int64(engine.flight.cursor[slot]), engine.flight.phase[slot] == SPREADING
    if cursor == FRESH and receives(engine, radio, reach, sender, np.uint32(row)):
        return received_by(engine, np.uint32(row), message), _NEXT if is_spreading else LAST
    if is_spreading:
        row = receiver_after(radio, reach, sender, engine.flight.departed[slot], row)
        if row >= 0:
            enqueue(engine, radio, slot, row)
            return QUEUED, LAST
    return DONE, LAST


@inlined
def changed(engine, radio, reach, kind, a, b, at):
    """Ignore a change of the world: the distance radio looks up moving receivers when a record is
    due.
    """


declare(MovingDistances, depart, arrive, changed)
