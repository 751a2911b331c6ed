"""The REHOME of GeoRendezvous: how often a node warns a home when several cells get their first
member at once."""

from collections import Counter
from typing import Any

import numpy as np

from halfway.core.message import RECORD
from halfway.core.outbox import outbox
from halfway.papers.georendezvous.message_run import cell_run, delivered, post, printed_rules
from halfway.protocols.georendezvous import cell_membership
from halfway.protocols.georendezvous.bridges import LISTED
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII
from halfway.protocols.georendezvous.messages import (
    ADVERTISE,
    ARRIVED,
    BRIDGES,
    CELL_X,
    CELL_Y,
    FIRST_BRIDGE,
    GOAL_X,
    GOAL_Y,
    POINT,
    REHOME,
)
from halfway.protocols.georendezvous.state import MEMBER, state
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.sim.environment.mobility import Motion
from halfway.sim.simulation import Simulation
from halfway.world.mobility.tracks import NodeTrack, traces_of
from tests.interpreted import uncompiled

REACH, TOPICS, MOVED_S = 0.28, 2, 6.0
SIDE = REACH * CELL_SIDE_RADII
HOME = -90  # column and row of a home from which every cell of the area is closer to each point

on_bridges = uncompiled(cell_membership.on_bridges)


def moved_far() -> Simulation:
    """The run of three neighbours, one of which moves seven cells away and still hears the others,
    as a live node does whose links do not depend on its position."""
    cells = [(0, 0), (1, 0), (0, 1)]
    tracks = []
    for row, (column, line) in enumerate(cells):
        x, y = SIDE * (column + 0.5), SIDE * (line + 0.5)
        to_x, to_y = (0.7, 0.7) if row == 0 else (x, y)
        legs = [(0.0, MOVED_S, x, y, x, y), (MOVED_S, MOVED_S + 0.05, x, y, to_x, to_y)]
        tracks.append(NodeTrack([*legs, (MOVED_S + 0.05, 1e6, to_x, to_y, to_x, to_y)], [(0, 1e6)]))
    motion = Motion(traces_of(tracks, ["a", "b", "c"]).legs, 1.5)
    scalars = printed_rules(
        REACH, 5, beacon_interval_s=0.3, join_listen_s=0.1, renewal_interval_s=1.0,
        lifetime_s=5.0, home_memory_s=2.0, bridges=24, retries=3, ack_timeout_s=0.5,
    )  # fmt: skip
    run = cell_run(motion, scalars, topics=TOPICS, seconds=16.0, received_records=1 << 16)
    for topic in range(TOPICS):
        post(run, 1.0, 0, ADVERTISE, topic)
    post(run, 1.0, 2, SUBSCRIBE, 0)
    post(run, 15.0, 0, PUBLISH, 0, 0)
    return run


def test_a_node_that_begins_many_bridges_at_once_warns_each_home_once() -> None:
    """A home routes all entries of a point again for each REHOME, so a second one of the same node
    only repeats what the first one did."""
    run = moved_far()
    run.run()
    assert (run.state.bridges.status == MEMBER).sum() > 2 * 6  # at two nodes or more
    records, _ = run.received_records()
    arrived = (records["kind"] == REHOME) & ((records["flags"] & ARRIVED) > 0)
    warned = Counter((int(one["topic"]), int(one["args"][POINT])) for one in records[arrived])
    assert len(warned) > 8
    occasions = 2  # the bridges to one neighbour begin later than those to the other one
    assert 1 < max(warned.values()) <= occasions * run.environment.n
    assert delivered(run) == [(0, 2)]


def listed(at: tuple[int, int], *cells: tuple[int, int]) -> Any:
    """A BRIDGES record of a node in a cell: it is a member of other cells."""
    message = np.zeros(1, RECORD).view(np.recarray)[0]
    message.kind, message.at, message.source = BRIDGES, 10.0, 8
    message.args[CELL_X], message.args[CELL_Y] = at
    for k, (x, y) in enumerate(cells):
        where = (x - at[0] + 8) + 16 * (y - at[1] + 8)
        message.args[FIRST_BRIDGE + k] = where + 256 * 256
    return message


def test_a_node_that_hears_of_many_bridges_at_once_warns_each_home_once() -> None:
    node = state(np.array([3], np.int32), 1, 8, 4, 1, bridges=24)
    node.present[0] = 1
    node.cell[0] = node.own_cell[0] = 5, 5
    for point in range(3):
        node.traversals.topic[0, point], node.traversals.point[0, point] = 0, point
        node.traversals.x[0, point] = node.traversals.y[0, point] = HOME
        node.traversals.until[0, point] = 99.0
    around = [(4, 4), (5, 4), (6, 4), (4, 6), (5, 6), (6, 6)]
    message, out = listed((8, 5), *around), outbox(64)
    assert len(around) == LISTED
    for warned in (3, 0):  # the second record has no news
        before = int(out.tally[0])
        on_bridges(node, printed_rules(REACH, 5, bridges=24), 0, message, out)
        sent = out.pool[out.free[out.tally[0] : before]]
        assert sorted(sent["args"][:, POINT].tolist()) == list(range(warned))
        assert (sent["kind"] == REHOME).all()
        assert (sent["args"][:, [GOAL_X, GOAL_Y]] == HOME).all()
