"""Cells laid over a scene, and how much a node must have room for there."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import RunContext
from halfway.core.compiled import kernel
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII, hashed
from halfway.protocols.georendezvous.routing import Rules
from halfway.world.graphs.hearing import common_reach
from halfway.world.graphs.statistics import components
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.workload.demand import Demand

_TOUCHING = 1.5  # sides: cells whose centres are nearer than that touch, corners included
_SPARE = 2  # times what the busiest cell needs at the start: homes move where nodes go and come
_HOPS = 32  # watched over at a time, beside all that is handed over or notified at once


class Ground(NamedTuple):
    """A scene as cell hashing sees it."""

    position: npt.NDArray[np.float64]  # [n, 2]
    reach: float  # within which everybody hears everybody
    area: tuple[float, float, float, float]  # that keys hash into: x, y, width, height
    cell: npt.NDArray[np.int64]  # [n, 2] column, row


class Sizes(NamedTuple):
    """Places in the tables of a node."""

    seats: int
    room: int
    perimeters: int
    rivals: int
    cared: int


def ground(context: RunContext, slack: float) -> Ground | None:
    """The cells of a scene at its start; None without positions, or without any reach.

    slack: the share of the reach that is kept back for nodes that move while nobody knows.
    The area is the unit square for nodes within it, else the least rectangle around them.
    """
    position = context.start.position
    if position is None or context.n == 0:
        return None
    reach = (common_reach(context.start) if context.reach is None else context.reach) * (
        1.0 - slack
    )
    if not reach > 0.0:
        return None
    low, high = position.min(axis=0), position.max(axis=0)
    area = float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1])
    if low.min() >= 0.0 and high.max() <= 1.0:
        area = 0.0, 0.0, 1.0, 1.0
    cell = np.floor((position - area[:2]) / (reach * CELL_SIDE_RADII)).astype(np.int64)
    return Ground(position, reach, area, cell)


def held_together(context: RunContext, cell: npt.NDArray[np.int64]) -> float:
    """Of the nodes of the network's largest component: the share in the largest part of cells."""
    populated, count = np.unique(cell, axis=0, return_counts=True)
    touching = unit_disk(populated.astype(np.float64), _TOUCHING)
    count = count[np.asarray(touching.labels)]
    most = np.bincount(components(touching), weights=count).max()
    return float(most / np.bincount(components(context.start)).max())


def sizes(context: RunContext, ground: Ground, rules: Rules) -> Sizes:
    """Room for what is needed at the start, and as much again; where nodes move, more."""
    demand, moves = context.demand, context.reach is not None
    neighbourhood = _around(ground.cell)
    homes, empty = _homes(ground, rules, demand.topics)
    need = np.zeros(homes.max(initial=0) + 1)
    for topic in range(demand.topics):
        need_each = _entries(demand, ground, rules, topic, moves)
        np.add.at(need, homes[topic], need_each)
    keys = demand.topics * rules.points
    heard = np.zeros(context.n, np.int64)
    for rows, publishers in zip(demand.subscribers, demand.publishers, strict=True):
        heard[rows] += len(publishers)
    room = _SPARE * int(need.max(initial=0)) + 8
    return Sizes(
        seats=min(context.n, 3 * neighbourhood + 16) if moves else max(neighbourhood, 1),
        room=room,
        perimeters=keys if moves else min(keys, _SPARE * int(empty.sum()) + 8),
        rivals=max(int(heard.max(initial=0)), 1),
        cared=_HOPS + room if rules.retries > 0 else 0,
    )


def _around(cell: npt.NDArray[np.int64]) -> int:
    """The most nodes that any node has in its own cell and those that touch it."""
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
    ground: Ground, rules: Rules, topics: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """[topics, points] the home of each point, a number; whether nobody is in the point's cell."""
    populated = np.unique(ground.cell, axis=0)  # by column, then row: as ties are broken
    goal = np.empty((topics, rules.points, 2), np.int64)
    _goals(rules, goal)
    homes = np.empty(goal.shape[:2], np.int64)
    for topic in range(topics):
        gap = ((populated[None] - goal[topic][:, None]) ** 2).sum(axis=2)
        homes[topic] = gap.argmin(axis=1)
    return homes, (populated[homes] != goal).any(axis=2)


@kernel
def _goals(rules, goal):
    for topic in range(goal.shape[0]):
        for number in range(goal.shape[1]):
            x, y = hashed(rules.key, topic, number)
            goal[topic, number, 0] = np.int64(np.floor(x * rules.wide / rules.side))
            goal[topic, number, 1] = np.int64(np.floor(y * rules.high / rules.side))


def _entries(
    demand: Demand, ground: Ground, rules: Rules, topic: int, moves: bool
) -> npt.NDArray[np.int64]:
    """[points] what the home of each point keeps: advertisements, subscriptions and prunes."""
    publishers, rows = len(demand.publishers[topic]), demand.subscribers[topic]
    takers = np.full(rules.points, len(rows))
    if not moves and len(rows):
        place = np.empty((rules.points, 2))
        _points(rules, topic, place)
        gap = ((ground.position[rows][:, None] - place[None]) ** 2).sum(axis=2)
        tried = np.argsort(gap, axis=1, kind="stable")[:, : rules.tried]
        takers = np.bincount(tried.ravel(), minlength=rules.points)
    return publishers + takers * (1 + publishers)


@kernel
def _points(rules, topic, place):
    for number in range(place.shape[0]):
        x, y = hashed(rules.key, topic, number)
        place[number, 0] = rules.low_x + x * rules.wide
        place[number, 1] = rules.low_y + y * rules.high
