"""What a client's node of the underlay-aware tree remembers, and how long its broker does.

A client's node keeps what its clients want, because its broker may die with the only other list.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.prng import low_half, mixed
from halfway.protocols.broker_trees.source_routes import NOBODY, Ints
from halfway.protocols.broker_trees.subscription_table import FREE, strike
from halfway.protocols.event_window import empty_window

NO_CLIENTS = np.zeros(0, np.int32)


class Access(NamedTuple):
    """Clients' nodes that watch their broker, and what brokers know of when they last did."""

    desk: Ints  # [n] row of a client's node in what follows; -1 at a node that watches nobody
    turn: Ints  # [desks] to which of its brokers it speaks: a place in a row of `routes.home`
    missed: Ints  # [desks] KEEPs in a row without answer
    moves: Ints  # [desks] brokers turned to since the beginning
    moved_s: npt.NDArray[np.float64]  # [desks] when the last of them was
    filter: Ints  # [desks, wishes] FREE where the place is
    client: Ints  # [desks, wishes] which client at that node wants it
    heard: Ints  # [desks, clients, window] newest events that each client was told of
    refused: npt.NDArray[np.int64]  # [desks] wishes that found no room
    quiet: Ints  # [brokers, slots] periods since the client of that entry was heard of


def access(
    node_ids: Ints, clients: Ints, wishes: int, each: int, window: int, brokers: int, slots: int
) -> Access:
    """Those of `clients` (names) that are among these nodes, with room for so many `wishes`, and
    for clients numbered below `each`; where there are no clients at all, brokers expect none."""
    at = np.flatnonzero(np.isin(node_ids, clients))
    desk = np.full(len(node_ids), NOBODY, np.int32)
    desk[at] = np.arange(len(at))

    def zeros() -> Ints:
        return np.zeros(len(at), np.int32)

    heard = empty_window(len(at) * each, window)
    return Access(
        desk, zeros(), zeros(), zeros(), np.full(len(at), -1.0),
        np.full((len(at), wishes), FREE), np.full((len(at), wishes), NOBODY),
        heard.reshape(len(at), each, heard.shape[1]), np.zeros(len(at), np.int64),
        np.zeros((brokers, slots if len(clients) else 0), np.int32),
    )  # fmt: skip


@apart
def wish(access, d, f, client):
    """Remember what a client wants; whether there is room for it."""
    free = -1
    for s in range(access.filter.shape[1]):
        if access.filter[d, s] == f and access.client[d, s] == client:
            return True
        if access.filter[d, s] == FREE:
            free = s
    if free < 0 or not 0 <= client < access.heard.shape[1]:
        access.refused[d] += 1
        return False
    access.filter[d, free], access.client[d, free] = f, client
    return True


@apart
def unwish(access, d, f, client):
    """Forget one wish of a client; all of them, where f is FREE."""
    for s in range(access.filter.shape[1]):
        if access.client[d, s] == client and f in (FREE, access.filter[d, s]):
            access.filter[d, s] = FREE


@apart
def is_wished(access, d, f, client):
    """Whether a client at this node wants that."""
    for s in range(access.filter.shape[1]):
        if f != FREE and access.filter[d, s] == f and access.client[d, s] == client:
            return True
    return False


@apart
def _word(f, client):
    return mixed(np.uint64(f + 1) + (np.uint64(client) << np.uint64(32)))


@apart
def wishes_digest(access, d):
    """Of all that the clients of a node want."""
    word = np.uint64(0)
    for s in range(access.filter.shape[1]):
        if access.filter[d, s] != FREE:
            word += _word(access.filter[d, s], access.client[d, s])
    return low_half(word)


@apart
def entries_digest(table, b, guest):
    """Of all that a broker holds for the clients of a node."""
    word = np.uint64(0)
    for s in range(table.filter.shape[1]):
        if table.filter[b, s] != FREE and table.via[b, s] == guest:
            word += _word(table.filter[b, s], table.client[b, s])
    return low_half(word)


@apart
def renew(access, table, b, guest):
    """A client's node was heard of just now."""
    for s in range(access.quiet.shape[1]):
        if table.via[b, s] == guest:
            access.quiet[b, s] = 0


@apart
def expire(access, table, filters, post, b, own, up, most, out):
    """A period is over: clients that said nothing for more than `most` of them are elsewhere."""
    for s in range(access.quiet.shape[1]):
        if table.filter[b, s] == FREE or table.client[b, s] == NOBODY or table.via[b, s] == own:
            continue
        access.quiet[b, s] += 1
        if access.quiet[b, s] > most:
            strike(table, filters, post, own, b, s, up, out)
