"""The periods of a failure detector: a period has several ticks, and at each tick a node looks for
silent members.

Each node begins its first period at a random time. Otherwise nodes that start together would all
send at once.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, random_states, uniform
from halfway.protocols.failure_detectors import silence
from halfway.protocols.parts.relays import Roles, roles_of

TICKS = 8  # ticks of a period: how often a node looks for silent members


class Periods(NamedTuple):
    """The periods of the nodes of a failure detector: their ticks and their numbers."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    ticks: npt.NDArray[np.int32]  # [n] ticks until the next period
    counter: npt.NDArray[np.int32]  # [n] number of periods that the node began
    roles: Roles


def first_state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    intervals: int,
    relays: npt.ArrayLike | None,
) -> tuple[Periods, silence.HeardMembers]:
    """Return the state of a failure detector's nodes before their first period, in which no node
    has heard a member.

    members: number of members that a node has room for. intervals: number of times between counters
    that a node keeps for each member, for φ.
    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    ticks, counter = np.zeros((2, len(node_ids)), np.int32)
    n = len(node_ids)
    random = random_states(node_ids, seed)
    periods = Periods(node_ids, random, ticks, counter, roles_of(n, relays))
    return periods, silence.nothing_heard(n, members, intervals)


@inlined
def begins_period(periods, i):
    """Count a tick of the failure detector at row i; return whether the tick begins a period."""
    periods.ticks[i] -= 1
    begins = periods.ticks[i] <= 0
    if begins:
        periods.ticks[i] = TICKS
        periods.counter[i] += 1
    return begins


@inlined
def emit_tick(kind, periods, period_s, i, out):
    """Emit the next tick of the periods of row i, as a timer of the given kind."""
    emit(out, kind, period_s / TICKS, periods.node_id[i])


@inlined
def start_periods(kind, periods, heard, period_s, i, now, out):
    """Start the periods of the failure detector at row i with the first tick, and reset the silence
    of all members.
    """
    silence.hear_all_again(heard, i, now)
    emit(out, kind, period_s * uniform(random_bits(periods, i)), periods.node_id[i])
