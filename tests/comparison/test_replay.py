"""A condensed run: what it tells is what the run counted, and what is left out is said."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.comparison.replay import tables as records
from halfway.comparison.replay import trace as replay_trace
from halfway.comparison.replay.kinds import READINGS, Meeting, Reading, Steps
from halfway.comparison.replay.replay import Replay, _run_watched, replay_of
from halfway.comparison.replay.scene import MOST_EVENTS, stage_of
from halfway.comparison.replay.trace import Gathered, Kinds, Rows, gathered
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.mobility.motion import still
from halfway.world.workload.demand import Drawn

SECONDS = 12.0
NETWORK: Network = connected_unit_disk(60, 0.22, seed=3).network


def simulation(system: str, trace: Path | None = None, **more: Any) -> Simulation:
    demand = Drawn(n=60, topics=2, publishers_each=2, subscribers_each=8, events=9, seed=5)
    return Simulation(
        system, NETWORK, workload=demand, seconds=SECONDS, seed=4, trace=trace, **more
    )


def played(system: str, **more: Any) -> tuple[Replay, Outcome]:
    made: list[Simulation] = []

    def make(trace: Path) -> Simulation:
        made.append(simulation(system, trace, **more))
        return made[-1]

    return replay_of(make, None), made[-1].run()


@pytest.fixture(scope="module")
def flood() -> tuple[Replay, Outcome]:
    return played("flooding")


def test_a_replay_counts_what_the_run_counted(flood: tuple[Replay, Outcome]) -> None:
    replay, told = flood
    assert len(replay.tables["sent"]["t"]) == replay.totals["sent"] == sum(told.sent.values())
    assert len(replay.tables["delivered"]["t"]) == told.delivered == told.expected
    assert sum(len(rows) for rows in replay.expected) == told.expected
    assert (replay.tables["sent"]["role"] == records.EVENT).all()
    assert (replay.tables["sent"]["to"] == -1).all()


def test_each_event_reaches_each_node_once_from_a_neighbour_that_had_it(
    flood: tuple[Replay, Outcome],
) -> None:
    table = flood[0].tables["reached"]
    told = flood[0].stage.publications
    had = {(int(e), int(row)): float(t) for e, row, t in
           zip(told["event"], told["row"], told["t"], strict=True)}  # fmt: skip
    publishers = set(had)
    for t, row, source, event in zip(*(table[name] for name in table), strict=True):
        assert source in NETWORK.neighbours(int(row))
        assert had[int(event), int(source)] <= t
        had.setdefault((int(event), int(row)), float(t))
    pairs = set(zip(table["event"].tolist(), table["row"].tolist(), strict=True))
    assert len(table["t"]) == len(pairs)
    assert len(pairs | publishers) == 60 * 9


def test_pieces_and_thinning_change_nothing_but_the_number_told(
    flood: tuple[Replay, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_trace, "_PIECE", 500)
    again, _ = played("flooding")
    for name, table in flood[0].tables.items():
        for column, values in table.items():
            assert np.array_equal(again.tables[name][column], values), (name, column)
    monkeypatch.setattr(replay_trace, "MOST_SENT", 100)
    thin, told = played("flooding")
    sent = flood[0].tables["sent"]
    assert thin.totals["sent"] == sum(told.sent.values())
    assert 50 < len(thin.tables["sent"]["t"]) <= 100
    assert np.array_equal(thin.tables["sent"]["t"], sent["t"][::8])
    assert np.array_equal(thin.tables["reached"]["t"], again.tables["reached"]["t"])


def test_a_trace_that_is_too_long_is_told_up_to_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "run.parquet"
    run = simulation("flooding", trace)
    run.run()
    monkeypatch.setattr(replay_trace, "_PIECE", 500)
    monkeypatch.setattr(replay_trace, "MOST_READ", 1500)
    read = gathered(trace, Kinds(dict(run.instance.kinds), READINGS["flooding"], np.zeros(9)))
    assert read.until is not None
    assert 0.0 < read.until < SECONDS
    assert read.sent.t.max() <= read.until


def test_a_system_that_nobody_declared_is_told_by_its_records(
    flood: tuple[Replay, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(READINGS, "flooding")
    again, _ = played("flooding")
    for name, column in (("reached", "source"), ("sent", "role"), ("delivered", "row")):
        assert np.array_equal(again.tables[name][column], flood[0].tables[name][column])


def test_walks_go_from_neighbour_to_neighbour_and_meet() -> None:
    replay, told = played("directional-walk")
    steps = replay.tables["steps"]
    assert replay.labels == ("walk of the publisher", "walk of the subscriber")
    assert set(steps["label"].tolist()) == {0, 1}
    for row, source in zip(steps["row"], steps["source"], strict=True):
        assert source in NETWORK.neighbours(int(row))
    # The publisher's walk of a topic goes on where it was: its first launch, step by step.
    mine = np.flatnonzero((steps["topic"] == 0) & (steps["label"] == 0))[:8]
    assert (steps["source"][mine][1:] == steps["row"][mine][:-1]).all()
    assert len(replay.tables["met"]["t"]) > 0
    assert told.delivered == len(replay.tables["delivered"]["t"])
    roles = replay.tables["sent"]["role"]
    assert (roles == records.WALK).sum() == replay.totals["steps"]


def test_faults_are_told_and_who_is_down_is_not_expected() -> None:
    churn = Churn(mean_up_s=5.0, mean_down_s=3.0, share=0.5)
    replay, told = played("flooding", faults=[churn])
    what = replay.tables["changes"]["what"]
    assert {0, 1} == set(what.tolist())
    assert sum(len(rows) for rows in replay.expected) == told.expected < 9 * 8


def test_one_run_is_one_replay() -> None:
    one, other = played("flooding")[0], played("flooding")[0]
    for name, table in one.tables.items():
        assert all(np.array_equal(table[c], other.tables[name][c]) for c in table)


def test_frames_are_where_nodes_are() -> None:
    assert NETWORK.position is not None
    motion = Motion(still(NETWORK.position), 0.22)
    demand = Drawn(
        n=60, publishers_each=1, subscribers_each=3, events=MOST_EVENTS + 7, every_s=0.01
    )
    run = Simulation("flooding", motion=motion, workload=demand, seconds=SECONDS)
    stage = stage_of(run, motion)
    assert stage.frames is not None
    assert stage.frames.shape == (13, 60, 2)
    assert np.allclose(stage.frames, NETWORK.position, atol=1e-6)
    assert (stage.reach, stage.untold) == (0.22, 7)
    assert len(stage.publications["t"]) == MOST_EVENTS


def test_every_declared_kind_is_one_of_its_system() -> None:
    """A reading that names a kind which no module has would show nothing, for ever."""
    for system, reading in READINGS.items():
        module = importlib.import_module(f"halfway.protocols.{system.replace('-', '_')}")
        kinds = set(module.KINDS.values())
        wanted = {*reading.hops, *reading.links, *reading.cuts, reading.belongs, reading.homes,
                  *(one.kind for one in (*reading.steps, *reading.meetings))}  # fmt: skip
        assert wanted - {""} <= kinds, system


def rows(**columns: list[int]) -> Rows:
    """Rows heard a second apart."""
    count = len(next(iter(columns.values())))
    of = {name: np.array(columns.get(name, [0] * count), np.int32) for name in replay_trace._INTS}
    args = np.array(columns.get("args", [0] * count), np.int32)[:, None] * np.ones(8, np.int32)
    t = np.arange(count, dtype=np.float64)
    return Rows(t, np.zeros(count, np.int8), of, args, ("heard",))


def kinds_of(reading: Reading) -> Kinds:
    return Kinds({1: "step", 2: "link", 3: "cut", 4: "beacon", 5: "joined"}, reading, np.zeros(1))


def column(table: dict[str, Any], name: str) -> list[int]:
    found: list[int] = table[name].tolist()
    return found


def test_a_step_that_all_hear_is_one_onto_its_target() -> None:
    reading = Reading(steps=(Steps("step", ("a", "b"), number=0, addressed=True),))
    heard = rows(kind=[1, 1, 1, 9], row=[4, 5, 6, 6], target=[5, 5, 6, 6], args=[3, 3, 4, 4])
    table, labels = records.steps(heard, kinds_of(reading))
    assert labels == ("a", "b")
    assert (column(table, "row"), column(table, "label")) == ([5, 6], [1, 0])


def test_links_are_made_and_cut_and_belonging_is_told_when_it_changes() -> None:
    kinds = kinds_of(Reading(links=("link",), cuts=("cut",), belongs="beacon"))
    table = records.overlay(rows(kind=[2, 9, 3], source=[1, 1, 2], row=[2, 2, 1]), kinds)
    assert (column(table, "a"), column(table, "made")) == ([1, 2], [1, 0])
    heard = rows(kind=[4] * 5, source=[7, 8, 7, 7, 8], topic=[1, -1, 1, 2, 2])
    table = records.belongings(heard, kinds.number("beacon"))
    assert column(table, "row") == [7, 7, 8]
    assert column(table, "broker") == [1, 2, 2]


def test_a_meeting_is_where_its_news_starts() -> None:
    kinds = kinds_of(Reading(meetings=(Meeting("joined", fresh=0),)))
    nothing = rows(kind=[])
    telling = rows(kind=[5, 5, 5], source=[3, 4, 3], topic=[1, 1, 1], args=[0, 1, 0])
    told = rows(kind=[5], row=[9], topic=[2])
    read = Gathered(nothing, 0, nothing, nothing, telling, told, nothing, None)
    table = records.meetings(read, kinds)
    assert sorted(zip(column(table, "row"), column(table, "topic"), strict=True)) == [
        (3, 1),
        (9, 2),
    ]


def test_a_tree_is_told_by_its_parents_and_their_changes() -> None:
    class Growing:
        """A run whose last broker changes its parent half way."""

        seconds = 60.0

        def __init__(self) -> None:
            self.instance = self
            self.seat = np.array([0, -1, 1, 2], np.int32)  # nodes 0, 2 and 3 are brokers
            self.parent = np.array([-1, 0, 0], np.int32)
            self.state = self

        def run(self, until: float) -> None:
            self.parent[2] = 0 if until < 30.0 else 2

    growing: Any = Growing()  # as much of a simulation as is asked for
    table = _run_watched(growing, "parent")
    found = list(zip(*(column(table, name) for name in ("t", "a", "b", "made")), strict=True))
    assert found == [(0.0, 2, 0, 1), (0.0, 3, 0, 1), (30.0, 3, 0, 0), (30.0, 3, 2, 1)]
