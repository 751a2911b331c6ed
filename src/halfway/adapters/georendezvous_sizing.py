"""The size of GeoRendezvous's cells on a network, and the sizes of its tables there."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import RunContext
from halfway.core.compiled import kernel
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII, point_position
from halfway.protocols.georendezvous.rules import Rules
from halfway.world.graphs.common_reach import common_reach
from halfway.world.graphs.components import components
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.workload.demand import Demand

_TOUCHING = 1.5  # in sides: cells with closer centres touch, corners included
_SPARE = 2  # times the need of the fullest cell at the start; homes may move
_HOPS = 32  # further hops tracked at a time


class CellLayout(NamedTuple):
    """The layout of GeoRendezvous's cells on a network at the start of a run."""

    position: npt.NDArray[np.float64]  # [n, 2]
    reach: float  # distance within which all nodes hear each other
    area: tuple[float, float, float, float]  # rectangle into which keys hash: x, y, width, height
    cell: npt.NDArray[np.int64]  # [n, 2] column, row


def layout_of(context: RunContext, margin: float) -> CellLayout | None:
    """Return the layout of GeoRendezvous's cells at the start of a run; None if the network has no
    positions or no reach.

    margin: the share of the reach that is reserved for movement between two beacons.
    The area is the unit square for nodes within it, else the least rectangle around them.
    """
    position = context.start.position
    if position is None or context.n == 0:
        return None
    reach = common_reach(context.start) if context.reach is None else context.reach
    reach *= 1.0 - margin
    if not reach > 0.0:
        return None
    low, high = position.min(axis=0), position.max(axis=0)
    area = float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])
    if low.min() >= 0.0 and high.max() <= 1.0:
        area = 0.0, 0.0, 1.0, 1.0
    cell = np.floor((position - area[:2]) / (reach * CELL_SIDE_RADII)).astype(np.int64)
    return CellLayout(position, reach, area, cell)


def connected_share(context: RunContext, cell: npt.NDArray[np.int64]) -> float:
    """Return the share of the largest component of a network that the cells of GeoRendezvous keep
    connected.
    """
    populated, count = np.unique(cell, axis=0, return_counts=True)
    touching = unit_disk(populated.astype(np.float64), _TOUCHING)
    count = count[np.asarray(touching.labels)]
    most = np.bincount(components(touching), weights=count).max()
    return float(most / np.bincount(components(context.start)).max())


def sizes(context: RunContext, layout: CellLayout, rules: Rules) -> dict[str, int]:
    """Return the sizes of GeoRendezvous's tables: twice the need at the start of a run, and more if
    nodes move.
    """
    demand, moves = context.demand, context.reach is not None
    neighbours = _most_neighbours(layout.cell)
    homes, empty = _homes(layout, rules, demand.topics)
    need = np.zeros(homes.max(initial=0) + 1)
    for topic in range(demand.topics):
        np.add.at(need, homes[topic], _entries(demand, layout, rules, topic, moves))
    keys = demand.topics * rules.points
    publishers_of = np.zeros(context.n, np.int64)
    for rows, publishers in zip(demand.subscribers, demand.publishers, strict=True):
        publishers_of[rows] += len(publishers)
    entries = _SPARE * int(need.max(initial=0)) + 8
    if rules.bridges > 0:  # with bridges, a node keeps all nodes that it hears, and their bridges
        neighbours = 2 * max(neighbours, context.most_neighbours) + rules.bridges
    any_home = moves or rules.bridges > 0  # a point may have more than the one at the start
    wanted = max(neighbours, 1)
    if moves:
        wanted = min((1 + rules.bridges) * context.n, 3 * neighbours + 16)
    return {
        "neighbours": wanted,
        "bridges": rules.bridges,
        "entries": entries,
        "traversals": keys if any_home else min(keys, _SPARE * int(empty.sum()) + 8),
        "pruned": max(int(publishers_of.max(initial=0)), 1),
        "hops_in_flight": _HOPS + entries if rules.retries > 0 else 0,
    }


def _most_neighbours(cell: npt.NDArray[np.int64]) -> int:
    """Return the largest number of nodes in a node's own and touching cells of GeoRendezvous,
    except itself.
    """
    low = cell.min(axis=0)
    columns = int(cell[:, 0].max() - low[0]) + 3
    code = (cell[:, 1] - low[1] + 1) * columns + cell[:, 0] - low[0] + 1
    populated, count = np.unique(code, return_counts=True)
    most = np.zeros(len(populated), np.int64)
    for up in (-1, 0, 1):
        for across in (-1, 0, 1):
            beside = populated + up * columns + across
            place = np.minimum(np.searchsorted(populated, beside), len(populated) - 1)
            most += np.where(populated[place] == beside, count[place], 0)
    return int(most.max()) - 1


def _homes(
    layout: CellLayout, rules: Rules, topics: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return two arrays [topics, points] for GeoRendezvous: the number of the home cell of each
    point, and whether the point's own cell is empty.
    """
    populated = np.unique(layout.cell, axis=0)  # the order by column, then row, breaks ties
    hashed = _hashed(rules, np.arange(topics)) * (rules.wide, rules.high)
    goal = np.floor(hashed / rules.side).astype(np.int64)
    homes = np.empty(goal.shape[:2], np.int64)
    for topic in range(topics):
        gap = ((populated[None] - goal[topic][:, None]) ** 2).sum(axis=2)
        homes[topic] = gap.argmin(axis=1)
    return homes, (populated[homes] != goal).any(axis=2)


def _hashed(rules: Rules, topics: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return [topics, points, 2]: the points of topics in the unit square, from which
    GeoRendezvous's tables are sized.
    """
    position = np.empty((len(topics), rules.points, 2))
    _fill(rules.key, topics, position)
    return position


@kernel
def _fill(key, topics, position):
    for t in range(position.shape[0]):
        for point in range(position.shape[1]):
            x, y = point_position(key, topics[t], point)
            position[t, point, 0], position[t, point, 1] = x, y


def _entries(
    demand: Demand, layout: CellLayout, rules: Rules, topic: int, moves: bool
) -> npt.NDArray[np.int64]:
    """Return the number of entries [points] that each home of GeoRendezvous stores: advertisements,
    subscriptions and prunes.
    """
    publishers, rows = len(demand.publishers[topic]), demand.subscribers[topic]
    subscribers = np.full(rules.points, len(rows))
    if not moves and len(rows):
        position = _hashed(rules, np.array([topic]))[0] * (rules.wide, rules.high)
        position += rules.low_x, rules.low_y
        gap = ((layout.position[rows][:, None] - position[None]) ** 2).sum(axis=2)
        tried = np.argsort(gap, axis=1, kind="stable")[:, : rules.tried]
        subscribers = np.bincount(tried.ravel(), minlength=rules.points)
    return publishers + subscribers * (1 + publishers)
