"""Source routes of broker trees: records follow known paths of an underlay, hop by hop.

A record carries its path and the number of hops made; the nodes between its ends forward it without
reading it. [uas §4 "The Data Structures"] "Every broker node … stores the path to its parent node,
alternate node and grand parent". Paths do not change during a run; no new one is searched for.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols import reliable_hop
from halfway.protocols.broker_trees.messages import NO_PATH, ORIGIN, ROUTE, STEP
from halfway.protocols.event_window import copy_event_id

NO_NODE = np.int32(-1)
NO_ROUTE = np.int32(-1)

_IN_FLIGHT, _ACCEPTED = 64, 256  # hops in flight, and hops accepted, that a node keeps

Int32s = npt.NDArray[np.int32]
NodePath = Sequence[int] | npt.NDArray[np.integer]


class Routes(NamedTuple):
    """Source routes by number, and which one leads from where to where; brokers count from 0."""

    first: Int32s  # [routes + 1] path r is row[first[r]:first[r + 1]], both ends included
    row: Int32s  # node ids
    back: Int32s  # [routes] the same path in the other direction
    number: Int32s  # [n] of the broker with that node id; -1: not a broker
    direct: Int32s  # [brokers, brokers] path from one to another; -1: none
    second: Int32s  # [brokers, brokers] one that shares as little as possible with it; -1: none
    home: Int32s  # [n, homes] paths from a client's node to its brokers; -1: none


def routes(
    n: int,
    brokers: NodePath,
    direct: Mapping[tuple[int, int], NodePath],
    second: Mapping[tuple[int, int], NodePath],
    home: Mapping[int, Sequence[NodePath]],
) -> Routes:
    """Return source routes among n nodes, each reversed as well; `brokers`: node ids by number.

    direct, second: (number a, number b) -> node ids from a to b; home: node -> paths to its
    brokers.
    """
    first, row, back = [0], list[int](), list[int]()

    def numbered(node_ids: NodePath) -> int:
        for path in (node_ids, node_ids[::-1]):
            row.extend(int(node_id) for node_id in path)
            first.append(len(row))
        back.extend((len(first) - 2, len(first) - 3))
        return len(first) - 3

    number = np.full(n, NO_NODE, np.int32)
    homes = np.full((n, max(map(len, home.values()), default=1)), NO_ROUTE, np.int32)
    number[np.asarray(brokers, np.int64)] = np.arange(len(brokers))
    pairs = []
    for given in (direct, second):
        between = np.full((len(brokers), len(brokers)), NO_ROUTE, np.int32)
        for (a, b), node_ids in given.items():
            between[a, b] = numbered(node_ids)
            between[b, a] = between[a, b] + 1
        pairs.append(between)
    for node, some in home.items():
        homes[node, : len(some)] = [numbered(node_ids) for node_ids in some]
    whole = [np.array(each, np.int32) for each in (first, row, back)]
    return Routes(whole[0], whole[1], whole[2], number, pairs[0], pairs[1], homes)


def hops_of_tree(node_ids: Int32s, retries: int) -> reliable_hop.ReliableHops:
    """Return tables of reliable hops on source routes; without retries they have no room."""
    room = (_IN_FLIGHT, _ACCEPTED) if retries else (0, 1)
    return reliable_hop.reliable_hops(node_ids, *room)


def with_reliable_hops(emissions: int, retries: int) -> int:
    """Return a bound on source-routed emissions with timers, an ACK and restarted timers added."""
    return 2 * emissions + 1 + _IN_FLIGHT if retries > 0 else emissions


@inlined
def is_in_transit(routes, message):
    """Whether a record is on a source route and this node is not its end."""
    step, r = message.args[STEP], message.args[ROUTE]
    return step > 0 and routes.first[r] + step + 1 < routes.first[r + 1]


@apart
def send_along(routes, r, kind, own, out):
    """Emit a record that starts along source route r; without one (-1) a NO_PATH in its place."""
    if r == NO_ROUTE:
        return emit(out, NO_PATH, 0.0, own)
    o = emit(out, kind, 0.0, routes.row[routes.first[r] + 1])
    o.args[ROUTE], o.args[STEP], o.args[ORIGIN] = r, 1, own
    return o


@apart
def forward(routes, message, out):
    """Emit the next hop of a record in transit on its source route."""
    step = message.args[STEP] + 1
    towards = routes.row[routes.first[message.args[ROUTE]] + step]
    o = emit(out, message.kind, 0.0, towards)
    o.topic = message.topic
    copy_event_id(message, o)
    for a in range(8):
        o.args[a] = message.args[a]
    for a in range(6):
        o.reals[a] = message.reals[a]
    o.args[STEP] = step


@apart
def second_path(routes, own, peer):
    """The second source route between two brokers, beside the direct one; -1: none."""
    return routes.second[routes.number[own], routes.number[peer]]


@apart
def handle_hop(hops, lost, rules, i, message, out):
    """Handle what concerns a hop of a source route itself; True if there is nothing more to do.

    Counts in `lost` the hops that failed for good and the records without a path.
    """
    if message.kind == reliable_hop.ACK:
        reliable_hop.complete(hops, i, message)
    elif message.kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.overdue(hops, rules, i, message, out)
        if place != NO_PLACE:
            lost[i] += 1
            reliable_hop.release(hops, i, place)
    elif message.kind == NO_PATH:
        lost[i] += 1
    else:
        return reliable_hop.acknowledge_if_asked(hops, i, message, out)
    return True


@apart
def track_new(hops, rules, i, message, before, out):
    """Track all source-routed records emitted since the outbox had `before` free slots."""
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        record = out.pool[out.free[np.uint32(stacked)]]
        leaves = record.next != APP and record.next != hops.node_id[i]
        if leaves and record.kind != reliable_hop.ACK:
            record.hops = message.hops
            reliable_hop.track(hops, rules, i, record, out)
