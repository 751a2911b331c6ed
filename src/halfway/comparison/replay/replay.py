"""The replay of one run: the data of a map, condensed from the run."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import System
from halfway.comparison.replay import replay_tables
from halfway.comparison.replay.condenser import TraceCondenser
from halfway.comparison.replay.map_kinds import MapKinds, map_cell_side, map_parent, protocol_of
from halfway.comparison.replay.trace_rows import CondensedTrace
from halfway.comparison.replay.world import MOST_EVENTS, Columns, ReplayWorld, numbers_of, world_of
from halfway.core.kinds import MapRole
from halfway.scenario.build import network_of, simulation_of
from halfway.scenario.schema import Scenario
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.nodes import NodeTable
from halfway.sim.node_table import nodes_of
from halfway.sim.simulation import Simulation
from halfway.sim.trace.sink import TraceSink

_SAMPLES = 60  # of the parents of a tree, over a run


class Replay(NamedTuple):
    """The replay of one run. Tables are columns of one length, in order of time (seconds).

    sent: t, source, to (-1: all neighbours), role (0 event, 1 walk, 2 overlay, 3 other), event
    reached: t, row, source, event: the first reception of each event by each node
    delivered: t, row, event
    steps: t, source, row, label (an index in `labels`), topic: walks
    met: t, row, topic: walks that met
    links: t, a, b, made: links of an overlay, made (1) and cut (0)
    belongs: t, row, broker: regions
    homes: t, row, topic: nodes in the home cell of a topic
    changes: t, what (0 node down, 1 up, 2 link down, 3 up), a, b
    """

    system: str
    world: ReplayWorld
    tables: dict[str, Columns]
    labels: tuple[str, ...]  # of the walks
    meeting: str  # meaning of the rows of `met`; "": no rows
    # Corner and side of the cells of a system that has cells, in the unit of positions; else 0s.
    cells: tuple[float, float, float]
    totals: dict[str, int]  # table -> rows of the whole run, where the table may have fewer
    until: float  # seconds; later rows are left out
    expected: tuple[npt.NDArray[np.int32], ...]  # publication -> rows that should receive it
    nodes: NodeTable | None = None  # of the whole run


def replay_of(build: Callable[[TraceSink], Simulation], motion: Motion | None) -> Replay:
    """Return the replay of one run: the data of a map, from the simulation that `build` makes for a
    given trace.

    motion: the motion of the simulated nodes; None: the nodes are static.
    """
    trace = TraceCondenser()
    run = build(trace)
    world = world_of(run, motion)
    event = world.publications["event"].astype(np.int64)
    published_at = np.full(int(event.max(initial=-1)) + 1, np.inf)  # inf: left out
    published_at[event] = world.publications["t"]
    kinds = MapKinds(run.instance.kinds, published_at)
    trace.begin(kinds, numbers_of(run))
    protocol = protocol_of(run)
    parents = _run_sampling(run, map_parent(protocol))
    rules, side = run.instance.rules, map_cell_side(protocol)
    low_x, low_y = (float(getattr(rules, name, 0.0)) for name in ("low_x", "low_y"))
    cells = low_x, low_y, float(getattr(rules, side)) if side else 0.0
    return _replay(run, world, kinds, trace.condensed(), parents, cells)


def replay_of_scenario(scenario: Scenario, system: str | System | None = None) -> Replay:
    """Return the replay of a scenario's system, or of another one, with the scenario's own seed."""
    _, motion = network_of(scenario)
    return replay_of(lambda trace: simulation_of(scenario, system=system, trace=trace), motion)


def _run_sampling(run: Simulation, field: str) -> Columns:
    """Run a replay's simulation and sample the tree of parents in its state, if it has one, as
    columns t, a, b.
    """
    changes: list[Columns] = []
    before: npt.NDArray[np.int32] | None = None
    times = np.linspace(0.0, run.seconds, _SAMPLES + 1) if field else np.array([run.seconds])
    for t in times:
        if t > 0.0:
            run.advance(float(t))
        if field:
            now = _parents(run.instance.state, field).copy()
            changes += _tree_changes(float(t), before, now)
            before = now
    return replay_tables.merged(changes, ("a", "b", "made"))


def _tree_changes(
    t: float, before: npt.NDArray[np.int32] | None, now: npt.NDArray[np.int32]
) -> list[Columns]:
    old = np.full(len(now), -1, np.int32) if before is None else before
    changes = []
    for parent, made in ((old, 0), (now, 1)):
        a = np.flatnonzero((old != now) & (parent >= 0)).astype(np.int32)
        times, kind = np.full(len(a), t), np.full(len(a), made, np.int32)
        changes.append({"t": times, "a": a, "b": parent[a], "made": kind})
    return changes


def _parents(state: Any, field: str) -> npt.NDArray[np.int32]:
    """Return the parent of each row in a replay's tree [n], or a negative number for a row without
    a parent.

    If the field has a place for each broker instead of each row, the state's `broker_index` [n] has
    each row's place, -1 for a node that is not a broker.
    """
    parent = np.asarray(getattr(state, field), np.int32)
    index = getattr(state, "broker_index", None)
    if index is None:
        return parent
    parents = np.full(len(index), -1, np.int32)
    parents[index >= 0] = parent[index[index >= 0]]
    return parents


def _replay(
    run: Simulation,
    world: ReplayWorld,
    kinds: MapKinds,
    trace: CondensedTrace,
    parents: Columns,
    cells: tuple[float, float, float],
) -> Replay:
    reached = replay_tables.reached(trace.hops, MOST_EVENTS)
    steps, labels = replay_tables.steps(trace.receptions, kinds)
    delivered = trace.delivered
    number = delivered.of["number"]
    delivered = delivered.part(
        (delivered.of["kind"] == kinds.delivered) & (number >= 0) & (number < MOST_EVENTS)
    )
    overlay = replay_tables.merged(
        [parents, replay_tables.overlay(trace.receptions, kinds)], ("a", "b", "made")
    )
    tables = {
        "sent": replay_tables.sent(trace.sent, kinds),
        "reached": replay_tables.beginning(reached),
        "steps": replay_tables.beginning(steps),
        "changes": trace.changes,
        "links": overlay,
        "delivered": delivered.columns(row=delivered.of["row"], event=delivered.of["number"]),
        "met": replay_tables.meetings(trace, kinds),
        "belongs": replay_tables.belongings(trace.announced, kinds.with_role(MapRole.OWN_BROKER)),
        "homes": replay_tables.homes(trace.announced, kinds.with_role(MapRole.HOME_CELL)),
    }
    meeting = next((role.label for _, role in kinds.meetings), "")
    totals = {"sent": trace.all_sent, "reached": len(reached["t"]), "steps": len(steps["t"])}
    until = run.seconds if trace.until is None else trace.until
    expected = tuple(world.expected(trace.changes))
    return Replay(
        run.system, world, tables, labels, meeting, cells, totals, until, expected, nodes_of(run)
    )
