"""Live traces as Parquet: the simulator's columns, three clocks, drops, and whole files only."""

import asyncio
import errno
import itertools
import os
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from halfway.core.records.trace_columns import live_schema, schema
from halfway.live.drops import Drop
from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings
from halfway.live.trace import folder as folder_module
from halfway.live.trace.folder import TraceFolder
from halfway.live.trace.hybrid_clock import COUNTER_BITS, HybridClock
from halfway.live.trace.live_replay import replay
from halfway.live.trace.parts import beside
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem
from tests.loops import JumpingLoop, run
from tests.systems import LIVE_SIMPLE


async def traced(
    folder: Path, log: int = 256, ahead_s: float = 0.0, system: str = "flooding"
) -> dict[str, int]:
    """Trace three nodes in a ring: the first one publishes 20 events, the second one has them.

    Returns their drops.
    """
    settings = Settings(
        system=system, name="n", nodes=3, degree=2, compile="never", discover=False, period_s=0.1,
        trace=log,
    )  # fmt: skip
    now = asyncio.get_running_loop().time
    begun = time.time() - now() + ahead_s  # the clock of the loop jumps
    async with Host(settings) as host:
        traces = TraceFolder(host.nodes, folder, every_s=0.1, wall=lambda: begun + now())
        while min(len(node.links.table.neighbours()) for node in host.nodes) < 2:
            await asyncio.sleep(0.02)
        received: list[object] = []
        host.nodes[1].subscribe("a/#", received.append)
        for k in range(20):
            await host.nodes[0].publish("a/b", str(k).encode())
            await asyncio.sleep(0.02)
        host.nodes[2].drops.count(Drop.EXPIRED, 3)
        async with asyncio.timeout(60.0):  # anti-entropy needs some rounds
            while len(received) < 20:
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        assert traces.close() > 0
        return dict(sum((Counter(node.drops.by_reason()) for node in host.nodes), Counter[str]()))


def test_a_folder_has_the_simulators_columns_clocks_and_drops(tmp_path: Path) -> None:
    run(traced(tmp_path), JumpingLoop)
    files = sorted(tmp_path.glob("[!.]*"))
    assert len(files) >= 4  # more than one of some node
    assert all(file.suffix == ".parquet" for file in files)
    table = ds.dataset(files).to_table()
    assert table.schema.names[: len(schema().names)] == schema().names
    assert table.schema.names == live_schema().names
    rows = table.to_pylist()
    published = [one for one in rows if (one["what"], one["name"]) == ("received", "publish")]
    delivered = [one for one in rows if (one["what"], one["name"]) == ("reported", "delivered")]
    assert [one["event"] for one in published] == list(range(20))
    assert {one["node"] for one in published} == {"n-0"}
    assert sorted(one["event"] for one in delivered if one["node"] == "n-1") == list(range(20))
    begun = {one["event"]: one for one in published}
    assert all(one["hlc"] > begun[one["event"]]["hlc"] for one in delivered)
    assert all(one["wall"] >= begun[one["event"]]["wall"] for one in delivered)
    dropped = [one for one in rows if one["what"] == "dropped" and one["name"] == "expired"]
    assert [(one["node"], one["args"][0]) for one in dropped] == [("n-2", 3)]
    hops = [one for one in rows if one["what"] == "received" and one["node"] == "n-1"]
    assert {"n-0"} <= {one["source_node"] for one in hops}
    assert pc.all(pc.equal(table["boot"], table["boot"][0])).as_py()


@pytest.mark.parametrize("system", LIVE_SIMPLE)
def test_every_file_replays_into_the_same_state(system: str, tmp_path: Path) -> None:
    run(traced(tmp_path, system=system), JumpingLoop)
    found = list(replay(tmp_path))
    assert len(found) >= 4
    assert {one.node for one in found} == {"n-0", "n-1", "n-2"}
    assert all(one.is_same for one in found)
    rows = ds.dataset(sorted(tmp_path.glob("[!.]*"))).to_table(columns=["what"])["what"]
    assert sum(one.records for one in found) == pc.sum(pc.equal(rows, "received")).as_py()
    assert list(replay(tmp_path / found[-1].file)) == found[-1:]  # alone, too


def test_a_replay_notices_a_changed_row_and_missing_parts(tmp_path: Path) -> None:
    run(traced(tmp_path), JumpingLoop)
    path = next(one for one in sorted(tmp_path.glob("n-1*")) if _published_to(one) > 0)
    table = parquet.read_table(path)
    column = table.schema.get_field_index("event")
    parquet.write_table(table.set_column(column, "event", pc.add(table["event"], 1000)), path)
    assert [one.file for one in replay(tmp_path) if not one.is_same] == [path.name]
    whole = beside(path).read_bytes()
    beside(path).write_bytes(whole[:-40])
    with pytest.raises(Problem, match="ends too early"):
        list(replay(path))
    beside(path).write_bytes(b"other" + whole)
    with pytest.raises(Problem, match="damaged"):
        list(replay(path))
    beside(path).write_bytes(whole)
    parquet.write_table(table.slice(0, 1), path)
    with pytest.raises(Problem, match="too few records"):
        list(replay(path))
    beside(path).unlink()
    with pytest.raises(Problem, match="the state of this trace file cannot be read"):
        list(replay(path))


def test_an_empty_folder_and_other_files_are_no_trace(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no trace yet"):
        list(replay(tmp_path))
    (tmp_path / "x.trace").write_bytes(b"other")
    with pytest.raises(Problem, match="expected the trace of a live node"):
        list(replay(tmp_path / "x.trace"))


def _published_to(path: Path) -> int:
    table = parquet.read_table(path, columns=["what", "event"])
    received = pc.and_(pc.equal(table["what"], "received"), pc.greater(table["event"], 0))
    return int(pc.sum(received).as_py() or 0)


def test_a_file_has_a_bounded_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MOST_ROWS", 5)
    run(traced(tmp_path, log=4), JumpingLoop)
    sizes = [parquet.read_metadata(one).num_rows for one in tmp_path.glob("[!.]*")]
    assert len(sizes) > 10
    assert all(one.is_same for one in replay(tmp_path))


def test_what_the_disk_does_not_take_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MOST_WAITING_ROWS", 0)
    with pytest.raises(AssertionError):  # no row is written
        run(traced(tmp_path), JumpingLoop)
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(parquet, "write_table", full)
    with pytest.raises(Problem, match="no space left"):
        run(traced(tmp_path), JumpingLoop)
    assert not list(tmp_path.iterdir())


def test_the_oldest_files_go_at_the_limit_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MOST_BYTES", 40_000)
    run(traced(tmp_path), JumpingLoop)
    assert 0 < sum(one.stat().st_size for one in tmp_path.iterdir()) <= 40_000


def test_a_service_writes_a_trace_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path / "run"))
    settings = Settings(name="s", nodes=2, compile="never", discover=False, trace=64)

    async def program() -> None:
        async with Service(settings, ServiceSettings(trace=tmp_path / "traces")) as service:
            await service.host.nodes[0].publish("a", b"1")
            with pytest.raises(Problem, match="another command records this node, or"):
                Recorder(service.host.nodes[0], tmp_path / "one.trace")
            trace = service.host.sections["trace"]()
            assert trace["folder"] == str(tmp_path / "traces")

    run(program(), JumpingLoop)
    (one,) = (one for one in replay(tmp_path / "traces") if one.node == "s-0")
    assert one.is_same
    assert one.records >= 1  # the neighbour may have repeated the event before the end


def test_a_node_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="keeps no log"):
        run(traced(tmp_path, log=0), JumpingLoop)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-5, 5)), max_size=60))
def test_a_hybrid_clock_is_after_all_that_was_heard(steps: list[tuple[int, int, int]]) -> None:
    walls = [1000.0, 1000.0, 1000.0]
    clocks = [HybridClock(partial(walls.__getitem__, k), lambda: 0.0) for k in range(3)]
    last = [0, 0, 0]
    for one, other, seconds in steps:
        walls[one] += seconds / 1000.0
        sent = clocks[one].event_time()
        assert sent > last[one]
        last[one] = sent
        clocks[other].merge(sent)
        heard = clocks[other].event_time()
        assert heard > sent
        assert heard > last[other]
        last[other] = heard
    most = max((one >> COUNTER_BITS for one in last if one), default=0)
    assert most <= 1_000_000 + 300  # never ahead of the furthest wall clock


def test_a_clock_far_ahead_is_not_believed() -> None:
    clock = HybridClock(lambda: 1000.0, lambda: 0.0)
    clock.merge((1000_000 + 61_000) << COUNTER_BITS)
    assert clock.refused == 1
    assert clock.event_time() >> COUNTER_BITS == 1000_000
    with pytest.raises(ValueError, match="not a clock"):
        clock.merge_stamp(b"123")


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
def test_a_jump_of_the_wall_clock_separates_no_nodes(jump_s: float) -> None:
    """One node's wall clock jumps, and a program corrects it later. The other clock is right."""
    now, ahead_s = 0.0, 0.0
    jumps = HybridClock(lambda: 1.7e9 + now + ahead_s, lambda: now)
    right = HybridClock(lambda: 1.7e9 + now, lambda: 7.0 + now)
    for second in range(300):
        now, ahead_s = float(second), jump_s * (100 <= second < 200)
        for one, other in ((jumps, right), (right, jumps)):
            sent = one.event_time()
            other.merge(sent)
            assert other.event_time() > sent
            assert abs((sent >> COUNTER_BITS) / 1000.0 - 1.7e9 - now) < 2.0
    assert jumps.refused == right.refused == 0


def test_a_node_whose_wall_clock_was_wrong_at_its_start_follows_the_others() -> None:
    now, ahead_s = 0.0, -3600.0
    wrong = HybridClock(lambda: 1.7e9 + now + ahead_s, lambda: now)
    right = HybridClock(lambda: 1.7e9 + now, lambda: now)
    wrong.merge(right.event_time())
    assert wrong.refused == 1
    now, ahead_s = 100.0, 0.0
    sent = right.event_time()
    wrong.merge(sent)
    assert wrong.refused == 1
    assert wrong.event_time() > sent


def test_ticks_ascend_while_the_wall_clock_stands() -> None:
    clock = HybridClock(lambda: 5.0, lambda: 0.0)
    ticks = [clock.event_time() for _ in range(100)]
    assert all(a < b for a, b in itertools.pairwise(ticks))
