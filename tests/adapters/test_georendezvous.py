"""The adapter of GeoRendezvous: where it can run, its table sizes, and outcomes of small runs."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from halfway.adapters import georendezvous_sizing as sizing
from halfway.adapters.interface import RunContext, Unsupported
from halfway.adapters.registry import named
from halfway.papers.georendezvous.message_run import best_point
from halfway.problem import Problem
from halfway.protocols.parts.event_window import WINDOW
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Legs
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, line

SECONDS, NODES, EXPECTED = 4.0, 24, 6 * 4
SIDE, WALKER_SEED, WALKED = 0.125, 2, 17  # of the cells that the walker crosses; all nodes


def meadow() -> Network:
    return disk(n=NODES, radius=radius_of_degree(NODES, 14.0), seed=1)


def demand(n: int = NODES) -> Drawn:
    return Drawn(n, 2, 1, 4, events=6, every_s=0.25, start_s=1.0, seed=1)


def cells(network: Network | None = None, **given: Any) -> Simulation:
    """A simulation of GeoRendezvous."""
    given = {"workload": demand(), "seconds": SECONDS, "seed": 1, **given}
    return Simulation("georendezvous", network, **given)


def context(network: Network, reach: float | None = None) -> RunContext:
    ids = NodeIds(network.n).of
    return RunContext(network.n, 20, demand(network.n), 64, SECONDS, 7, network, reach, ids)


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (line(NODES), "no positions"),
        (replace(line(NODES), position=np.zeros((NODES, 2))), "at one place"),
        (disk(n=300, radius=0.1, seed=1), "all hear each other, and such cells"),
    ],
    ids=["nowhere", "one place", "thin"],
)
def test_it_gives_the_reason_where_it_cannot_run(network: Network, why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        cells(network)
    reason = named("georendezvous").adapter_with({}).unsupported(context(network))
    assert why in reason
    assert not reason.endswith(".")


def test_options_that_do_not_go_together_are_refused_at_once() -> None:
    with pytest.raises(Problem, match="tried = 3, points = 2"):
        cells(meadow(), options={"points": 2, "tried": 3})


def test_tables_are_sized_by_demand_and_not_by_events() -> None:
    network = meadow()
    wants = Listed([(3, 0), (4, 0), (4, 1)], [(1.0, 7, 0), (1.0, 8, 0), (2.0, 9, 1)])
    given = {"workload": wants, "window": 50}
    state = cells(network, **given, options={"bridges": 0}).instance.state
    assert state.pruned.shape[1] == 3  # two publishers of one topic, one of the other
    assert state.received.shape[1:] == (8, WINDOW)  # three publishers
    assert state.hops.record.shape[1] == state.hops.accepted.of.shape[1] == 0  # no acknowledgements
    layout = sizing.layout_of(context(network), 0.0)
    assert layout is not None
    cell = layout.cell
    neighbours = [int((np.abs(cell - own).max(axis=1) <= 1).sum()) - 1 for own in cell]
    assert state.neighbours.shape[1] == max(neighbours)
    linked = cells(network, **given).instance.state  # all nodes in reach, and their bridges
    assert linked.neighbours.shape[1] == 2 * int(network.degree.max()) + linked.bridges.shape[1]


def test_cells_cover_the_area_of_the_nodes() -> None:
    """In metres, and away from the origin: the rectangle around them; in the unit square: that."""
    near = meadow()
    far = replace(near, position=500.0 * np.asarray(near.position) - 7000.0)
    here, there = (sizing.layout_of(context(some), 0.0) for some in (near, far))
    assert here is not None
    assert there is not None
    assert here.area == (0.0, 0.0, 1.0, 1.0)
    assert there.area[0] == np.asarray(far.position)[:, 0].min()
    assert there.reach == pytest.approx(500.0 * here.reach)
    shifted = np.asarray(far.position) - there.area[:2]
    assert (there.cell == np.floor(shifted / (there.reach * 0.35355339059327))).all()


def walk(window: int, every_s: float) -> Iterator[Simulation]:
    """A subscriber walks along a street of 8 x 2 cells and receives events: the run at each half
    second, and its end."""
    place = np.array([((x + 0.5) * SIDE, (y + 0.5) * SIDE) for y in (0, 1) for x in range(8)])
    begin = np.concatenate([[[0.1 * SIDE, 0.4 * SIDE]], place])
    end = begin.copy()
    end[0, 0] = 7.9 * SIDE
    n = WALKED
    legs = Legs(np.arange(n + 1), np.full(n, 1.0), np.full(n, 13.0), *begin.T.copy(), *end.T.copy())
    events = np.arange(1.5, 12.5, every_s)
    wants = Listed([(0, 0)], [(at, WALKED - 4, 0) for at in events.tolist()])
    run = cells(
        motion=Motion(legs, SIDE / 0.3535), workload=wants, seconds=13.5, window=window,
        options={"points": 8}, seed=WALKER_SEED,
    )  # fmt: skip
    for half in range(3, 27):
        run.run(half / 2)
        yield run


def newest_point(run: Simulation) -> int:
    """The point with the fewest hops of the newest event that the walker received, or -1."""
    point, _ = best_point(run, 0, WALKED - 4) or (-1, 0)
    return point


def walked() -> dict[str, Any]:
    """The outcome of a walk, and the cells and points of its subscriber."""
    seen, points = set(), set()
    for run in walk(64, 0.25):
        seen.add(tuple(map(int, run.state.cell[0])))
        points.add(newest_point(run))
    return {**summary(run.run()), "cells": sorted(seen), "points": sorted(points)}


def test_the_newest_point_does_not_depend_on_the_length_of_the_windows() -> None:
    """A walker receives 88 events: more than the shorter window, and fewer than the longer one."""
    short, long = ([newest_point(run) for run in walk(window, 0.125)] for window in (64, 128))
    assert short == long
    assert len(set(short)) > 2


def summary(done: Outcome) -> dict[str, Any]:
    return {
        "ratio": done.delivery_ratio, "expected": done.expected, "duplicates": done.duplicates,
        "unasked": done.unsolicited, "shortfalls": dict(done.shortfalls), "sent": dict(done.sent),
    }  # fmt: skip


@cache
def runs() -> dict[str, Any]:
    """The outcome of every run of this file."""
    lossy, reliable = IdealRadio(success=0.8), {"retries": 6, "ack_timeout_s": 0.02}
    found = {
        "static": summary(cells(meadow()).run()),
        "lossy": summary(cells(meadow(), radio=lossy).run()),
        "reliable": summary(cells(meadow(), radio=lossy, options=reliable).run()),
        "divided": summary(cells(meadow(), options={"replicas": 1}).run()),
        "walker": walked(),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizing, "_SPARE", 0)  # tables for eight entries, whatever there is to store
        found["cramped"] = summary(cells(meadow()).run())
    return found


@pytest.mark.parametrize("how", ["static", "divided"])
def test_every_subscriber_receives_every_event_once(how: str) -> None:
    """[geo §2.2] "all the notifications that get to the rendezvous cell are forwarded": once."""
    found = runs()[how]
    assert found["expected"] == EXPECTED
    assert found["ratio"] == 1.0
    assert found["duplicates"] == found["unasked"] == 0
    assert found["shortfalls"] == {}


def test_entries_without_room_are_counted() -> None:
    found = runs()["cramped"]
    assert found["shortfalls"]["entries without room"] > 0


def test_a_lost_hop_is_lost_unless_hops_are_acknowledged() -> None:
    assert runs()["lossy"]["ratio"] < 0.7
    assert runs()["reliable"]["ratio"] > 0.95
    assert sum(runs()["reliable"]["sent"].values()) < 5000  # copies are bounded
    assert "ack" not in runs()["lossy"]["sent"]


def test_a_mobile_subscriber_changes_points_and_keeps_receiving() -> None:
    """[geo §1] "pick a better rendezvous node as they move", cell by cell."""
    found = runs()["walker"]
    assert found["cells"] == [(x, 0) for x in range(8)]
    assert len(found["points"]) > 1
    assert found["expected"] == 44
    assert found["ratio"] >= 0.95
    assert found["sent"]["gone"] == 7  # it left each cell
