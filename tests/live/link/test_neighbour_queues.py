"""Queues of received datagrams: turns, charges, drops of the longest queue, and the endpoint."""

import asyncio
import socket
import time
import tracemalloc
from pathlib import Path

import pytest

from halfway.live.drops import Drops
from halfway.live.link.endpoint import DRAIN, Endpoint, bound
from halfway.live.link.neighbour_queues import DATAGRAM_BYTES, TURN_S, NeighbourQueues
from tests.live.runtime.test_nodes import run, until

_DOCS = Path(__file__).parents[3] / "docs"
_SIZE = 100
HERE = ("127.0.0.1", 1)


def queues(datagrams: int) -> NeighbourQueues:
    """Queues with room for some datagrams of 100 bytes."""
    return NeighbourQueues(datagrams * (_SIZE + DATAGRAM_BYTES))


def taken(some: NeighbourQueues, count: int, seconds: float = 0.0) -> list[int]:
    """The senders of the next datagrams, each of which needs some processing time."""
    found = []
    for _ in range(count):
        found.append(some.take().sender)
        some.charge(found[-1], seconds)
    return found


def test_neighbours_have_turns_of_equal_time_and_a_new_one_is_next() -> None:
    some = queues(100)
    for sender in (1, 2, 3):
        for _ in range(10):
            some.add(sender, HERE, bytes(_SIZE))
    found = taken(some, 12, TURN_S)
    assert sorted(found) == [1] * 4 + [2] * 4 + [3] * 4
    some.add(4, HERE, bytes(_SIZE))
    assert taken(some, 1) == [4]


def test_a_neighbour_with_costly_datagrams_waits_for_the_others() -> None:
    some = queues(100)
    for _ in range(20):
        some.add(1, HERE, b"costly".ljust(_SIZE))
        some.add(2, HERE, b"cheap".ljust(_SIZE))
    found, spent = [], {1: 0.0, 2: 0.0}
    for _ in range(22):
        sender = some.take().sender
        seconds = 10 * TURN_S if sender == 1 else TURN_S
        some.charge(sender, seconds)
        spent[sender] += seconds
        found.append(sender)
    assert found.count(1) <= 3
    assert abs(spent[1] - spent[2]) <= 11 * TURN_S


def test_a_neighbour_that_was_charged_too_much_pays_after_its_queue_was_empty() -> None:
    some = queues(100)
    some.add(1, HERE, bytes(_SIZE))
    some.add(2, HERE, bytes(_SIZE))
    for sender in taken(some, 1, 5 * TURN_S):
        some.add(sender, HERE, bytes(_SIZE))
        for _ in range(5):
            some.add(3 - sender, HERE, bytes(_SIZE))
        assert taken(some, 4, TURN_S) == [3 - sender] * 4


def test_a_pause_of_the_process_costs_a_neighbour_a_tenth_of_a_second_at_most() -> None:
    some = queues(1000)
    for sender in (1, 2):
        for _ in range(400):
            some.add(sender, HERE, bytes(_SIZE))
    (paused,) = taken(some, 1, 3600.0)
    found = taken(some, 150, TURN_S)
    assert 95 <= found.index(paused) <= 105


def test_a_waiting_datagram_counts_the_memory_that_it_needs() -> None:
    some, count = NeighbourQueues(2 << 20), 4000
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(count):
        some.add(1, (f"127.0.0.{number % 9}", 1000 + number), number.to_bytes(2))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(some) == count
    assert after - before <= count * (2 + DATAGRAM_BYTES)


def test_a_full_node_drops_from_the_longest_queue() -> None:
    some = queues(10)
    assert [some.add(1, HERE, bytes(_SIZE)) for _ in range(12)] == [0] * 10 + [1] * 2
    assert [some.add(2, HERE, bytes(_SIZE)) for _ in range(5)] == [1] * 5
    assert [some.add(2, HERE, bytes(_SIZE)) for _ in range(5)] == [1] * 5  # both have 5 now
    assert len(some) == 10
    assert sorted(taken(some, 10)) == [1] * 5 + [2] * 5
    assert some.clear() == len(some) == 0


def test_a_datagram_that_never_fits_is_dropped_alone() -> None:
    some = queues(4)
    some.add(1, HERE, bytes(_SIZE))
    assert some.add(2, HERE, bytes(10 * _SIZE)) == 1
    assert (len(some), some.add(3, HERE, bytes(_SIZE))) == (1, 0)


def test_the_length_of_a_queue_is_a_part_of_an_equal_share() -> None:
    some = queues(8)
    for _ in range(4):
        some.add(1, HERE, bytes(_SIZE))
    assert some.length_of(1) == 0.5
    some.add(2, HERE, bytes(_SIZE))
    assert (some.length_of(1), some.length_of(2), some.length_of(3)) == (1.0, 0.25, 0.0)


def test_a_busy_endpoint_reads_on_and_takes_the_one_datagram_of_another_sender_early() -> None:
    async def program() -> None:
        got, drops = list[bytes](), Drops()
        endpoint = Endpoint(
            bound("127.0.0.1", 0),
            lambda _, datagram: got.append(datagram),
            lambda: None,
            drops,
            8,
            sender_of=lambda _, datagram: datagram[0],
            waiting=queues(6 * DRAIN),
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(7 * DRAIN):
                sock.sendto(b"\1".ljust(_SIZE), endpoint.address)
            sock.sendto(b"\2".ljust(_SIZE), endpoint.address)
            await until(lambda: endpoint.received == 7 * DRAIN + 1)
            await until(lambda: len(got) == 6 * DRAIN)
        assert got[0][0] == 2
        assert drops.by_reason() == {"over its share": DRAIN + 1}
        endpoint.close()

    run(program)


def test_a_flooded_endpoint_leaves_turns_to_another_endpoint_of_the_process() -> None:
    async def program() -> None:
        got = list[int]()

        def end(place: int) -> Endpoint:
            def slow(_: object, _datagram: bytes) -> None:
                time.sleep(0.001)
                got.append(place)

            return Endpoint(
                bound("127.0.0.1", 0), slow, lambda: None, Drops(), 8, waiting=queues(1000)
            )

        ends = end(0), end(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(300):
                sock.sendto(bytes(_SIZE), ends[0].address)
            await until(lambda: got)
            sock.sendto(bytes(_SIZE), ends[1].address)
            sent_at = len(got)
            await until(lambda: 1 in got)
        assert got.index(1) - sent_at < 30
        for one in ends:
            one.close()

    run(program)


def test_waiting_datagrams_leave_turns_to_a_timer() -> None:
    async def program() -> None:
        got, ran, total = list[int](), list[int](), 100

        def slow(_: object, _datagram: bytes) -> None:
            time.sleep(0.001)
            if not got:
                loop.call_later(0.0, tick)
            got.append(len(ran))

        def tick() -> None:
            ran.append(len(got))
            if len(got) < total:
                loop.call_later(0.0, tick)

        endpoint = Endpoint(
            bound("127.0.0.1", 0), slow, lambda: None, Drops(), 8, waiting=queues(1000)
        )
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(total):
                sock.sendto(bytes(_SIZE), endpoint.address)
            await until(lambda: len(got) == total)
        assert len(set(got)) >= 10  # the timer ran between the datagrams, not after them
        endpoint.close()

    run(program)


@pytest.mark.parametrize(("waiting", "is_busy"), [(DRAIN - 1, False), (DRAIN, True)])
def test_an_endpoint_is_busy_from_the_stated_number_of_datagrams_on(
    waiting: int, is_busy: bool
) -> None:
    async def program() -> None:
        queued = list[bytes]()

        def sender_of(_: object, datagram: bytes) -> int:
            queued.append(datagram)
            return 1

        endpoint = Endpoint(
            bound("127.0.0.1", 0), lambda *_: None, lambda: None, Drops(), 8,
            sender_of=sender_of, waiting=queues(2 * DRAIN),
        )  # fmt: skip
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(waiting):  # all of them are in the socket when the endpoint reads
                sock.sendto(bytes(_SIZE), endpoint.address)
            await until(lambda: endpoint.received == waiting)
        assert len(queued) == waiting * is_busy
        endpoint.close()

    run(program)


@pytest.mark.parametrize("page", ["operating.md", "decisions/0103-a-busy-node-gives-shares.md"])
def test_the_pages_state_when_a_node_is_busy(page: str) -> None:
    text = " ".join((_DOCS / page).read_text().split())
    assert f"at least {DRAIN} datagrams" in text


def test_a_busy_endpoint_queues_a_datagram_before_it_reads_the_next_one() -> None:
    """So the room of the queues bounds what it reads, apart from the first datagrams."""

    async def program() -> None:
        received = list[int]()

        def sender_of(*_: object) -> int:
            received.append(endpoint.received)
            return 1

        endpoint = Endpoint(
            bound("127.0.0.1", 0), lambda *_: None, lambda: None, Drops(), 8,
            sender_of=sender_of, waiting=queues(DRAIN),
        )  # fmt: skip
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(4 * DRAIN):
                sock.sendto(bytes(_SIZE), endpoint.address)
            await until(lambda: endpoint.received == 4 * DRAIN)
        assert len(received) == 4 * DRAIN
        assert max(count - number for number, count in enumerate(received)) <= DRAIN
        endpoint.close()

    run(program)


def test_every_datagram_of_a_flood_is_processed_or_counted() -> None:
    """[R37] The kernel counts what did not fit into the socket's buffer."""

    async def program() -> None:
        got, drops, sent = list[bytes](), Drops(), 40_000
        endpoint = Endpoint(
            bound("127.0.0.1", 0),
            lambda _, datagram: got.append(datagram),
            lambda: None,
            drops,
            8,
            waiting=queues(500),
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for number in range(sent):
                sock.sendto(bytes(_SIZE), endpoint.address)
                if number % 4000 == 0:
                    await asyncio.sleep(0)

        def counted() -> int:
            endpoint.count_kernel_drops()
            return len(got) + sum(drops.by_reason().values())

        await until(lambda: counted() == sent)
        await asyncio.sleep(0.1)
        assert counted() == sent
        assert drops.by_reason()["over its share"] > 0
        assert endpoint.received == len(got) + drops.by_reason()["over its share"]
        endpoint.close()

    run(program)


def test_an_endpoint_counts_the_datagrams_that_wait_when_it_closes() -> None:
    async def program() -> None:
        got, drops = list[bytes](), Drops()

        def slow(_: object, datagram: bytes) -> None:
            got.append(datagram)
            endpoint.close()

        endpoint = Endpoint(
            bound("127.0.0.1", 0), slow, lambda: None, drops, 8, waiting=queues(1000)
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(2 * DRAIN):
                sock.sendto(bytes(_SIZE), endpoint.address)
            await until(lambda: got)
        await asyncio.sleep(0.05)
        assert endpoint.received == len(got) + sum(drops.by_reason().values())

    run(program)
