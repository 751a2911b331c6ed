"""The links of a live node: hellos, packing of frames into datagrams, and opening of datagrams.

The frames for one neighbour wait until the node has no more work, and share datagrams. No timer
delays the frames.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from halfway.live.drops import Drop, Drops
from halfway.live.limits import Limits
from halfway.live.link.datagram_clock import DatagramClock
from halfway.live.link.endpoint import Endpoint
from halfway.live.link.neighbour_queues import STRANGERS, NeighbourQueues
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.link.waiting import WaitingFrames
from halfway.live.security import Address, Refused, Security
from halfway.live.step.scheduler import Scheduler
from halfway.live.wire.datagram_fragments import Joiner
from halfway.live.wire.frames import (
    CLOCK_BYTES,
    HEAD,
    FrameType,
    Hello,
    frame,
    frame_at,
    frames,
    hello_bytes,
    hello_in,
    ping_bytes,
    ping_in,
)

_BURST, _BURST_S = 5, 0.1  # hellos at the start, and when a new node is heard
_JITTER = 0.2
_FORGOTTEN_S = 15.0  # seconds of silence after which a peer has no address
_TYPES = frozenset(FrameType)
MOST_REFUSALS = 32  # number of reasons of refusal with separate counts


class OwnHello(NamedTuple):
    """The content of a node's hello, except its neighbours."""

    incarnation: int
    rules: int
    name: str
    period_s: float
    position: tuple[float, float] | None = None  # not sent; the system of the node may read it


class LinkCallbacks(NamedTuple):
    """The functions of a node that its links call.

    handle_frames: handles a neighbour's frames as far as possible (time, peer, frames, begin), and
    returns the place of the first remaining frame. written: returns the datagrams of
    `handle_frames`. frame: handles each frame of a neighbour that the links do not handle: peer,
    type, content. greeted: handles the id of each neighbour that sent a hello. retained, wants_all:
    return the content of hellos.
    """

    handle_frames: Callable[[float, int, bytes, int], int]
    written: Callable[[], Iterable[tuple[int, bytes]]]
    frame: Callable[[int, int, bytes], None]
    greeted: Callable[[int], None]
    retained: Callable[[], int]
    wants_all: Callable[[], bool]


class Links:
    """The links of one node. Its endpoint calls `datagram`, and the node first calls `connect`."""

    def __init__(
        self, security: Security, own: OwnHello, scheduler: Scheduler, limits: Limits, drops: Drops,
    ) -> None:  # fmt: skip
        self.security, self._own, self._scheduler = security, own, scheduler
        self._limits, self._drops = limits, drops
        self.table = HelloTable(
            security.node_id, own.rules, limits.neighbours, limits.heard, own.position
        )
        self.waiting = NeighbourQueues(limits.waiting_bytes)
        self._endpoint: Endpoint
        self._node: LinkCallbacks
        self.static: Sequence[Address] = ()
        self.groups: Sequence[Address] = ()
        self.clock: DatagramClock | None = None  # of a node with a trace
        self.refusals: dict[str, int] = {}  # of datagrams, by the security's reason
        self.pongs: dict[tuple[int, int], Callable[[float], None]] = {}  # by peer and token
        self._address: dict[int, Address] = {}
        self._met: dict[int, float] = {}  # when a peer's last datagram came
        self._waiting, self._joiners = WaitingFrames(drops), dict[int, Joiner]()
        self._number, self._burst, self._open = 0, _BURST, True
        self._random = np.random.default_rng(security.node_id)

    @property
    def record_capacity(self) -> int:
        """The bytes for frames in one datagram of these links, without the clock of a trace."""
        return self._limits.mtu - self.security.overhead - HEAD.size - CLOCK_BYTES

    def connect(
        self, sock: socket.socket, drained: Callable[[], None], node: LinkCallbacks
    ) -> Endpoint:
        """Connect the links to a socket and to the functions of their node; return the endpoint."""
        self._node, drops, most = node, self._drops, self._limits.queue
        self._endpoint = Endpoint(
            sock, self.datagram, drained, drops, most, self.queue_of, self.waiting
        )
        return self._endpoint

    def start(self) -> None:
        """Start beacons and hellos on the links."""
        self._beat(self._scheduler.now(), False)

    def stop(self) -> None:
        """Stop the links: send LEAVE to all neighbours, and stop the hellos; a second call has no
        effect.
        """
        if not self._open:
            return
        for peer in self.table.neighbours():
            self.send(peer, frame(FrameType.LEAVE, b""))
        self.flush()
        self._open = False

    def send(self, peer: int, whole: bytes) -> None:
        """Queue a frame for a peer on its link, until `flush`."""
        if not self._waiting:
            self._scheduler.call_after_timers(self.flush)
        self._waiting.add(peer, whole)
        if self._waiting.is_full:
            self.flush()

    def flush(self) -> None:
        """Send the waiting frames of the links in as few datagrams as possible; set the timers."""
        now = self._scheduler.now()
        self._send_pending()
        for peer, plain in self._node.written():
            self._send_sealed(peer, plain, now)
        if self._waiting:
            capacity = self._limits.mtu - self.security.overhead
            capacity -= HEAD.size + CLOCK_BYTES if self.clock is not None else 0
            for peer, plain in self._waiting.taken(capacity):
                self._send_sealed(peer, plain, now)
        self._scheduler.arm()

    def queue_of(self, address: Address, data: bytes) -> int:
        """Return the neighbour in whose queue an unopened datagram waits. A stranger that fills the
        queue must forge the address of the neighbour, and with keys know the session's number.
        """
        peer = self.security.claimed_sender(data)
        is_neighbour = self._address.get(peer) == address and self.table.is_link(peer)
        return peer if is_neighbour else STRANGERS

    def datagram(self, address: Address, data: bytes) -> None:
        """Let the links handle a datagram from the endpoint; `flush` sends the answers."""
        now = self._scheduler.now()
        opened = self.security.open(address, data, now)
        if isinstance(opened, Refused):
            self._count_refusal(opened.reason)
            return
        peer, plain = opened
        if peer < 0:
            return
        is_new = peer not in self._address
        if is_new and len(self._address) >= self._limits.heard:
            self._drops.count(Drop.NOT_HEARD)
            return
        self._address[peer], self._met[peer] = address, now
        at, end = 0, len(plain)
        try:
            while at < end:
                at = self._node.handle_frames(now, peer, plain, at)
                if at < end:
                    frame_type, content, at = frame_at(plain, at)
                    self._take(peer, frame_type, content)
        except (ValueError, UnicodeDecodeError):
            self._drops.count(Drop.BAD_FRAME)
        if is_new and self.security.peers():
            self._hurry()

    def ping(self, peer: int, answered: Callable[[float], None]) -> tuple[int, int]:
        """Ping a neighbour over its link; pass the seconds to the reply to a callback.

        Returns the key of the ping in `pongs`, for the caller to remove when it waits no more.
        """
        token = int(self._random.integers(2**32))
        self.pongs[peer, token] = answered
        self.send(peer, frame(FrameType.PING, ping_bytes(token, self._scheduler.now())))
        self.flush()
        return peer, token

    def address_of(self, peer: int) -> Address | None:
        """Return the address from which the links last heard a peer."""
        return self._address.get(peer)

    def _take(self, peer: int, frame_type: int, content: bytes) -> None:
        if frame_type == FrameType.HELLO:
            self._hear(peer, content)
        elif frame_type == FrameType.FRAGMENT:
            joiner = self._joiners.setdefault(peer, Joiner())
            before, whole = joiner.dropped, joiner.add(content)
            self._drops.count(Drop.FRAGMENTS, joiner.dropped - before)
            if whole is not None:
                for inner, inside in frames(whole):
                    if inner not in (FrameType.FRAGMENT, FrameType.HELLO):
                        self._take(peer, inner, inside)
        elif frame_type == FrameType.PING:
            token, sent = ping_in(content)
            self.send(peer, frame(FrameType.PONG, ping_bytes(token, sent)))
        elif frame_type == FrameType.PONG:
            token, sent = ping_in(content)
            if answered := self.pongs.pop((peer, token), None):
                answered(self._scheduler.now() - sent)
        elif frame_type == FrameType.LEAVE:
            self.table.leave(peer)
            self._forget(peer)
        elif frame_type == FrameType.CLOCK:
            self._take_clock(content)
        elif frame_type in _TYPES:
            self._node.frame(peer, frame_type, content)
        else:
            self._drops.count(Drop.UNKNOWN_FRAME)

    def _take_clock(self, content: bytes) -> None:
        if self.clock is not None:
            self.clock.merge_stamp(content)

    def _hear(self, peer: int, content: bytes) -> None:
        hello = hello_in(content, self._limits.heard)
        not_heard = self.table.not_heard
        if self.table.enter_hello(peer, hello, self._scheduler.now()):
            self._hurry()
        self._drops.count(Drop.NOT_HEARD, self.table.not_heard - not_heard)
        if self.table.is_link(peer):
            self._node.greeted(peer)

    def _hurry(self) -> None:
        """Send the next hellos of the links soon, so that a newly heard node hears this one."""
        if self._burst == 0:
            self._burst = _BURST
            self._scheduler.after(_BURST_S, self._beat, False)

    def _beat(self, now: float, is_regular: bool) -> None:
        """Send the beacons and the hello of the links, and schedule the next."""
        if not self._open:
            return
        self.table.expire(now)
        with_session = set(self.security.peers())
        for peer in self.table.neighbours():
            if peer not in with_session:  # its certificate was revoked, or it was silent
                self.table.leave(peer)
        for peer in [peer for peer, met in self._met.items() if now - met > _FORGOTTEN_S]:
            self._forget(peer)
        self._send_beacons()
        self._send_hellos()
        self.security.tick(now)
        self._send_pending()
        self.flush()
        if is_regular:
            self._scheduler.after(self._period_s(), self._beat, True)
            return
        self._burst -= 1
        if self._burst > 0:
            self._scheduler.after(_BURST_S, self._beat, False)
        elif self._number <= _BURST:  # the first burst: the regular hellos begin
            self._scheduler.after(self._period_s(), self._beat, True)

    def _period_s(self) -> float:
        return self._own.period_s * float(self._random.uniform(1.0 - _JITTER, 1.0 + _JITTER))

    def _send_beacons(self) -> None:
        known = set(self._address.values())
        unmet = [address for address in self.static if address not in known]
        if unmet or self.groups:
            beacon = self.security.beacon()
            for address in (*unmet, *self.groups):
                self._endpoint.send(address, beacon)

    def _send_hellos(self) -> None:
        heard = tuple(sorted(self.table.heard()))
        own = self._own
        hello = Hello(
            incarnation=own.incarnation, number=self._number, period_ms=round(own.period_s * 1000),
            rules=own.rules, retained=self._node.retained(),
            wanted_s=self.table.wanted_s(self._node.wants_all()), name=own.name, heard=heard,
            links=tuple(self.table.neighbours()),
        )  # fmt: skip
        self._number += 1
        whole = frame(FrameType.HELLO, hello_bytes(hello))
        for peer in self._address:
            self.send(peer, whole)

    def _forget(self, peer: int) -> None:
        self._address.pop(peer, None)
        self._met.pop(peer, None)
        self._joiners.pop(peer, None)
        self._waiting.forget(peer)

    def _send_sealed(self, peer: int, plain: bytes, now: float) -> None:
        address = self._address.get(peer)
        if self.clock is not None:
            plain = frame(FrameType.CLOCK, self.clock.stamp()) + plain
        sealed = None if address is None else self.security.seal(peer, plain, now)
        if address is None or sealed is None:
            self._drops.count(Drop.NO_SESSION)
            return
        self._endpoint.send(address, sealed)

    def _send_pending(self) -> None:
        for address, datagram in self.security.pending():
            self._endpoint.send(address, datagram)

    def _count_refusal(self, reason: str) -> None:
        if reason == "own datagram":  # a group sends a copy back
            return
        self._drops.count(Drop.NOT_AUTHENTIC)
        if reason in self.refusals or len(self.refusals) < MOST_REFUSALS:
            self.refusals[reason] = self.refusals.get(reason, 0) + 1
