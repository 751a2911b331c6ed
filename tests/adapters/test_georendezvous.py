"""Cell hashing among the systems: where it can run, what it needs, and what comes of a run.

The runs are small and interpreted, in one process of their own: compiling the engine for them would
cost more than all of them.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from halfway.adapters import georendezvous_sizing as cell_ground
from halfway.adapters.interface import RunContext, Unsupported
from halfway.adapters.registry import named
from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import IdealAir
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Legs
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, line

SECONDS, NODES, EXPECTED = 4.0, 24, 6 * 4
SIDE, WALKER_SEED = 0.125, 2  # of the cells that the walker crosses


def meadow() -> Network:
    return disk(n=NODES, radius=radius_of_degree(NODES, 14.0), seed=1)


def demand(n: int = NODES) -> Drawn:
    return Drawn(n, 2, 1, 4, events=6, every_s=0.25, start_s=1.0, seed=1)


def cells(network: Network | None = None, **given: Any) -> Simulation:
    """A simulation of cell hashing."""
    given = {"workload": demand(), "seconds": SECONDS, "seed": 1, **given}
    return Simulation("cell-hash", network, **given)


def context(network: Network, reach: float | None = None) -> RunContext:
    return RunContext(network.n, 20, demand(network.n), 64, SECONDS, 7, network, reach)


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (line(NODES), "no positions"),
        (replace(line(NODES), position=np.zeros((NODES, 2))), "at one place"),
        (disk(n=300, radius=0.1, seed=1), "hold no more than"),
    ],
    ids=["nowhere", "one place", "thin"],
)
def test_where_it_cannot_run_it_says_why(network: Network, why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        cells(network)
    told = named("cell-hash").with_options({}).unsupported(context(network))
    assert why in told
    assert not told.endswith(".")


def test_options_that_do_not_go_together_are_refused_at_once() -> None:
    with pytest.raises(Problem, match="tried = 3, points = 2"):
        cells(meadow(), options={"points": 2, "tried": 3})


def test_tables_have_room_for_what_is_needed_and_not_for_every_event() -> None:
    network = meadow()
    wants = Listed([(3, 0), (4, 0), (4, 1)], [(1.0, 7, 0), (1.0, 8, 0), (2.0, 9, 1)])
    state = cells(network, workload=wants, window=50).instance.state
    assert state.rivals.shape[1] == 3  # two publishers of one topic, one of the other
    assert state.heard.shape[1] == 64
    assert state.hops.shape[1] == state.answered.shape[1] == 0  # nobody acknowledges
    laid = cell_ground.ground(context(network), 0.0)
    assert laid is not None
    cell = laid.cell
    neighbourhood = [int((np.abs(cell - own).max(axis=1) <= 1).sum()) - 1 for own in cell]
    assert state.near.shape[1] == max(neighbourhood)


def test_cells_are_laid_where_the_nodes_are() -> None:
    """In metres, and away from the origin: the rectangle around them; in the unit square: that."""
    near = meadow()
    far = replace(near, position=500.0 * np.asarray(near.position) - 7000.0)
    here, there = (cell_ground.ground(context(some), 0.0) for some in (near, far))
    assert here is not None
    assert there is not None
    assert here.area == (0.0, 0.0, 1.0, 1.0)
    assert there.area[0] == np.asarray(far.position)[:, 0].min()
    assert there.reach == pytest.approx(500.0 * here.reach)
    shifted = np.asarray(far.position) - there.area[:2]
    assert (there.cell == np.floor(shifted / (there.reach * 0.35355339059327))).all()


def walked() -> dict[str, Any]:
    """A subscriber walks along a street of 8 x 2 cells and hears of four events a second."""
    place = np.array([((x + 0.5) * SIDE, (y + 0.5) * SIDE) for y in (0, 1) for x in range(8)])
    begin = np.concatenate([[[0.1 * SIDE, 0.4 * SIDE]], place])
    end = begin.copy()
    end[0, 0] = 7.9 * SIDE
    n = len(begin)
    legs = Legs(np.arange(n + 1), np.full(n, 1.0), np.full(n, 13.0), *begin.T.copy(), *end.T.copy())
    wants = Listed([(0, 0)], [(1.5 + 0.25 * k, n - 4, 0) for k in range(44)])
    run = cells(
        motion=Motion(legs, SIDE / 0.3535), workload=wants, seconds=13.5, window=64,
        options={"points": 8}, seed=WALKER_SEED,
    )  # fmt: skip
    seen, points = set(), set()
    for half in range(3, 27):
        run.run(half / 2)
        seen.add(tuple(map(int, run.instance.state.cell[0])))
        heard = run.instance.state.heard[0]
        points.add(int(heard["number"][int(heard["event"].argmax())]))
    return {**summary(run.run()), "cells": sorted(seen), "points": sorted(points)}


def summary(done: Outcome) -> dict[str, Any]:
    return {
        "ratio": done.delivery_ratio, "expected": done.expected, "again": done.duplicates,
        "unasked": done.unasked, "shortfalls": dict(done.shortfalls), "sent": dict(done.sent),
    }  # fmt: skip


def runs() -> dict[str, Any]:
    """What every run of this file gave, for the process that asks."""
    lossy, care = IdealAir(success=0.8), {"retries": 6, "answer": 0.02}
    found = {
        "still": summary(cells(meadow()).run()),
        "lossy": summary(cells(meadow(), radio=lossy).run()),
        "careful": summary(cells(meadow(), radio=lossy, options=care).run()),
        "divided": summary(cells(meadow(), options={"keepers": 1}).run()),
        "walker": walked(),
    }
    cell_ground._SPARE = 0  # tables for eight entries, whatever there is to keep
    found["cramped"] = summary(cells(meadow()).run())
    return found


@cache
def interpreted() -> dict[str, Any]:
    code = (
        "import json; from tests.adapters.test_georendezvous import runs; print(json.dumps(runs()))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("how", ["still", "divided"])
def test_everybody_hears_of_everything_once(how: str) -> None:
    found = interpreted()[how]
    assert found["expected"] == EXPECTED
    assert found["ratio"] == 1.0
    assert found["again"] == found["unasked"] == 0
    assert found["shortfalls"] == {}


def test_what_finds_no_room_is_told() -> None:
    found = interpreted()["cramped"]
    assert found["shortfalls"]["entries without room"] > 0


def test_a_lost_hop_is_lost_unless_hops_are_taken_care_of() -> None:
    assert interpreted()["lossy"]["ratio"] < 0.7
    assert interpreted()["careful"]["ratio"] > 0.95
    assert sum(interpreted()["careful"]["sent"].values()) < 5000  # and they do not multiply
    assert "ack" not in interpreted()["lossy"]["sent"]


def test_a_subscriber_that_walks_chooses_other_points_and_goes_on_hearing() -> None:
    """[§1] "pick a better rendezvous node as they move", cell by cell."""
    found = interpreted()["walker"]
    assert found["cells"] == [[x, 0] for x in range(8)]
    assert len(found["points"]) > 1
    assert found["expected"] == 44
    assert found["ratio"] >= 0.95
    assert found["sent"]["gone"] == 7  # it took leave of each cell
