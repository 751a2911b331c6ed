"""The database of an anti-entropy node: the newest events of each publisher with their topics, and
the bits of the events that it holds or lacks.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import random_states
from halfway.protocols.anti_entropy.messages import NO_PUBLISHER, SPAN
from halfway.protocols.parts import application
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows, has


class AntiEntropyState(NamedTuple):
    """The state of an anti-entropy node: its random state, its database of events, and its
    subscriptions.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] advanced by each draw
    held: EventWindows  # the SPAN newest events held of each publisher
    topic: npt.NDArray[np.int32]  # [n, places, WINDOW] topics, by event modulo WINDOW
    subscribed: npt.NDArray[np.uint8]  # [n, topics] 1 where the application subscribes
    next_after: npt.NDArray[np.int32]  # [n] the next round begins with publishers above this id
    starts: npt.NDArray[np.int32]  # [n] STARTs so far; a ROUND of an earlier START is void
    missed: npt.NDArray[np.int64]  # [n] events that left the database before they arrived


def empty_database(
    node_ids: npt.NDArray[np.int32], publishers: int, topics: int, seed: int
) -> AntiEntropyState:
    """Return the state of anti-entropy nodes before START: an empty database of events, and no
    subscriptions.

    publishers: number of publishers for which the database of a node has room.
    """
    n, held = len(node_ids), empty_windows(len(node_ids), publishers)
    return AntiEntropyState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        held=held,
        topic=np.zeros((*held.of.shape, WINDOW), np.int32),
        subscribed=application.no_subscriptions(n, topics),
        next_after=np.full(n, NO_PUBLISHER, np.int32),
        starts=np.zeros(n, np.int32),
        missed=np.zeros(n, np.int64),
    )


def shortfalls(state: AntiEntropyState) -> dict[str, int]:
    """Return how many events left the databases of anti-entropy before they arrived there."""
    return {f"events that left a database of {SPAN} before they arrived": int(state.missed.sum())}


@inlined
def has_bit(bits, behind):
    """Return whether bits that name events of a database include the event that is `behind` places
    older than the publisher's newest event.
    """
    return 0 <= behind < SPAN and (np.int64(bits) >> np.int64(behind)) & np.int64(1) == 1


@inlined
def first_held(state, i, place):
    """Return the oldest event of the publisher at a place that the anti-entropy database of row i
    may hold.
    """
    return max(np.int64(state.held.of[i, place].newest) - SPAN + 1, np.int64(0))


@inlined
def holds(state, i, place, event):
    """Return whether the anti-entropy database of row i holds an event of the publisher at a
    place.
    """
    return event >= first_held(state, i, place) and has(state.held, i, place, event)


@apart
def move_to(state, i, place, event):
    """Count the events that leave row i's anti-entropy database, and have not arrived, when the
    newest event that it knows of a publisher is this one.
    """
    ahead = np.int64(event) - np.int64(state.held.of[i, place].newest)
    first = np.int64(state.held.of[i, place].newest) - SPAN + 1
    for k in range(min(ahead, np.int64(SPAN))):
        state.missed[i] += first + k >= 0 and not has(state.held, i, place, first + k)
    state.missed[i] += max(ahead - SPAN, np.int64(0))


@apart
def next_publisher(state, i, after):
    """Return the place of the publisher with the least id above `after` in the anti-entropy
    database of row i; NO_PLACE after the last publisher.
    """
    next_place = NO_PLACE
    for place in range(state.held.of.shape[1]):
        publisher = state.held.of[i, place].publisher
        if publisher > after and (
            next_place == NO_PLACE or publisher < state.held.of[i, next_place].publisher
        ):
            next_place = np.int64(place)
    return next_place


@inlined
def held_bits(state, i, place):
    """Return the bits of the publisher's events in the anti-entropy database of row i: a bit is 1
    if the database holds that event.
    """
    mask = (np.uint64(1) << np.uint64(SPAN)) - np.uint64(1)
    return np.float64(np.int64(state.held.of[i, place].bits & mask))


@apart
def lacking_bits(state, i, place, bits, newest, most):
    """Return the bits of the first `most` events that a neighbour holds and the anti-entropy
    database of row i lacks, and the number of these events.
    """
    lacking, count = np.int64(0), 0
    # A record may state any `newest`, but its bits reach back only SPAN events.
    for event in range(max(first_held(state, i, place), newest - SPAN + 1), newest + 1):
        lacks = has_bit(bits, newest - event) and not holds(state, i, place, event)
        if lacks and count < most:
            lacking |= np.int64(1) << np.int64(newest - event)
            count += 1
    return np.float64(lacking), count
