"""The state of nodes that send hellos, and their neighbourhoods, empty until hellos arrive."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.hello.link import LINK
from halfway.core.missing import NONE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.prng import random_states

MOST_REPORTED = 64  # number of entries of a neighbour's list that a node keeps
# Columns of `counts`: entries for which the bounded tables had no room.
FORGOTTEN, UNREPORTED = 0, 1


class HelloRules(NamedTuple):
    """The parameters of hellos, which are equal on all nodes.

    A period has a random length between 0.8 and 1.2 times `period_s`.
    """

    period_s: float
    starts: bool  # whether the protocol declares the start event
    positions: bool  # whether a hello carries the position of its sender


class Hellos(NamedTuple):
    """The hello state of nodes, one row for each node."""

    node_id: npt.NDArray[np.int32]  # [rows]
    random_state: npt.NDArray[np.uint64]  # [rows]
    next_at: npt.NDArray[np.float64]  # [rows] own clock when the next hello is due; -inf: none is
    number: npt.NDArray[np.int32]  # [rows] of the last hello
    quick: npt.NDArray[np.int32]  # [rows] hellos left that follow after half a period
    lowest: npt.NDArray[np.int32]  # [rows] least id of the list that the next hello begins with
    first: npt.NDArray[np.int64]  # [rows + 1] row i's links are link[first[i]:first[i + 1]]
    link: npt.NDArray[np.void]  # [all rooms] LINK, as a record array
    counts: npt.NDArray[np.int64]  # [rows, 2]


def hellos(
    node_ids: npt.NDArray[np.int32], limit: int | npt.NDArray[np.int64], seed: int
) -> Hellos:
    """Return the initial state for hellos: nodes have neither sent nor received a hello.

    limit: senders that a node has room for, or that each one has room for [rows].
    """
    rows = len(node_ids)
    first = np.concatenate(([0], np.cumsum(np.broadcast_to(limit, rows))))
    link = np.zeros(int(first[-1]), LINK)
    link["node_id"] = NONE
    number, quick, lowest = np.zeros((3, rows), np.int32)
    return Hellos(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        next_at=np.full(rows, -np.inf),
        number=number,
        quick=quick,
        lowest=lowest,
        first=first,
        link=link.view(np.recarray),
        counts=np.zeros((rows, 2), np.int64),
    )


def unknown_neighbourhood(
    rows: int, limit: int | npt.NDArray[np.int64], *, reported: int = 0, positions: bool = False
) -> Neighbourhood:
    """Return the empty neighbourhoods that the state of hellos fills, with room for `limit`
    neighbours each, or for limit [rows].

    reported: entries of each neighbour's own list that a node keeps; 0: it keeps no such list.
    Row `rows + s` is then the list that the neighbour of link s reported, see `Hellos.link`.
    positions: whether nodes know their own positions, and those that neighbours reported.
    """
    own = np.broadcast_to(limit, rows)
    lists = int(own.sum()) if reported else 0
    capacity = np.concatenate((own, np.full(lists, reported)))
    first = np.concatenate(([0], np.cumsum(capacity)[:-1])).astype(np.uint32)
    who = np.full(int(capacity.sum()), NONE, np.int32)
    x, y = np.zeros((2, rows + lists if positions else 0))
    return Neighbourhood(first, first.copy(), who, np.full(len(who), NONE, np.int32), x, y)
