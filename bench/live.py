"""Live nodes measured: echo through the endpoint, calls of a handler, a mesh of many nodes.

Ratios of one run on one machine. The mesh: every node of a process publishes in turn, and every
other node subscribes.
python bench/live.py [--json] [--nodes N] [--events N] [--rate N]
"""

import argparse
import asyncio
import json
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from halfway.core.door import enter
from halfway.core.message import MESSAGE
from halfway.live.drops import Drops
from halfway.live.interface.api import node
from halfway.live.limits import Limits
from halfway.live.link.endpoint import Endpoint, bound
from halfway.live.link.neighbours import HelloTable
from halfway.live.step.stepper import Stepper
from halfway.live.systems.face import Setting
from halfway.live.systems.registry import face_of

PAYLOAD = bytes(200)
_ECHOES, _IN_FLIGHT, _CALLS = 20_000, 32, 20_000


def echo_load(address: tuple[str, int], cpu_s: Callable[[], float]) -> float:
    """The server's CPU microseconds an echo, with some echoes in flight."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(address)
        sock.settimeout(5.0)
        for _ in range(_IN_FLIGHT):
            sock.send(PAYLOAD)
        begun = cpu_s()
        for _ in range(_ECHOES):
            sock.recv(2048)
            sock.send(PAYLOAD)
        return 1e6 * (cpu_s() - begun) / _ECHOES


def served(serve: Callable[[threading.Event, list[Any]], None]) -> float:
    """The CPU microseconds an echo of a server in a thread of its own."""
    ended, known = threading.Event(), list[Any]()
    thread = threading.Thread(target=serve, args=(ended, known))
    thread.start()
    while not known:
        time.sleep(0.001)
    address, clock = known[0]
    try:
        return echo_load(address, lambda: time.clock_gettime(clock))
    finally:
        ended.set()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"", address)
        thread.join()


def blocking_server(ended: threading.Event, known: list[Any]) -> None:
    """Echo by a blocking socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        known.append((sock.getsockname(), time.pthread_getcpuclockid(threading.get_ident())))
        while not ended.is_set():
            data, address = sock.recvfrom(2048)
            sock.sendto(data, address)


def endpoint_server(ended: threading.Event, known: list[Any]) -> None:
    """Echo by the endpoint of a node."""

    async def serve() -> None:
        def echo(address: tuple[str, int], data: bytes) -> None:
            endpoint.send(address, data)

        sock, drops = bound("127.0.0.1", 0), Drops()
        endpoint = Endpoint(sock, echo, lambda: None, drops, 1024)
        clock = time.pthread_getcpuclockid(threading.get_ident())
        known.append((endpoint.address, clock))
        while not ended.is_set():
            await asyncio.sleep(0.01)
        endpoint.close()

    asyncio.run(serve())


def step_us(system: str) -> dict[str, float]:
    """Microseconds of a step with one record: by entry point, by dispatcher, interpreted."""
    limits = Limits()
    face = face_of(system, {}, Setting(1, 1, 1, limits))
    stepper = Stepper(
        face.node, HelloTable(1, 0, limits.neighbours, limits.heard).neighbourhood, node_id=1,
        incarnation=0, hashes=np.zeros(limits.topics, np.uint64),
    )  # fmt: skip
    record = np.zeros(1, MESSAGE).view(np.recarray)
    record["kind"], record["source"] = face.module.KINDS.number("publish"), 1

    def by_dispatcher() -> None:
        enter(stepper._door, 0, record[0])
        stepper.release_all()

    def by_entry() -> None:
        stepper.command(int(record["kind"][0]), topic=0, event=0)
        stepper.release_all()

    found = {"interpreted": mean_us(by_entry, 200)}
    stepper.compile()
    found["dispatcher, handler alone"] = mean_us(by_dispatcher, _CALLS)
    found["entry point, whole step"] = mean_us(by_entry, _CALLS)
    return found


def mean_us(call: Callable[[], None], times: int) -> float:
    """The mean CPU microseconds of a call."""
    begun = time.process_time()
    for _ in range(times):
        call()
    return 1e6 * (time.process_time() - begun) / times


async def mesh(system: str, nodes: int, events: int, rate: float) -> dict[str, float]:
    """Deliveries, latencies and datagrams of a mesh of nodes in this process."""
    async with node(system, nodes=nodes, compile="now", discover=False, seed=1) as one:
        ages: list[float] = []
        for each in one.host.nodes:
            each.subscribe("bench", lambda event: None if event.local else ages.append(event.age_s))
        every = one.host.nodes
        while not all(len(each.links.table.links()) == len(each.links.static) for each in every):
            await asyncio.sleep(0.05)
        await asyncio.sleep(3.0 if system == "flooding" else 30.0)
        datagrams, cpu = sum(each.endpoint.received for each in every), time.process_time()
        begun = time.perf_counter()
        for number in range(events):
            await every[number % nodes].publish("bench", PAYLOAD)
            await asyncio.sleep(max(0.0, begun + (number + 1) / rate - time.perf_counter()))
        await asyncio.sleep(2.0)
        cpu_s = time.process_time() - cpu
        received = sum(each.endpoint.received for each in every) - datagrams
        return {
            "delivered": len(ages) / (events * (nodes - 1)),
            "p50_ms": 1000 * statistics.median(ages) if ages else float("nan"),
            "p99_ms": 1000 * float(np.quantile(ages, 0.99)) if ages else float("nan"),
            "datagrams": received,
            "datagrams_per_core_second": received / cpu_s,
            "cpu_us_per_datagram": 1e6 * cpu_s / max(received, 1),
            "dropped": sum(sum(each.drops.by_reason().values()) for each in every),
        }


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--events", type=int, default=240)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--system", default="flooding")
    given = parser.parse_args()
    blocking, endpoint = served(blocking_server), served(endpoint_server)
    found = {
        "echo": {"blocking_us": blocking, "endpoint_us": endpoint, "ratio": endpoint / blocking},
        "step_us": step_us(given.system),
        "mesh": asyncio.run(mesh(given.system, given.nodes, given.events, given.rate)),
    }
    if given.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for title, row in found.items():
        rows = [f"  {name:28} {value:12.3f}" for name, value in row.items()]
        sys.stdout.write("\n".join([title, *rows, ""]))


if __name__ == "__main__":
    main()
