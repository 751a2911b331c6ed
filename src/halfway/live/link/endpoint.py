"""The UDP endpoint of a live node: one socket in an asyncio loop, which reads up to 64 datagrams at
a time.

Plain sockets with `add_reader` need a fifth of the processor time of asyncio's datagram transport.

If more datagrams arrive than the node processes, they wait in one queue for each neighbour. The
endpoint then reads many more datagrams than it processes, because the kernel's buffer is shared by
all senders: a datagram that the kernel drops may be from any neighbour.
"""

import asyncio
import contextlib
import errno
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from halfway.live.addresses import unavailable
from halfway.live.drops import Drop, Drops
from halfway.live.link.neighbour_queues import NO_QUEUES, NeighbourQueues
from halfway.live.security import Address

DRAIN = 64
READ = 1024  # datagrams that a busy endpoint reads before it processes some of them
SERVE_S = 0.002  # for which it then processes datagrams, before the loop and its timers have a turn
BUFFER = 1 << 21  # requested size of the kernel's buffer of a socket, bytes
_LARGEST = 65_535
_SO_MEMINFO, _DROPS, _WORDS = 55, 8, 9  # Linux: count of datagrams that the kernel dropped
_BUSY = {errno.EAGAIN, errno.EWOULDBLOCK, errno.ENOBUFS}


class Endpoint:
    """The UDP endpoint of a node. It calls `receive` for each datagram, and `drained` after each
    batch and when the queue to send becomes empty.

    What the socket does not take at once waits in a bounded queue. sender_of: the queue in which a
    received datagram waits. waiting: the queues; without room, the endpoint processes each
    datagram at once.
    """

    def __init__(
        self,
        sock: socket.socket,
        receive: Callable[[Address, bytes], None],
        drained: Callable[[], None],
        drops: Drops,
        most: int,
        sender_of: Callable[[Address, bytes], int] = lambda *_: 0,
        waiting: NeighbourQueues = NO_QUEUES,
    ) -> None:
        self._socket, self._receive, self._drained = sock, receive, drained
        self._sender_of, self._waiting, self._is_called = sender_of, waiting, False
        self._drops, self._most = drops, most
        self._queue: deque[tuple[Address, bytes]] = deque()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(sock.fileno(), self._drain)
        self.received = self.sent = self.bytes_received = self.bytes_sent = 0
        self.address: Address = sock.getsockname()[:2]

    @property
    def is_full(self) -> bool:
        """Whether the queue of the UDP endpoint is more than half full."""
        return 2 * len(self._queue) > self._most

    def send(self, address: Address, datagram: bytes) -> None:
        """Send a datagram, or queue it; if the endpoint's queue is full, drop and count it."""
        if self._queue:
            self._wait(address, datagram)
            return
        try:
            self._socket.sendto(datagram, address)
        except OSError as error:
            if error.errno in _BUSY:
                self._wait(address, datagram)
            else:  # no route, or no program listens: like a lost datagram
                self._drops.count(Drop.NO_ADDRESS)
            return
        self.sent += 1
        self.bytes_sent += len(datagram)

    def count_kernel_drops(self) -> None:
        """Count the datagrams that the kernel dropped because the node read its UDP endpoint too
        slowly.
        """
        with contextlib.suppress(OSError, struct.error):
            known = self._socket.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 4 * _WORDS)
            self._drops.set(Drop.KERNEL, struct.unpack(f"={_WORDS}I", known)[_DROPS])

    def close(self) -> None:
        """Close the endpoint's socket; queued datagrams are dropped and counted."""
        self._drops.count(Drop.SHARE, self._waiting.clear())
        self._drops.count(Drop.QUEUE, len(self._queue))
        self._queue.clear()
        self._loop.remove_reader(self._socket.fileno())
        self._loop.remove_writer(self._socket.fileno())
        self._socket.close()

    def _drain(self) -> None:
        taken = list(self._received(DRAIN))
        if not self._waiting and (len(taken) < DRAIN or not self._waiting.most_bytes):
            for address, datagram in taken:
                self._receive(address, datagram)
            self._drained()
            return
        self._queue_by_sender(taken)
        if len(taken) == DRAIN:
            self._queue_by_sender(self._received(READ))
        self._serve_soon()

    def _received(self, most: int) -> Iterator[tuple[Address, bytes]]:
        """Read datagrams one by one, so that a reader that queues them needs no room for all."""
        receive = self._socket.recvfrom
        for _ in range(most):
            try:
                datagram, address = receive(_LARGEST)
            except OSError:  # nothing left, or an error of an earlier send
                return
            self.received += 1
            self.bytes_received += len(datagram)
            yield address[:2], datagram

    def _queue_by_sender(self, taken: Iterable[tuple[Address, bytes]]) -> None:
        add, dropped = self._waiting.add, 0
        for address, datagram in taken:
            dropped += add(self._sender_of(address, datagram), address, datagram)
        self._drops.count(Drop.SHARE, dropped)

    def _serve_soon(self) -> None:
        """Serve the queues once in each turn of the loop, so that other endpoints have turns."""
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        """Process waiting datagrams for a while."""
        waiting, self._is_called = self._waiting, False
        begun = now = time.perf_counter()
        while waiting and now - begun < SERVE_S:
            sender, address, datagram = waiting.take()
            self._receive(address, datagram)
            before, now = now, time.perf_counter()
            waiting.charge(sender, now - before)
        if waiting:
            self._serve_soon()
        self._drained()

    def _wait(self, address: Address, datagram: bytes) -> None:
        if len(self._queue) >= self._most:
            self._drops.count(Drop.QUEUE)
            return
        if not self._queue:
            self._loop.add_writer(self._socket.fileno(), self._flush)
        self._queue.append((address, datagram))

    def _flush(self) -> None:
        while self._queue:
            address, datagram = self._queue[0]
            try:
                self._socket.sendto(datagram, address)
            except OSError as error:
                if error.errno in _BUSY:
                    return
                self._drops.count(Drop.NO_ADDRESS)
            else:
                self.sent += 1
                self.bytes_sent += len(datagram)
            self._queue.popleft()
        self._loop.remove_writer(self._socket.fileno())
        self._drained()  # publishers may wait for room


def bound(host: str, port: int) -> socket.socket:
    """Return a UDP socket bound to an address (port 0: any). Raises Problem if the address is in
    use.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        is_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        field, value = ("port", port) if is_port else ("host", host)
        raise unavailable(field, value, error) from None
    return sock


def group_socket(group: Address, interface: str) -> socket.socket:
    """Return a UDP socket that receives from a multicast group, shared with other programs.

    interface: an address of the interface. Raises OSError if the interface has no multicast.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(group)
        membership = socket.inet_aton(group[0]) + socket.inet_aton(interface)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    except OSError:
        sock.close()
        raise
    return sock


def send_to_groups(sock: socket.socket, interface: str) -> None:
    """Make a UDP socket send to multicast groups through an interface, one hop far."""
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
