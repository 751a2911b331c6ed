"""The replay of a run: it agrees with the run's counts, and follows the roles of kinds."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.comparison.replay import condenser, replay_tables
from halfway.comparison.replay.map_kinds import MapKinds, map_cell_side, map_parent
from halfway.comparison.replay.replay import Replay, _run_sampling, replay_of
from halfway.comparison.replay.trace_rows import COLUMNS, CondensedTrace, TraceRows, no_rows
from halfway.comparison.replay.world import MOST_EVENTS, world_of
from halfway.core.kinds import Kinds, MapRole, Meets, Step
from halfway.core.message import RECORD
from halfway.protocols import flooding
from halfway.sim import run_engine as runs
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.sim.trace.sink import TraceSink
from halfway.world.faults import Churn
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.mobility.motion import still
from halfway.world.workload.demand import Drawn

SECONDS = 12.0
NETWORK: Network = connected_unit_disk(60, 0.22, seed=3).network


def simulation(system: str, trace: TraceSink, **more: Any) -> Simulation:
    demand = Drawn(n=60, topics=2, publishers_each=2, subscribers_each=8, events=9, seed=5)
    return Simulation(
        system,
        NETWORK,
        workload=demand,
        seconds=SECONDS,
        seed=4,
        inspection=Inspection(trace=trace),
        **more,
    )


def played(system: str, **more: Any) -> tuple[Replay, Outcome]:
    made: list[Simulation] = []

    def make(trace: TraceSink) -> Simulation:
        made.append(simulation(system, trace, **more))
        return made[-1]

    return replay_of(make, None), made[-1].run()


@pytest.fixture(scope="module")
def flood() -> tuple[Replay, Outcome]:
    return played("flooding")


def test_a_replay_counts_what_the_run_counted(flood: tuple[Replay, Outcome]) -> None:
    replay, outcome = flood
    assert len(replay.tables["sent"]["t"]) == replay.totals["sent"] == sum(outcome.sent.values())
    assert len(replay.tables["delivered"]["t"]) == outcome.delivered == outcome.expected
    assert sum(len(rows) for rows in replay.expected) == outcome.expected
    assert (replay.tables["sent"]["role"] == replay_tables.EVENT).all()
    assert (replay.tables["sent"]["to"] == -1).all()


def test_each_event_reaches_each_node_once_from_a_neighbour_that_had_it(
    flood: tuple[Replay, Outcome],
) -> None:
    table = flood[0].tables["reached"]
    some = flood[0].world.publications
    had = {(int(e), int(row)): float(t) for e, row, t in
           zip(some["event"], some["row"], some["t"], strict=True)}  # fmt: skip
    publishers = set(had)
    for t, row, source, event in zip(*(table[name] for name in table), strict=True):
        assert source in NETWORK.neighbours(int(row))
        assert had[int(event), int(source)] <= t
        had.setdefault((int(event), int(row)), float(t))
    pairs = set(zip(table["event"].tolist(), table["row"].tolist(), strict=True))
    assert len(table["t"]) == len(pairs)
    assert len(pairs | publishers) == 60 * 9


def test_pieces_and_thinning_change_only_the_number_of_rows(
    flood: tuple[Replay, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_WAITING", 100)  # the run writes its trace in small pieces
    again, _ = played("flooding")
    for name, table in flood[0].tables.items():
        for column, values in table.items():
            assert np.array_equal(again.tables[name][column], values), (name, column)
    monkeypatch.setattr(condenser, "MOST_SENT", 100)
    thin, outcome = played("flooding")
    sent = flood[0].tables["sent"]
    assert thin.totals["sent"] == sum(outcome.sent.values())
    assert 50 < len(thin.tables["sent"]["t"]) <= 100
    assert np.array_equal(thin.tables["sent"]["t"], sent["t"][::8])
    assert np.array_equal(thin.tables["reached"]["t"], again.tables["reached"]["t"])


def test_a_transmission_may_arrive_in_several_pieces() -> None:
    """Equal records within 0.05 s of the one before are of one transmission."""
    records = np.zeros(9, RECORD)
    records["at"] = [0.0, 0.0, 0.04, 0.08, 0.12, 0.13, 0.18, 0.3, 0.3]
    records["kind"], records["next"] = [1, 1, 1, 1, 1, 2, 1, 1, 1], [-1] * 7 + [5, 5]
    begun = [0, 5, 6, 7, 8]  # 6 is 0.06 s after 4; 7 and 8 are unicasts
    for size in (1, 2, 4, 9):
        found, of = [], condenser._Transmissions()
        for first in range(0, 9, size):
            found += (of.begun(records[first : first + size]) + first).tolist()
        assert found == begun, size


def test_a_long_trace_is_read_up_to_a_time(
    flood: tuple[Replay, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert flood[0].until == SECONDS
    monkeypatch.setattr(runs, "_WAITING", 100)
    monkeypatch.setattr(condenser, "MOST_READ", 1500)
    short, _ = played("flooding")
    assert 0.0 < short.until < SECONDS
    sent, whole = short.tables["sent"]["t"], flood[0].tables["sent"]["t"]
    assert sent.max() <= short.until < whole.max()
    assert np.array_equal(sent, whole[: len(sent)])


def test_a_system_without_map_roles_is_shown_by_its_records(
    flood: tuple[Replay, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Kinds()
    for kind in flooding.KINDS:
        bare._add(kind._replace(on_map=None))
    monkeypatch.setattr(flooding, "KINDS", bare)
    again, _ = played("flooding")
    for name, column in (("reached", "source"), ("sent", "role"), ("delivered", "row")):
        assert np.array_equal(again.tables[name][column], flood[0].tables[name][column])


def test_walks_go_from_neighbour_to_neighbour_and_meet() -> None:
    replay, outcome = played("directional-walk")
    steps = replay.tables["steps"]
    assert replay.labels == ("walk of a publisher", "walk of a subscriber")
    assert set(steps["label"].tolist()) == {0, 1}
    for row, source in zip(steps["row"], steps["source"], strict=True):
        assert source in NETWORK.neighbours(int(row))
    # A walk of a publisher continues from node to node. It begins at the publisher.
    mine = np.flatnonzero((steps["topic"] == 0) & (steps["label"] == 0))
    published = replay.world.publications
    reached = set(published["row"][published["topic"] == 0].tolist())
    assert len(mine) > len(reached)
    for source, row in zip(steps["source"][mine], steps["row"][mine], strict=True):
        assert int(source) in reached
        reached.add(int(row))
    assert len(replay.tables["met"]["t"]) > 0
    assert outcome.delivered == len(replay.tables["delivered"]["t"])
    roles = replay.tables["sent"]["role"]
    assert (roles == replay_tables.WALK).sum() == replay.totals["steps"]


def test_nodes_that_are_down_are_not_expected_to_receive() -> None:
    churn = Churn(mean_up_s=5.0, mean_down_s=3.0, share=0.5)
    replay, outcome = played("flooding", faults=[churn])
    what = replay.tables["changes"]["what"]
    assert {0, 1} == set(what.tolist())
    assert sum(len(rows) for rows in replay.expected) == outcome.expected < 9 * 8


def test_nodes_have_the_names_of_their_network(flood: tuple[Replay, Outcome]) -> None:
    # A drawn network is named by the order in which its points were drawn.
    assert flood[0].world.names == tuple(NETWORK.label(row) for row in range(60))


def test_one_run_is_one_replay() -> None:
    one, other = played("flooding")[0], played("flooding")[0]
    for name, table in one.tables.items():
        assert all(np.array_equal(table[c], other.tables[name][c]) for c in table)


def test_frames_have_the_positions_of_nodes() -> None:
    assert NETWORK.position is not None
    motion = Motion(still(NETWORK.position), 0.22)
    named = Motion(still(NETWORK.position), 0.22, names=[f"bus {row}" for row in range(60)])
    demand = Drawn(
        n=60, publishers_each=1, subscribers_each=3, events=MOST_EVENTS + 7, every_s=0.01
    )
    run = Simulation("flooding", motion=motion, workload=demand, seconds=SECONDS)
    world = world_of(run, motion)
    assert world.frames is not None
    assert world.frames.shape == (13, 60, 2)
    assert np.allclose(world.frames, NETWORK.position, atol=1e-6)
    assert (world.reach, world.events_left_out) == (0.22, 7)
    assert len(world.publications["t"]) == MOST_EVENTS
    assert world.names is None  # rows
    run = Simulation("flooding", motion=named, workload=demand, seconds=SECONDS)
    assert world_of(run, named).names == tuple(f"bus {row}" for row in range(60))


def rows(**columns: list[int]) -> TraceRows:
    """Rows received a second apart."""
    count = len(next(iter(columns.values())))
    of = {name: np.array(columns.get(name, [0] * count), np.int32) for name in COLUMNS}
    args = np.array(columns.get("args", [0] * count), np.int32)[:, None] * np.ones(8, np.int32)
    t = np.arange(count, dtype=np.float64)
    return TraceRows(t, of, args)


def column(table: dict[str, Any], name: str) -> list[int]:
    found: list[int] = table[name].tolist()
    return found


def map_kinds(**roles: MapRole | Step | Meets) -> MapKinds:
    """A protocol's kinds 1, 2, … with these names and roles, and kind 99 for deliveries."""
    kinds = Kinds()
    for number, (name, role) in enumerate(roles.items(), 1):
        kinds.network(number, name, "a record", on_map=role)
    kinds.report(99, "delivered", "an event")
    return MapKinds(kinds, np.zeros(1))


def test_roles_follow_from_the_kinds_of_the_protocol() -> None:
    kinds = MapKinds(flooding.KINDS, np.array([0.0]))
    assert kinds.with_role(MapRole.EVENT_HOP) == [flooding.FLOOD]
    assert kinds.steps == kinds.meetings == kinds.every_reception() == []
    assert kinds.delivered == flooding.KINDS.number("delivered")
    kind, event = np.array([flooding.FLOOD, 9]), np.array([0, 0])
    assert kinds.carry(kind, event, np.ones(2)).tolist() == [True, False]
    assert (map_parent(flooding), map_cell_side(flooding)) == ("", "")


def test_a_module_names_the_fields_of_its_parents_and_cells() -> None:
    module = ModuleType("a_tree")
    module.__dict__.update(MAP_PARENT="parent", MAP_CELL_SIDE="side")
    assert (map_parent(module), map_cell_side(module)) == ("parent", "side")


def test_without_roles_records_that_name_a_published_event_carry_it() -> None:
    kinds = Kinds()
    kinds.report(99, "delivered", "an event")
    carried = MapKinds(kinds, np.array([5.0, 1.0])).carry(
        np.zeros(4), np.array([0, 1, 2, -1]), np.full(4, 2.0)
    )
    assert carried.tolist() == [False, True, False, False]


def test_roles_colour_transmissions() -> None:
    step = Step(("walk",))
    kinds = map_kinds(
        data=MapRole.EVENT_HOP, step=step, link=MapRole.LINK, beacon=MapRole.OWN_BROKER
    )
    some = rows(kind=[1, 2, 3, 4, 5], number=[7] * 5, next=[-1] * 5)
    table = replay_tables.sent(some, kinds)
    assert column(table, "role") == [
        replay_tables.EVENT, replay_tables.WALK, replay_tables.OVERLAY, replay_tables.OVERLAY,
        replay_tables.OTHER,
    ]  # fmt: skip
    assert column(table, "event") == [7, -1, -1, -1, -1]


def test_a_step_that_all_receive_is_one_onto_its_target() -> None:
    kinds = map_kinds(step=Step(("a", "b"), number=0, addressed=True))
    some = rows(kind=[1, 1, 1, 9], row=[4, 5, 6, 6], target=[5, 5, 6, 6], args=[3, 3, 4, 4])
    table, labels = replay_tables.steps(some, kinds)
    assert labels == ("a", "b")
    assert (column(table, "row"), column(table, "label")) == ([5, 6], [1, 0])


def test_links_are_made_and_cut_and_brokers_are_recorded_when_they_change() -> None:
    kinds = map_kinds(link=MapRole.LINK, cut=MapRole.CUT, beacon=MapRole.OWN_BROKER)
    assert kinds.every_reception() == [1, 2]
    table = replay_tables.overlay(rows(kind=[1, 9, 2], source=[1, 1, 2], row=[2, 2, 1]), kinds)
    assert (column(table, "a"), column(table, "made")) == ([1, 2], [1, 0])
    some = rows(kind=[3] * 5, source=[7, 8, 7, 7, 8], topic=[1, -1, 1, 2, 2])
    table = replay_tables.belongings(some, kinds.with_role(MapRole.OWN_BROKER))
    assert column(table, "row") == [7, 7, 8]
    assert column(table, "broker") == [1, 2, 2]


def test_a_home_cell_is_recorded_once_for_each_node_and_topic() -> None:
    kinds = map_kinds(share=MapRole.HOME_CELL)
    some = rows(kind=[1, 1, 1, 2], source=[3, 3, 4, 5], topic=[0, 0, 0, 0])
    table = replay_tables.homes(some, kinds.with_role(MapRole.HOME_CELL))
    assert (column(table, "row"), column(table, "topic")) == ([3, 4], [0, 0])


def test_a_meeting_is_where_its_first_report_starts() -> None:
    kinds = map_kinds(joined=Meets("joined", fresh=0))
    nothing = no_rows()
    receptions = rows(kind=[1, 1, 1], source=[3, 4, 3], topic=[1, 1, 1], args=[0, 1, 0])
    delivered = rows(kind=[1], row=[9], topic=[2])
    trace = CondensedTrace(nothing, 0, nothing, nothing, receptions, delivered, {}, None)
    table = replay_tables.meetings(trace, kinds)
    assert sorted(zip(column(table, "row"), column(table, "topic"), strict=True)) == [
        (3, 1),
        (9, 2),
    ]


def test_a_tree_follows_from_its_parents_and_their_changes() -> None:
    class Growing:
        """A run whose last broker changes its parent at half time."""

        seconds = 60.0

        def __init__(self) -> None:
            self.instance = self
            self.broker_index = np.array([0, -1, 1, 2], np.int32)  # nodes 0, 2 and 3 are brokers
            self.parent = np.array([-1, 0, 0], np.int32)
            self.state = self

        def advance(self, until: float) -> None:
            self.parent[2] = 0 if until < 30.0 else 2

    growing: Any = Growing()
    table = _run_sampling(growing, "parent")
    found = list(zip(*(column(table, name) for name in ("t", "a", "b", "made")), strict=True))
    assert found == [(0.0, 2, 0, 1), (0.0, 3, 0, 1), (30.0, 3, 0, 0), (30.0, 3, 2, 1)]
