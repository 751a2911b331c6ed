"""The air: which node hears which, losses, duplicates, splits, delays; and what is left over."""

import contextlib
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halfway.live.air.air import Air
from halfway.live.air.frame_queue import Delay, FrameQueue
from halfway.live.air.namespaces import Namespace, why_not
from halfway.problem import Problem

WHY = "".join(why_not())
on_air = pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}")

N = 5
LONGEST_S = 60.0  # until a test fails that waits
LINE = [(a, b) for a in range(N) for b in range(N) if abs(a - b) == 1]


class Radios:
    """One socket a node, which hears broadcasts."""

    def __init__(self, air: Air) -> None:
        self.air, self.sockets = air, list[socket.socket]()
        for node in air.nodes:
            sock = node.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
            sock.bind(("", 4000))
            sock.setblocking(False)
            self.sockets.append(sock)

    def broadcast(self, node: int, count: int) -> None:
        """Send datagrams to all that hear a node."""
        for k in range(count):
            self.sockets[node].sendto(k.to_bytes(4), ("10.71.255.255", 4000))

    def heard(self, are_all: Callable[[list[int]], bool]) -> list[list[int]]:
        """The numbers of the datagrams that each node heard since the last call, in order.

        are_all: whether these are all, by how many datagrams each node has heard.
        """
        found: list[list[int]] = [[] for _ in self.sockets]
        end = time.monotonic() + LONGEST_S
        while not are_all([len(one) for one in found]):
            assert time.monotonic() < end, found
            time.sleep(0.01)
            self._take(found)
        time.sleep(0.2)  # for what must not come
        self._take(found)
        return found

    def expect(self, *counts: int) -> None:
        """Require that each node hears exactly so many datagrams."""
        found = self.heard(lambda heard: all(a >= b for a, b in zip(heard, counts, strict=True)))
        assert [len(one) for one in found] == list(counts)

    def close(self) -> None:
        """Close all sockets."""
        for sock in self.sockets:
            sock.close()

    def _take(self, found: list[list[int]]) -> None:
        for node, heard in enumerate(found):
            heard.extend(self._of(node))

    def _of(self, node: int) -> Iterator[int]:
        while True:
            try:
                data, (address, _) = self.sockets[node].recvfrom(100)
            except BlockingIOError:
                return
            if address != self.air.address(node):  # a sender hears itself
                yield int.from_bytes(data)


@pytest.fixture
def radios() -> Iterator[Radios]:
    """Five nodes in a line."""
    with Air(N) as air:
        air.set_links(LINE)
        radios = Radios(air)
        yield radios
        radios.close()


@on_air
def test_only_neighbours_hear_and_one_change_moves_a_node(radios: Radios) -> None:
    radios.broadcast(2, 50)
    radios.expect(0, 50, 0, 50, 0)
    radios.air.set_links([*LINE, (2, 0)])  # one way
    radios.broadcast(2, 10)
    radios.broadcast(0, 10)
    radios.expect(10, 20, 0, 10, 0)
    radios.air.set_links([])
    radios.broadcast(2, 10)
    radios.expect(*[0] * N)


@on_air
def test_a_datagram_to_one_node_reaches_that_node(radios: Radios) -> None:
    for to in (1, 3, 4):
        radios.sockets[2].sendto(b"\0\0\0\7", (radios.air.address(to), 4000))
    heard = radios.heard(lambda counts: sum(counts) >= 2)
    assert heard == [[], [7], [], [7], []]
    assert radios.air.counts()["out_of_reach"] == 1


@on_air
def test_losses_are_those_asked_for_and_counted(radios: Radios) -> None:
    radios.air.set_loss(0.2)
    radios.broadcast(2, 1000)

    def are_all(heard: list[int]) -> bool:
        counts = radios.air.counts()
        return counts["heard"] == sum(heard) and counts["heard"] + counts["lost"] == 2000

    heard = radios.heard(are_all)
    assert all(700 < len(heard[k]) < 900 for k in (1, 3))  # 7 standard deviations
    radios.air.set_loss(0.0)
    radios.broadcast(2, 100)
    radios.expect(0, 100, 0, 100, 0)


@on_air
def test_a_split_separates_both_sides_until_it_heals(radios: Radios) -> None:
    radios.air.split([0, 1])
    for node in (1, 2):
        radios.broadcast(node, 10)
    radios.expect(10, 0, 0, 10, 0)
    assert radios.air.counts()["split"] == 20
    radios.air.split([])
    radios.broadcast(1, 10)
    radios.expect(10, 0, 10, 0, 0)


@on_air
def test_duplicates_come_twice_and_are_counted() -> None:
    with Air(2, duplicates=0.25) as air:
        air.set_links([(0, 1)])
        radios = Radios(air)
        radios.broadcast(0, 400)
        heard = radios.heard(lambda counts: counts[1] >= 400 + air.counts()["duplicated"])
        twice = len(heard[1]) - 400
        assert 40 < twice < 160
        assert air.counts()["duplicated"] == twice
        radios.close()


@on_air
def test_a_delay_keeps_every_datagram_and_jitter_reorders() -> None:
    with Air(2, delay=Delay(0.1, 0.05)) as air:
        air.set_links([(0, 1)])
        radios = Radios(air)
        begun = time.monotonic()
        radios.broadcast(0, 100)
        assert select.select([radios.sockets[1]], [], [], LONGEST_S)[0]
        assert time.monotonic() >= begun + 0.1
        heard = radios.heard(lambda counts: counts[1] >= 100)[1]
        assert sorted(heard) == list(range(100))
        assert heard != list(range(100))
        radios.close()
        assert air.close() == {"queued": 100, "passed on": 100, "waiting": 0, "queue full": 0}


def test_the_queue_keeps_a_frame_as_long_as_its_link_says() -> None:
    queue = FrameQueue(Delay(0.5, pairs_s={(0, 1): 0.2}))
    frame = bytes(6) + bytes((2, 0, 0x47, 0, 0, 0)) + b"..."
    queue.push(1.0, frame, "q1")
    queue.push(1.0, frame, "q2")
    assert queue.next_at() == pytest.approx(1.2)
    assert queue.pop_due(1.1) is None
    assert queue.pop_due(1.3) == (frame, "d1")
    assert queue.pop_due(1.3) is None
    assert queue.pop_due(1.5) == (frame, "d2")
    assert len(queue) == 0


def _interfaces() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


@on_air
def test_nothing_is_left_of_an_air_that_ends_and_the_machine_is_untouched() -> None:
    before, files = _interfaces(), len(list(Path("/proc/self/fd").iterdir()))
    with Air(3, delay=Delay(0.01)) as air:
        assert _interfaces() == before
        queue = air._queue
        assert queue is not None
    assert queue.poll() is not None
    assert _interfaces() == before
    assert len(list(Path("/proc/self/fd").iterdir())) <= files


@on_air
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.long
def test_nothing_is_left_of_an_air_whose_process_is_killed(how: signal.Signals) -> None:
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
        "from halfway.live.air.air import Air\n"
        "from halfway.live.air.frame_queue import Delay\n"
        "air = Air(3, delay=Delay(0.01))\n"
        "print(air._queue.pid, os.readlink(air._hub.path), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        assert process.stdout is not None
        queue, hub = process.stdout.readline().split()
        assert hub in _namespaces_in_use()
        process.send_signal(how)
        process.wait()
    until = time.monotonic() + LONGEST_S
    while Path(f"/proc/{queue}").exists() or hub in _namespaces_in_use():
        assert time.monotonic() < until
        time.sleep(0.02)


def _namespaces_in_use() -> set[str]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add(str((process / "ns/net").readlink()))
            found |= {str(fd.readlink()) for fd in (process / "fd").iterdir()}
    return found


@on_air
def test_a_socket_stays_in_its_namespace() -> None:
    def cookie(sock: socket.socket) -> bytes:
        with sock:
            return sock.getsockopt(socket.SOL_SOCKET, 71, 8)  # SO_NETNS_COOKIE

    with Namespace() as one, Namespace() as other:
        found = [cookie(space.socket(socket.AF_INET, socket.SOCK_DGRAM)) for space in (one, other)]
        here = cookie(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    assert len({*found, here}) == 3


@pytest.mark.parametrize(("n", "share"), [(0, 0.0), (301, 0.0), (2, 1.5), (2, -0.1)])
def test_values_out_of_range_are_refused(n: int, share: float) -> None:
    with pytest.raises(Problem, match="expected"):
        Air(n, duplicates=share)


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "nft" else tool)
    with pytest.raises(
        Problem, match=r"`nft` is missing \(install the program: apt-get install nftables"
    ):
        Air(2)
