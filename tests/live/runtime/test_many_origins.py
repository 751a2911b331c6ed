"""[R35] Events of many publishers, out of order and repeated, at a node that reuses its numbers."""

import asyncio
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from halfway.core.compiler.interpreted import interpreted
from halfway.core.message import RECORD
from halfway.live.events.bodies import EventBody, encoded
from halfway.live.interface.api import LiveNode
from halfway.live.limits import Limits
from halfway.live.mesh import Event, Level
from halfway.live.plain import Plain
from halfway.live.step.wire_tables import MOST_BYTES, MOST_TOPICS, encode, wire_tables
from halfway.live.wire.frames import FrameType, Hello, frame, hello_bytes, key_bytes
from tests.live.runtime.test_nodes import lone, until

PEER, ADDRESS = 77, ("127.0.0.1", 9)
LATE = 60  # an event is overtaken by at most so many later ones of its publisher
TOPICS, NUMBERS = 600, 256


class Neighbour:
    """A neighbour that passes on the events of others: its datagrams, sealed."""

    def __init__(self, node: LiveNode) -> None:
        self._mesh = node.mesh
        self._security = Plain(PEER, node.host.settings.network_id)
        self._security._peers.add(self._mesh.node_id)
        self.known = (self._mesh.node_id,)
        self._form = _template(node)
        self._hash_of = self._mesh.subscriptions.hash_of

    def greet(self, number: int) -> None:
        """Make the node hear this neighbour, which hears the node."""
        rules = self._mesh.identity.rules
        hello = Hello(1, number, 1000, rules, 0, 65_535, "peer", self.known, self.known)
        self._mesh.links.datagram(ADDRESS, self._security.beacon())
        self._take(frame(FrameType.HELLO, hello_bytes(hello)))

    def pass_on(self, origin: int, number: int) -> None:
        """Send the event of a publisher."""
        topic, now = f"t/{(37 * origin + number) % TOPICS}", self._mesh.scheduler.now()
        payload = struct.pack("<II", origin, number)
        body = EventBody(topic, payload, number, Level.BEST_EFFORT, False, float("inf"), b"", now)
        self._take(
            frame(FrameType.BODY, key_bytes((origin, 1, number)) + encoded(body, now))
            + self.record(topic, origin, number)
        )

    def record(self, topic: str, origin: int, number: int) -> bytes:
        """The RECORD frame of a publisher's event."""
        record, places = self._form
        content = bytearray(record)
        struct.pack_into("<Q", content, 1, self._hash_of(topic))
        for name, value in (("publisher", origin), ("epoch", 1), ("event", number)):
            struct.pack_into("<I", content, places[name], value)
        return frame(FrameType.RECORD, bytes(content))

    def _take(self, frames: bytes) -> None:
        sealed = self._security.seal(self._mesh.node_id, frames, 0.0)
        assert sealed is not None
        self._mesh.links.datagram(ADDRESS, sealed)


def _template(node: LiveNode) -> tuple[bytes, dict[str, int]]:
    """The RECORD frame's content of a flood, and where its event is."""
    kinds = node.mesh.face.node.kinds
    kind = kinds.number("flood")

    def content(**fields: int) -> bytes:
        record: Any = np.zeros(1, RECORD).view(np.recarray)
        for field in ("target", "next", "event", "publisher"):
            record[field] = -1
        record["kind"], record["source"] = kind, PEER
        for name, value in fields.items():
            record[name] = value
        buffer, listed = np.zeros(MOST_BYTES, np.uint8), np.zeros(MOST_TOPICS, np.int64)
        rows, hashes = record.view(np.uint8).reshape(1, -1), np.zeros(1, np.uint64)
        tables = wire_tables(kinds, numbered=True)
        with np.errstate(over="ignore"):
            end = interpreted(encode)(tables, record[0], rows[0], hashes, listed, buffer, 0)
        return bytes(buffer[:end])

    marks = {"publisher": 0x01020304, "epoch": 0x05060708, "event": 0x11121314}
    found = content(**marks)
    return found, {name: found.index(struct.pack("<I", mark)) for name, mark in marks.items()}


def arrivals(origins: int, each: int, seed: int) -> Iterator[tuple[int, int]]:
    """The events of all publishers out of order; a twentieth comes again, soon or late."""
    random = np.random.default_rng(seed)
    origin, number = np.divmod(np.arange(origins * each), each)
    again = np.flatnonzero(random.random(len(origin)) < 0.05)
    first = number + random.uniform(0, LATE, len(number))
    second = first[again] + random.uniform(0, 3 * LATE, len(again))
    when = np.concatenate([first, second])
    which = np.concatenate([np.arange(len(origin)), again])[np.argsort(when)]
    yield from zip(origin[which].tolist(), number[which].tolist(), strict=True)


def received(origins: int, each: int) -> tuple[Counter[tuple[int, int]], dict[str, int], int]:
    """What a node delivers of such events, its drops, and how many numbers of topics it reused."""
    got = Counter[tuple[int, int]]()

    def arrived(event: Event) -> None:
        origin, number = struct.unpack("<II", event.payload)
        assert event.publisher == origin
        assert event.topic == f"t/{(37 * origin + number) % TOPICS}"
        got[origin, number] += 1

    async def program() -> tuple[dict[str, int], int]:
        limits = Limits(publishers=origins, topics=NUMBERS)
        async with lone(limits=limits) as node:
            node.mesh.stepper.compile()
            node.mesh.subscribe("t/#", arrived)
            peer = Neighbour(node)
            for greeting in range(4):
                peer.greet(greeting)
            assert node.mesh.links.table.neighbours() == [PEER]
            for count, one in enumerate(arrivals(origins, each, seed=1)):
                if count % 200 == 0:  # the node has its turn, and the neighbour stays one
                    peer.greet(4 + count // 200)
                    node.mesh.links.flush()
                    await asyncio.sleep(0)
                peer.pass_on(*one)
            node.mesh.links.flush()
            await until(lambda: len(got) == origins * each)
            await asyncio.sleep(0.5)
            table = node.mesh.subscriptions.table
            return node.mesh.drops.by_reason(), table.given_anew

    return got, *asyncio.run(program())


@pytest.mark.parametrize(
    ("origins", "each"), [(50, 100), pytest.param(1000, 1000, marks=pytest.mark.slow)]
)
def test_no_event_is_lost_or_doubled(origins: int, each: int) -> None:
    got, drops, reused = received(origins, each)
    assert len(got) == origins * each
    assert set(got.values()) == {1}
    assert reused > TOPICS  # the numbers of topics are forgotten, and given anew
    assert not drops.keys() - {"duplicate"}
