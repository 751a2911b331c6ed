"""The loop whose clock jumps: it waits for threads and never for a time, and overtakes nothing."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from halfway.live.mesh import Event
from tests.live.runtime.test_nodes import linked, lone
from tests.loops import JumpingLoop, StillLoop, run

HOUR = 3600.0
LONGEST_S = 60.0  # until a thread gives up
LITTLE_S = 0.01  # of the loop: the turns without a wait


def now() -> float:
    """The time of the running loop, in seconds."""
    return asyncio.get_running_loop().time()


def udp() -> socket.socket:
    """A socket on loopback."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.bind(("127.0.0.1", 0))
    return sock


def test_idle_hours_pass_at_once_and_every_timer_has_its_time() -> None:
    """A loop that waits would take two days."""

    async def program() -> list[tuple[float, float]]:
        begun, ran = now(), list[tuple[float, float]]()
        for at in (HOUR, 0.5, 7.0, 7.0, 1e5):
            asyncio.get_running_loop().call_at(begun + at, lambda at=at: ran.append((at, now())))
        await asyncio.sleep(2e5)
        assert now() == pytest.approx(begun + 2e5, abs=LITTLE_S)
        return [(at, ran_at - begun) for at, ran_at in ran]

    ran = run(program(), JumpingLoop)
    assert [at for at, _ in ran] == [0.5, 7.0, 7.0, HOUR, 1e5]
    assert all(at <= ran_at < at + LITTLE_S for at, ran_at in ran)


def test_a_time_out_ends_what_never_happens_and_a_program_without_waits() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    async def spins() -> None:
        while True:
            await asyncio.sleep(0)

    async def program() -> None:
        for work, seconds in ((never, HOUR), (spins, 0.1)):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(work(), seconds)

    run(program(), JumpingLoop)


def test_the_clock_does_not_jump_while_a_thread_has_a_job() -> None:
    """The first job ends by a timer of the loop, so the loop also has time while it waits."""
    may_end, ran, executor = threading.Event(), list[float](), ThreadPoolExecutor(1)

    async def program() -> None:
        loop, begun = asyncio.get_running_loop(), now()
        loop.call_later(0.05, may_end.set)
        loop.call_later(HOUR, lambda: ran.append(now()))
        assert await loop.run_in_executor(None, may_end.wait, LONGEST_S)
        assert 0.05 <= now() - begun < HOUR
        await asyncio.to_thread(time.sleep, 0.01)
        await loop.run_in_executor(executor, time.sleep, 0.01)
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        assert ran == []
        await asyncio.sleep(2 * HOUR)
        assert ran == [pytest.approx(begun + HOUR, abs=LITTLE_S)]

    run(program(), JumpingLoop)
    executor.shutdown()


def test_a_job_that_nobody_waits_for_holds_the_clock_until_it_ends() -> None:
    may_end = threading.Event()

    async def program() -> None:
        job = asyncio.ensure_future(asyncio.to_thread(may_end.wait, LONGEST_S))
        await asyncio.sleep(0.01)  # it runs
        job.cancel()
        begun = time.monotonic()
        await asyncio.sleep(0.05)
        assert time.monotonic() - begun >= 0.04
        may_end.set()
        await asyncio.sleep(HOUR)

    run(program(), JumpingLoop)


def test_a_thread_without_a_job_of_the_loop_is_refused() -> None:
    async def program() -> None:
        loop, errors = asyncio.get_running_loop(), list[RuntimeError]()

        def calls() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=calls)
        thread.start()
        thread.join()
        assert "expected a StillLoop" in str(errors[0])

    run(program(), JumpingLoop)


def test_what_is_ready_comes_before_a_timer() -> None:
    async def program() -> None:
        loop, order = asyncio.get_running_loop(), list[str]()
        with udp() as here, udp() as there:
            loop.add_reader(here, lambda: order.append(here.recv(100).decode()))
            for number in range(200):
                order.clear()
                timer = loop.call_later(0.001, order.append, "timer")
                there.sendto(b"datagram", here.getsockname())
                while len(order) < 2:
                    await asyncio.sleep(0.001)
                assert order == ["datagram", "timer"], number
                timer.cancel()
            loop.remove_reader(here)

    run(program(), JumpingLoop)


def test_datagrams_and_streams_arrive_before_any_time_passes() -> None:
    """Each end answers the other one 200 times."""

    async def datagrams() -> None:
        loop = asyncio.get_running_loop()
        with udp() as one, udp() as other:
            for _ in range(200):
                for sender, hearer in ((one, other), (other, one)):
                    await loop.sock_sendto(sender, b"x", hearer.getsockname())
                    assert await loop.sock_recv(hearer, 10) == b"x"

    async def echoes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async def streams() -> None:
        server = await asyncio.start_server(echoes, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for number in range(200):
            writer.write(b"%d\n" % number)
            assert await reader.readline() == b"%d\n" % number
        writer.close()
        server.close()

    async def program() -> None:
        for exchange in (datagrams, streams):
            begun = now()
            timer = asyncio.get_running_loop().call_later(HOUR, pytest.fail)
            await exchange()
            assert now() - begun < 1.0
            timer.cancel()

    run(program(), JumpingLoop)


def test_two_nodes_exchange_events_before_any_time_passes() -> None:
    async def program() -> None:
        async with lone(nodes=2, period_s=HOUR / 100) as mesh:
            await linked(mesh)
            first, second = mesh.host.nodes
            got: list[Event] = []
            second.subscribe("a", got.append)
            begun = now()
            await first.publish("a", b"x")
            while not got:
                await asyncio.sleep(0)
            assert now() - begun < LITTLE_S

    run(program(), JumpingLoop)


def test_the_times_of_nodes_are_the_same_in_every_run() -> None:
    async def program() -> list[float]:
        times = list[float]()
        async with lone(nodes=3, degree=2, seed=1) as mesh:
            await linked(mesh)
            mesh.host.nodes[1].subscribe("a", lambda event: times.append(event.age_s))
            for _ in range(5):
                await mesh.publish("a", b"x")
                await asyncio.sleep(0.5)
            return [*times, round(now(), 2)]

    assert run(program(), JumpingLoop) == pytest.approx(run(program(), JumpingLoop), abs=1e-3)


def test_a_still_loop_waits() -> None:
    begun = time.monotonic()
    run(asyncio.sleep(0.05), StillLoop)
    assert time.monotonic() - begun >= 0.05
