"""The frame queue of the air: a program in the relay namespace that delays each frame.

`python -m halfway.live.air.frame_queue` runs it; the program reads its settings from the first
line of stdin, and ends when stdin ends. Frames with different delays overtake each other.
"""

import contextlib
import heapq
import json
import selectors
import socket
import struct
import sys
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

_ALL = 0x0003  # ETH_P_ALL
_ATTACH_FILTER = 26  # SO_ATTACH_FILTER
_PACKET, _STATISTICS = 263, 6  # SOL_PACKET, PACKET_STATISTICS
_BUFFER = 1 << 24
_FRAME = 65_536
_DRAIN = 256
_BLOCK = 4096  # random numbers drawn at a time
_OUTGOING = 4
# Accept a frame that came in by an interface with an odd index. These interfaces lead to the hub.
_FILTER = (
    (0x20, 0, 0, 0xFFFFF004), (0x15, 3, 0, _OUTGOING), (0x20, 0, 0, 0xFFFFF008),
    (0x45, 0, 1, 1), (0x06, 0, 0, 0xFFFFFFFF), (0x06, 0, 0, 0),
)  # fmt: skip


class Delay(NamedTuple):
    """The delay of every reception on the air: delay_s plus up to jitter_s, uniform.

    pairs_s: (sender, hearer) -> the delay of this link in place of delay_s.
    """

    delay_s: float = 0.0
    jitter_s: float = 0.0
    pairs_s: Mapping[tuple[int, int], float] = MappingProxyType({})
    seed: int = 1


class FrameQueue:
    """The frames that the relay of the air delays, each with the time at which it leaves."""

    def __init__(self, delay: Delay) -> None:
        self._delay = delay
        self._by_pair = {
            (_hardware(a), f"q{b}"): seconds for (a, b), seconds in delay.pairs_s.items()
        }
        self._random = np.random.default_rng(delay.seed)
        self._jitter: list[float] = []
        self._heap: list[tuple[float, int, bytes, str]] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, now: float, frame: bytes, came_by: str) -> None:
        """Queue a frame that arrived on the relay's interface of a node."""
        seconds = self._delay.delay_s
        if self._by_pair:
            seconds = self._by_pair.get((frame[6:12], came_by), seconds)
        if self._delay.jitter_s > 0.0:
            if not self._jitter:
                self._jitter = self._random.uniform(0.0, self._delay.jitter_s, _BLOCK).tolist()
            seconds += self._jitter.pop()
        self._number += 1
        heapq.heappush(self._heap, (now + seconds, self._number, frame, f"d{came_by[1:]}"))

    def next_at(self) -> float:
        """Return when the first frame of the queue is due, or inf if the queue is empty."""
        return self._heap[0][0] if self._heap else float("inf")

    def pop_due(self, now: float) -> tuple[bytes, str] | None:
        """Remove a due frame from the queue; return it and its outgoing interface."""
        if not self._heap or self._heap[0][0] > now:
            return None
        _, _, frame, goes_by = heapq.heappop(self._heap)
        return frame, goes_by


def relay_socket() -> socket.socket:
    """Return a socket that receives every frame from the air's hub, for all nodes."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _FILTER)
    kept = np.frombuffer(code, np.uint8)  # the kernel reads it by its address
    program = struct.pack(
        "HxxxxxxQ" if struct.calcsize("P") == 8 else "HxxI", len(_FILTER), kept.ctypes.data
    )
    sock.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    sock.setblocking(False)
    return sock


def run(delay: Delay) -> dict[str, int]:
    """Relay frames of the air until stdin ends; return the numbers of arrived, sent, waiting and
    lost frames.
    """
    queue, sock = FrameQueue(delay), relay_socket()
    counts = {"queued": 0, "passed on": 0}
    watch = selectors.DefaultSelector()
    watch.register(sock, selectors.EVENT_READ)
    watch.register(sys.stdin, selectors.EVENT_READ)
    _say("ready")
    while True:
        wait = max(queue.next_at() - time.monotonic(), 0.0)
        ready = watch.select(None if wait == float("inf") else wait)
        if any(key.fileobj is sys.stdin for key, _ in ready):
            counts["queued"] += _take(sock, queue)
            break
        counts["queued"] += _take(sock, queue)
        while (due := queue.pop_due(time.monotonic())) is not None:
            with contextlib.suppress(OSError):
                sock.sendto(due[0], (due[1], 0))
                counts["passed on"] += 1
    received, dropped = struct.unpack("II", sock.getsockopt(_PACKET, _STATISTICS, 8))
    del received
    return counts | {"waiting": len(queue), "queue full": dropped}


def _take(sock: socket.socket, queue: FrameQueue) -> int:
    """Queue the frames that wait at the socket of the air's relay; return their number."""
    for count in range(_DRAIN):
        try:
            frame, (came_by, *_) = sock.recvfrom(_FRAME)
        except OSError:
            return count
        queue.push(time.monotonic(), frame, came_by)
    return _DRAIN


def _hardware(node: int) -> bytes:
    return bytes((2, 0, 0x47, 0, node >> 8, node & 255))


def line_of(delay: Delay) -> str:
    """Return the settings of the air's frame queue as the first line of its stdin."""
    pairs = [[a, b, seconds] for (a, b), seconds in delay.pairs_s.items()]
    return json.dumps([delay.delay_s, delay.jitter_s, pairs, delay.seed]) + "\n"


def _delay_in(line: str) -> Delay:
    delay_s, jitter_s, pairs, seed = json.loads(line)
    return Delay(delay_s, jitter_s, {(a, b): seconds for a, b, seconds in pairs}, seed)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _say(json.dumps(run(_delay_in(sys.stdin.readline()))))
