"""A member that floods its neighbours: it records the datagrams of its own events once, and sends
them again and again, each time with other publishers, epochs and numbers in the records.
"""

import asyncio
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.step.datagram_flow import Flow
from halfway.live.wire.frames import HEAD, HEAD_BYTES, FrameType, record_begin

RECORDED = 4000  # events
_WORD = struct.Struct("<I")
_TICK_S = 0.002


class Recording:
    """The datagram of a node's events for one neighbour. places: of the event ids in it."""

    def __init__(self, peer: int, plain: bytes, places: list[tuple[int, ...]]) -> None:
        self.peer, self.plain, self.places = peer, bytearray(plain), places
        self.events = len({self.key(one) for one in places})

    def key(self, place: tuple[int, ...]) -> tuple[int, ...]:
        """Return publisher, epoch and number of an event in the datagram."""
        return tuple(_WORD.unpack_from(self.plain, at)[0] for at in place)

    def set_key(self, place: tuple[int, ...], key: tuple[int, ...]) -> None:
        """Write publisher, epoch and number of an event into the datagram."""
        for at, word in zip(place, key, strict=True):
            _WORD.pack_into(self.plain, at, word)


def event_places(flow: Flow, plain: bytes) -> Iterator[tuple[int, ...]]:
    """Yield where publisher, epoch and number of the events are in a datagram: in its bodies and
    its records.
    """
    at = 0
    while at < len(plain):
        frame_type, size = HEAD.unpack_from(plain, at)
        begin = at + HEAD_BYTES
        if frame_type == FrameType.BODY:
            yield begin, begin + 4, begin + 8
        elif frame_type == FrameType.RECORD:
            record = begin + record_begin(plain[begin : begin + size])
            places = flow.places.get(plain[record])
            if places is not None:
                yield tuple(record + one for one in places[:3])
        at = begin + size


class FloodingMember:
    """The flood of one live node. invents: whether each event has a publisher that does not exist;
    otherwise the node is the publisher, and only topics and numbers differ.
    """

    def __init__(self, one: MeshNode, *, invents: bool) -> None:
        self._node, self._invents = one, invents
        self._recordings = list[Recording]()
        self._round, self.sent = 0, 0
        self._random = np.random.default_rng(one.node_id)

    async def record(self, topic: str, payload: bytes) -> None:
        """Publish some events, and record their datagrams: half on a topic, half on new topics."""
        links: Any = self._node.links  # whose method another one replaces for a while
        flow, send = self._node.flow, links._send_sealed

        def noted(peer: int, plain: bytes, now: float) -> None:
            if plain[0] in (FrameType.BODY, FrameType.RECORD):
                places = list(event_places(flow, plain))
                if places:
                    self._recordings.append(Recording(peer, plain, places))
            send(peer, plain, now)

        links._send_sealed = noted
        for number in range(RECORDED):
            await self._node.publish(topic if number % 2 else f"flood/{number}", payload)
            if number % 100 == 99:  # the neighbours can take all of these events
                await asyncio.sleep(0.02)
        links._send_sealed = send

    async def flood(self, rate: float, seconds: float) -> None:
        """Send the recorded events at a rate for some seconds. `sent` counts them: an event that
        goes to two neighbours counts twice.
        """
        links, scheduler = self._node.links, self._node.scheduler
        begun, at = time.monotonic(), 0
        while (spent := time.monotonic() - begun) < seconds:
            while self.sent < rate * spent:
                if at == 0:
                    self._draw_ids()
                one = self._recordings[at]
                links._send_sealed(one.peer, bytes(one.plain), scheduler.now())
                self.sent += one.events
                at = (at + 1) % len(self._recordings)
            await asyncio.sleep(_TICK_S)

    def _draw_ids(self) -> None:
        """Give every recorded event another id, the same in its body and in its records."""
        self._round += 1
        ids = dict[tuple[int, ...], tuple[int, ...]]()
        for one in self._recordings:
            for place in one.places:
                key = one.key(place)
                if key not in ids and self._invents:
                    ids[key] = tuple(self._random.integers(1, 2**31, 3).tolist())
                elif key not in ids:
                    ids[key] = (*key[:2], (key[2] + RECORDED) % 2**31)
                one.set_key(place, ids[key])
