"""Source routes: records led along known paths of an underlay, hop by hop over real links.

A record says by which path it goes and how far it has come; the nodes between its ends forward it
unseen. [uas §4 "The Data Structures"] "Every broker node … stores the path to its parent node,
alternate node and grand parent". The paths stand as long as a run: none is found anew.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.reliable_hop import (
    COUNTS,
    HOP,
    LOST,
    NONE,
    acknowledged,
    arrived_before,
    await_all,
    given_up,
    overdue,
    watch,
)
from halfway.protocols.walks.messages import ACK, PATIENCE, SERIAL

__all__ = ["ACK", "PATIENCE"]

NO_WAY = np.uint8(12)  # to oneself, instead of what no path leads to its target: it is counted

NOBODY = np.int32(-1)
NO_ROUTE = np.int32(-1)
# Places in `args`; 5 is the serial number of a hop with care.
ROUTE, STEP, CLIENT, ORIGIN = 0, 1, 2, 3  # path; hops of it made, 0: not led; client; first sender

IN_FLIGHT, _ANSWERED = 64, 256  # hops under care, hops known by their number, at a node

Ints = npt.NDArray[np.int32]
Rows = Sequence[int] | npt.NDArray[np.integer]


class Routes(NamedTuple):
    """Paths by number, and which leads from whom to whom; brokers are numbered from 0."""

    first: Ints  # [routes + 1] path r is row[first[r]:first[r + 1]], both ends included
    row: Ints  # names
    back: Ints  # [routes] the same path the other way round
    number: Ints  # [n] of the broker of that name; -1 where there is none
    direct: Ints  # [brokers, brokers] path from one to another; -1 where there is none
    second: Ints  # [brokers, brokers] one that shares no more with it than it must; or -1
    home: Ints  # [n, homes] paths from a client's node to its brokers; -1 where there is none


class Care(NamedTuple):
    """What a node remembers of hops that it watches over and of those that it acknowledged."""

    node_id: Ints  # [n]
    hops: npt.NDArray[np.void]  # [n, places] HOP, as a record array
    answered: Ints  # [n, places, 2] sender and number
    counts: npt.NDArray[np.int64]  # [n, COUNTS]


class Lines(NamedTuple):
    """Brokers that are reached by another path than the direct one, for now."""

    peer: Ints  # [brokers, places] NOBODY where the place is free
    route: Ints  # [brokers, places]


class Post(NamedTuple):
    """What a broker sends by."""

    routes: Routes
    lines: Lines


def routes(
    n: int,
    brokers: Rows,
    direct: Mapping[tuple[int, int], Rows],
    second: Mapping[tuple[int, int], Rows],
    home: Mapping[int, Sequence[Rows]],
) -> Routes:
    """Paths among n nodes, `brokers` by name; each way back is the same path reversed.

    direct, second: (number a, number b) -> names from a to b; home: node -> names to its brokers.
    """
    first, row, back = [0], list[int](), list[int]()

    def numbered(node_ids: Rows) -> int:
        for way in (node_ids, node_ids[::-1]):
            row.extend(int(node_id) for node_id in way)
            first.append(len(row))
        back.extend((len(first) - 2, len(first) - 3))
        return len(first) - 3

    number = np.full(n, NOBODY, np.int32)
    homes = np.full((n, max(map(len, home.values()), default=1)), NO_ROUTE, np.int32)
    number[np.asarray(brokers, np.int64)] = np.arange(len(brokers))
    pairs = []
    for given in (direct, second):
        leads = np.full((len(brokers), len(brokers)), NO_ROUTE, np.int32)
        for (a, b), node_ids in given.items():
            leads[a, b] = numbered(node_ids)
            leads[b, a] = leads[a, b] + 1
        pairs.append(leads)
    for node, some in home.items():
        homes[node, : len(some)] = [numbered(node_ids) for node_ids in some]
    whole = [np.array(each, np.int32) for each in (first, row, back)]
    return Routes(whole[0], whole[1], whole[2], number, pairs[0], pairs[1], homes)


def lines(brokers: int, places: int) -> Lines:
    """Everybody is reached directly."""
    return Lines(np.full((brokers, places), NOBODY), np.full((brokers, places), NO_ROUTE))


def care(node_ids: Ints, retries: int) -> Care:
    """No hop is in flight; without retries there is no room for any."""
    n, places, known = len(node_ids), IN_FLIGHT if retries else 0, _ANSWERED if retries else 1
    return Care(
        node_ids,
        np.zeros((n, places), HOP).view(np.recarray),
        np.zeros((n, known, 2), np.int32),
        np.zeros((n, COUNTS), np.int64),
    )


@inlined
def is_under_way(routes, message):
    """Whether a record is led along a path and has not come to its end."""
    step, r = message.args[STEP], message.args[ROUTE]
    return step > 0 and routes.first[r] + step + 1 < routes.first[r + 1]


@apart
def lead(routes, r, kind, own, out):
    """A record that sets out along path r; where there is none (-1), a NO_WAY in its place."""
    if r == NO_ROUTE:
        return emit(out, NO_WAY, 0.0, own)
    o = emit(out, kind, 0.0, routes.row[routes.first[r] + 1])
    o.args[ROUTE], o.args[STEP], o.args[ORIGIN] = r, 1, own
    return o


@apart
def forward(routes, message, out):
    """The next hop of a record that is for somebody else."""
    step = message.args[STEP] + 1
    towards = routes.row[routes.first[message.args[ROUTE]] + step]
    o = emit(out, message.kind, 0.0, towards)
    o.topic, o.event = message.topic, message.event
    for a in range(8):
        o.args[a] = message.args[a]
    o.args[STEP], o.args[SERIAL] = step, 0


@apart
def line(post, i, own, to):
    """The path by which a broker reaches another one, or a client's node, for now; -1 if none."""
    for s in range(post.lines.peer.shape[1]):
        if post.lines.peer[i, s] == to:
            return post.lines.route[i, s]
    number = post.routes.number
    if number[to] != NOBODY:
        return post.routes.direct[number[own], number[to]]
    for k in range(post.routes.home.shape[1]):
        home = post.routes.home[to, k]
        if home != NO_ROUTE and post.routes.row[post.routes.first[home + 1] - 1] == own:
            return post.routes.back[home]
    return NO_ROUTE


@apart
def switch(lines, i, peer, route):
    """Reach a peer by that path from now on; by NO_ROUTE: directly."""
    free = -1
    for s in range(lines.peer.shape[1] - 1, -1, -1):
        if lines.peer[i, s] == peer:
            lines.peer[i, s] = NOBODY
        if lines.peer[i, s] == NOBODY:
            free = s
    if route != NO_ROUTE and free >= 0:
        lines.peer[i, free], lines.route[i, free] = peer, route


@apart
def settled(care, rules, i, message, out):
    """What care has to say of a record: True if there is nothing more to do about it."""
    if message.kind == ACK:
        acknowledged(care, i, message)
    elif message.kind == PATIENCE:
        slot = overdue(care, rules, i, message, out)
        if slot != NONE:
            care.counts[i, LOST] += 1
            given_up(care, i, slot)
    elif message.kind == NO_WAY:
        care.counts[i, LOST] += 1
    else:
        return arrived_before(care, i, message, out)
    return True


@apart
def watch_new(care, rules, i, message, before, out):
    """Watch over every record for another node that was emitted since `before` slots were free."""
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        record = out.pool[out.free[np.uint32(stacked)]]
        if record.next != APP and record.next != care.node_id[i] and record.kind != ACK:
            record.hops = message.hops
            watch(care, rules, i, record, NONE, 0, out)


@inlined
def resume_care(care, rules, i, out):
    """Back after a crash: hops in flight are awaited again."""
    if rules.retries > 0:
        await_all(care, rules, i, out)
