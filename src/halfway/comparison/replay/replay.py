"""One run of a system, condensed to what a map of it needs; no drawing here."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import System
from halfway.comparison.replay import tables as records
from halfway.comparison.replay.kinds import Reading, reading_of
from halfway.comparison.replay.scene import MOST_EVENTS, Columns, Stage, stage_of
from halfway.comparison.replay.trace import Gathered, Kinds, gathered
from halfway.scenario.build import network_of, simulation_of
from halfway.scenario.schema import Scenario
from halfway.sim.environment.mobility import Motion
from halfway.sim.simulation import Simulation

_LOOKS = 60  # how often the parents of a tree are looked up


class Replay(NamedTuple):
    """One run of a system. Tables are columns of one length, in order of time (seconds).

    sent: t, source, to (-1: everybody near), role (0 event, 1 walk, 2 overlay, 3 other), event
    reached: t, row, source, event: who first heard of each event from whom
    delivered: t, row, event
    steps: t, source, row, label (a place in `labels`), topic: walks
    met: t, row, topic: walks that met
    links: t, a, b, made: links of an overlay, made (1) and cut (0)
    belongs: t, row, broker: regions
    homes: t, row, topic: who is in the cell that a topic's messages end at
    changes: t, what (0 node down, 1 up, 2 link down, 3 up), a, b
    """

    system: str
    stage: Stage
    tables: dict[str, Columns]
    labels: tuple[str, ...]  # of the walks
    meeting: str  # what the rows of `met` are; "" without any
    # Corner and side of the cells of a system that has some, in the unit of positions; else 0s.
    cells: tuple[float, float, float]
    totals: dict[str, int]  # table -> rows of the whole run, where the table may have fewer
    until: float  # seconds; what came later is not told
    expected: tuple[npt.NDArray[np.int32], ...]  # publication -> rows that should hear of it


def replay_of(
    made: Callable[[Path], Simulation], motion: Motion | None, reading: Reading | None = None
) -> Replay:
    """Run the simulation that `made` builds with the trace it is given, and condense the trace.

    motion: what the simulation was built with. reading: what the system's kinds mean; without one,
    that of the table, and for a system that is not there what its records say of themselves.
    """
    with TemporaryDirectory(prefix="halfway-") as folder:
        trace = Path(folder) / "run.parquet"
        run = made(trace)
        reading = reading or reading_of(run.system)
        parents = _run_watched(run, "" if reading is None else reading.parents)
        stage = stage_of(run, motion)
        kinds = Kinds(dict(run.instance.kinds), reading, _first_at(stage))
        read = gathered(trace, kinds)
    return _condensed(run, stage, kinds, read, parents)


def replay_of_scenario(scenario: Scenario, system: str | System | None = None) -> Replay:
    """The replay of a scenario's system, or of another one, with the scenario's own seed."""
    _, motion = network_of(scenario)
    return replay_of(lambda trace: simulation_of(scenario, system=system, trace=trace), motion)


def _run_watched(run: Simulation, field: str) -> Columns:
    """Run it to its end; t, a, b, made of the tree that the state's parents are, if it has some."""
    found: list[Columns] = []
    before: npt.NDArray[np.int32] | None = None
    looks = np.linspace(0.0, run.seconds, _LOOKS + 1) if field else np.array([run.seconds])
    for t in looks:
        if t > 0.0:
            run.run(until=float(t))
        now = _parents(run.instance.state, field) if field else None
        if now is not None:
            found += _tree_changes(float(t), before, now)
            before = now.copy()
    return records.merged(found, ("a", "b", "made"))


def _tree_changes(
    t: float, before: npt.NDArray[np.int32] | None, now: npt.NDArray[np.int32]
) -> list[Columns]:
    rows = np.arange(len(now), dtype=np.int32)
    old = np.full(len(now), -1, np.int32) if before is None else before
    tables = []
    for parent, made in ((old, 0), (now, 1)):
        which = (old != now) & (parent >= 0)
        count = int(which.sum())
        tables.append({
            "t": np.full(count, t), "a": rows[which], "b": parent[which].astype(np.int32),
            "made": np.full(count, made, np.int32),
        })  # fmt: skip
    return tables


def _parents(state: Any, field: str) -> npt.NDArray[np.int32] | None:
    """[n] each row's parent, below 0 for none; None for a state without that field.

    Where only brokers have a parent, the state's `seat` [n] says which of them a row is, -1: none.
    """
    if not hasattr(state, field):
        return None
    parent = np.asarray(getattr(state, field), np.int32)
    seat = getattr(state, "seat", None)
    if seat is None:
        return parent
    found = np.full(len(seat), -1, np.int32)
    found[seat >= 0] = parent[seat[seat >= 0]]
    return found


def _condensed(
    run: Simulation, stage: Stage, kinds: Kinds, read: Gathered, parents: Columns
) -> Replay:
    reading = kinds.reading
    changes = records.changes(read.changes)
    reached = records.reached(read.hops, MOST_EVENTS)
    steps, labels = records.steps(read.telling, kinds)
    told = read.told
    done = told.part((told.of["kind"] == run.instance.delivered) & (told.of["event"] < MOST_EVENTS))
    overlay = records.merged([parents, records.overlay(read.telling, kinds)], ("a", "b", "made"))
    tables = {
        "sent": records.sent(read.sent, kinds),
        "reached": records.beginning(reached),
        "steps": records.beginning(steps),
        "changes": changes,
        "links": overlay,
        "delivered": done.table(row=done.of["row"], event=done.of["event"]),
        "met": records.meetings(read, kinds),
        "belongs": records.belongings(read.announced, kinds.number(reading.belongs)),
        "homes": records.homes(read.announced, kinds.number(reading.homes)),
    }
    meeting = next((one.label for one in reading.meetings), "")
    totals = {"sent": read.all_sent, "reached": len(reached["t"]), "steps": len(steps["t"])}
    return Replay(
        run.system, stage, tables, labels, meeting, _cells(run.instance.rules, reading.cells), totals,
        run.seconds if read.until is None else read.until, tuple(stage.expected(changes)),
    )  # fmt: skip


def _cells(rules: Any, side: str) -> tuple[float, float, float]:
    """The corner that cells are counted from, and their side; 0 where there are none."""
    low_x, low_y = (float(getattr(rules, name, 0.0)) for name in ("low_x", "low_y"))
    return low_x, low_y, float(getattr(rules, side)) if side else 0.0


def _first_at(stage: Stage) -> npt.NDArray[np.float64]:
    """[events] when each was published; those beyond the ones told never."""
    event = stage.publications["event"].astype(np.int64)
    at = np.full(int(event.max(initial=-1)) + 1, np.inf)
    at[event] = stage.publications["t"]
    return at
