"""Live traces as Parquet: the simulator's columns, three clocks, drops, and whole files only."""

import asyncio
import itertools
import time
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.records.table import live_schema, schema
from halfway.live.drops import Drop
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings
from halfway.live.trace.folder import TraceFolder
from halfway.live.trace.hybrid_clock import COUNTER_BITS, HybridClock
from halfway.problem import Problem


async def traced(folder: Path, log: int = 256, ahead_s: float = 0.0) -> None:
    """Trace three nodes in a ring: the first one publishes 20 events, the second one has them."""
    settings = Settings(
        name="n", nodes=3, degree=2, compile="never", discover=False, period_s=0.1, trace=log
    )
    async with Host(settings) as host:
        traces = TraceFolder(host.nodes, folder, every_s=0.3, wall=lambda: time.time() + ahead_s)
        while min(len(node.links.table.links()) for node in host.nodes) < 2:
            await asyncio.sleep(0.02)
        host.nodes[1].subscribe("a/#", lambda _event: None)
        for k in range(20):
            await host.nodes[0].publish("a/b", str(k).encode())
            await asyncio.sleep(0.02)
        host.nodes[2].drops.count(Drop.EXPIRED, 3)
        await asyncio.sleep(0.1)
        assert traces.close() > 0


def test_a_folder_has_the_simulators_columns_clocks_and_drops(tmp_path: Path) -> None:
    asyncio.run(traced(tmp_path))
    files = sorted(tmp_path.iterdir())
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


def test_a_node_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="keeps no log"):
        asyncio.run(traced(tmp_path, log=0))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-5, 5)), max_size=60))
def test_a_hybrid_clock_is_after_all_that_was_heard(steps: list[tuple[int, int, int]]) -> None:
    walls = [1000.0, 1000.0, 1000.0]
    clocks = [HybridClock(partial(walls.__getitem__, k)) for k in range(3)]
    last = [0, 0, 0]
    for one, other, seconds in steps:
        walls[one] += seconds / 1000.0
        sent = clocks[one].tick()
        assert sent > last[one]
        last[one] = sent
        clocks[other].merge(sent)
        heard = clocks[other].tick()
        assert heard > sent
        assert heard > last[other]
        last[other] = heard
    most = max((one >> COUNTER_BITS for one in last if one), default=0)
    assert most <= 1_000_000 + 300  # never ahead of the furthest wall clock


def test_a_clock_far_ahead_is_not_believed() -> None:
    clock = HybridClock(lambda: 1000.0)
    clock.merge((1000_000 + 61_000) << COUNTER_BITS)
    assert clock.refused == 1
    assert clock.tick() >> COUNTER_BITS == 1000_000
    with pytest.raises(ValueError, match="not a clock"):
        clock.take(b"123")


def test_ticks_ascend_while_the_wall_clock_stands() -> None:
    clock = HybridClock(lambda: 5.0)
    ticks = [clock.tick() for _ in range(100)]
    assert all(a < b for a, b in itertools.pairwise(ticks))
