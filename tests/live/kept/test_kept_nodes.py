"""Kept events between nodes with journals: on disk first, in order, once, whatever is lost."""

import asyncio
import errno
import os
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from halfway.live.interface.api import LiveNode, node
from halfway.live.journal.storage import FolderStorage
from halfway.live.kept import kept_reader, kept_store, publisher
from halfway.live.mesh import Event, Level, Refusal
from halfway.live.security import Address
from tests.live.runtime.test_nodes import run, until


def kept_node(state: Path | None, *peers: LiveNode) -> LiveNode:
    """A node with a journal in a folder."""
    known = [f"127.0.0.1:{one.mesh.endpoint.address[1]}" for one in peers]
    return node(peers=known, compile="never", discover=False, period_s=0.1, state=state)


async def linked(*nodes: LiveNode) -> None:
    """Wait until each node has a neighbour."""
    for one in nodes:
        await until(lambda one=one: one.mesh.links.table.neighbours())


def lossy(of: LiveNode, share: float, seed: int) -> None:
    """Let a node lose a share of the datagrams that reach it, and receive some twice."""
    take, random = of.mesh.endpoint._receive, Random(seed)

    def sometimes(address: Address, datagram: bytes) -> None:
        for _ in range(1 + (random.random() < 0.05)):
            if random.random() >= share:
                take(address, datagram)

    of.mesh.endpoint._receive = sometimes


def numbers(events: list[Event]) -> list[int]:
    """The numbers that events have as payload."""
    return [int(event.payload) for event in events]


def test_all_kept_events_arrive_once_and_in_order_over_a_link_with_loss(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one, kept_node(tmp_path / "b", one) as two:
            await linked(one, two)
            got: list[Event] = []
            two.mesh.subscribe("x/#", got.append)
            lossy(two, 0.3, 1)
            lossy(one, 0.3, 2)
            for k in range(60):
                await one.publish("x/y", b"%d" % k, level="kept")
            await until(lambda: len(got) >= 60)
            assert numbers(got) == list(range(60))
            assert {event.level for event in got} == {Level.KEPT}

    run(program)


def test_a_kept_event_leaves_as_soon_as_it_is_on_disk(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one, kept_node(tmp_path / "b", one) as two:
            await linked(one, two)
            await one.publish("x", b"0", level="kept")
            sent = one.mesh.counts["records sent"]
            for _ in range(20):  # turns of the loop, which take less than 1 ms: no heartbeat is due
                await asyncio.sleep(0)
            assert one.mesh.counts["records sent"] > sent

    run(program)


def test_a_reader_that_was_away_receives_what_it_missed(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one:
            got: list[Event] = []
            async with kept_node(tmp_path / "b", one) as two:
                await linked(one, two)
                two.mesh.subscribe("x", got.append)
                await one.publish("x", b"0", level="kept")
                await until(lambda: got)
                await until(lambda: one.retained("$halfway/kept/readers/+"))
            for k in (1, 2):
                await one.publish("x", b"%d" % k, level="kept")
            async with kept_node(tmp_path / "b", one) as again:
                again.mesh.subscribe("x", got.append)
                await until(lambda: len(got) == 3)
                assert numbers(got) == [0, 1, 2]
                assert again.mesh.node_id == two.mesh.node_id

    run(program)


def test_a_publisher_that_ended_before_it_sent_sends_after_its_start(
    tmp_path: Path,
) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "b") as two:
            got: list[Event] = []
            two.mesh.subscribe("x", got.append)
            async with kept_node(tmp_path / "a", two) as one:
                await linked(one, two)
                await one.publish("x", b"0", level="kept")
                await until(lambda: got)
                lossy(two, 1.0, 0)
                await one.publish("x", b"1", level="kept")  # on disk, and lost on its way
            two.mesh.endpoint._receive = two.mesh.links.datagram
            async with kept_node(tmp_path / "a", two):
                await until(lambda: len(got) == 2)
                assert numbers(got) == [0, 1]

    run(program)


def test_events_are_released_when_all_readers_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "LINGER_S", 0.0)

    async def program() -> None:
        async with kept_node(tmp_path / "a") as one, kept_node(tmp_path / "b", one) as two:
            await linked(one, two)
            two.mesh.subscribe("x", lambda _: None)
            await until(lambda: one.retained("$halfway/kept/readers/+"))
            kept = one.mesh.kept
            assert kept is not None
            two.mesh.endpoint._receive = lambda *_: None
            await one.publish("x", b"", level="kept")
            await asyncio.sleep(1.5)
            assert len(kept.events) == 1  # the reader has not acknowledged it
            two.mesh.endpoint._receive = two.mesh.links.datagram
            await until(lambda: not len(kept.events))

    run(program)


def test_a_full_disk_refuses_kept_events_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def program() -> None:
        async with kept_node(tmp_path / "a") as one:
            got: list[Event] = []
            one.mesh.subscribe("#", got.append)
            with monkeypatch.context() as patch:
                patch.setattr(FolderStorage, "append", full)
                with pytest.raises(Refusal, match="disk full"):
                    await one.publish("x", b"", level="kept")
                await one.publish("y", b"")
                assert got[-1].topic == "y"
            await one.publish("z", b"", level="kept")  # there is room again

    run(program)


def test_retained_values_survive_a_start(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one:
            await one.publish("x", b"1", retain=True)
            await one.publish("x", b"2", retain=True)
            await one.publish("gone", b"2", retain=True)
            await one.publish("gone", b"", retain=True)
        async with kept_node(tmp_path / "a") as again:
            assert [(e.topic, e.payload) for e in again.retained("#")] == [("x", b"2")]

    run(program)


@pytest.mark.long
def test_a_retained_kept_event_from_before_the_subscription_arrives_once(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one:
            for k in range(3):
                await one.publish("x", b"%d" % k, level="kept", retain=True)
            async with kept_node(tmp_path / "b", one) as two:
                got: list[Event] = []
                two.mesh.subscribe("x", got.append)
                await until(lambda: got)
                await one.publish("x", b"3", level="kept", retain=True)
                await one.publish("x", b"4", level="kept")
                await until(lambda: numbers(got)[-1] == 4)
                assert numbers(got) == [2, 3, 4]
                assert "duplicate" not in two.mesh.drops.by_reason()
            async with kept_node(tmp_path / "b", one) as again:  # it has the value in its journal
                again.mesh.subscribe("x", got.append)
                await linked(one, again)
                await one.publish("x", b"5", level="kept")
                await until(lambda: numbers(got)[-1] == 5)
                assert numbers(got) == [2, 3, 4, 5]

    run(program)


def test_a_node_without_a_journal_refuses_to_keep(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(None) as one:
            with pytest.raises(Refusal, match="no journal"):
                await one.publish("x", b"", level="kept")
        async with kept_node(tmp_path / "a"):
            with pytest.raises(Exception, match="another node already uses this journal"):
                await kept_node(tmp_path / "a").__aenter__()

    run(program)


@pytest.mark.parametrize(
    "rows",
    [
        b"", b"no rows", [1], [["x", 1, 1, 1]], [["x", 2**40, 1, 1, 0.0]],
        [["x", 1, 5, 1, 0.0]], [["x", 1, 0, 2**64 - 1, 0.0]], [["x", 1, 1, 1, float("nan")]],
        [["x", -1, 1, 1, 0.0]], [["x", 1, 2**64 - 1, 2**64 - 1, 0.0]],
    ],
)  # fmt: skip
def test_statements_that_make_no_sense_are_ignored(rows: Any, tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one, kept_node(None, one) as two:
            await linked(one, two)
            got: list[Event] = []
            one.mesh.subscribe("x", got.append)
            content = rows if isinstance(rows, bytes) else msgspec.msgpack.encode(rows)
            for topic in ("beats", f"acks/{one.mesh.node_id}", f"readers/{two.mesh.node_id}"):
                await two.publish(f"$halfway/kept/{topic}", content, retain="readers" in topic)
            await two.publish("x", b"after")
            await until(lambda: got)
            await one.publish("y", b"", level="kept")  # the publisher goes on, too
            assert one.mesh.kept is not None
            assert not one.mesh.kept.events.missed

    run(program)


def test_a_long_list_of_filters_is_announced_as_all_topics(tmp_path: Path) -> None:
    async def program() -> None:
        async with kept_node(tmp_path / "a") as one:
            for k in range(5):
                one.mesh.subscribe(f"{k}" * 12_000, lambda _: None)
            await until(lambda: one.retained("$halfway/kept/readers/+"))
            (said,) = one.retained("$halfway/kept/readers/+")
            assert msgspec.msgpack.decode(said.payload) == ["#"]
            with pytest.raises(Refusal, match="too large"):
                await one.publish("t" * 50_000, b"", level="kept")

    run(program)


def test_heartbeats_of_streams_without_room_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_store, "MOST_STREAMS", 2)
    monkeypatch.setattr(kept_reader, "_ACK_S", 60.0)  # nothing that is due goes

    async def program() -> None:
        async with kept_node(tmp_path / "a") as one, kept_node(None, one) as two:
            await linked(one, two)
            one.mesh.subscribe("x", lambda _: None)
            assert one.mesh.kept is not None
            reader = one.mesh.kept.reader
            rows = [("x", epoch, 1, 5, 0.0) for epoch in range(1, 500)]
            await two.publish("$halfway/kept/beats", msgspec.msgpack.encode(rows))
            await until(lambda: reader._due)
            assert len(reader._beats) == len(reader._due) == 2

    run(program)
