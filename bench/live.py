"""Live nodes measured: echo through the endpoint, calls of a handler, a mesh of many nodes.

The results are ratios of CPU time, from one run on one machine. The mesh: every node of a process
publishes in turn, with keys and without; the nodes share the topics to which they subscribe. A hop
is one datagram from a node to its neighbour, everything included: sockets, keys, handler,
deliveries and hellos. python bench/live.py [--json] [--nodes N] [--events N] [--rate N] [--topics
N] [--system NAME]
"""

import argparse
import asyncio
import ctypes
import json
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.core.door import enter
from halfway.core.message import RECORD
from halfway.live.drops import Drops
from halfway.live.keys.certificates import Certificate, network_id_of, signed_certificate
from halfway.live.keys.identity import Identity
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.network_membership import Membership
from halfway.live.keys.processor import suitable_cipher
from halfway.live.limits import Limits
from halfway.live.link.endpoint import Endpoint, bound
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings
from halfway.live.security import Security
from halfway.live.step.node_stepper import Stepper
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of
from side_by_side import c_library

PAYLOAD = bytes(200)
_ECHOES, _IN_FLIGHT, _CALLS = 20_000, 32, 20_000


def echo_load(address: tuple[str, int], cpu_s: Callable[[], float]) -> float:
    """Return the server's CPU microseconds an echo, with some echoes in flight."""
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
    """Return the CPU time in microseconds of one echo of a server in a separate thread."""
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
    """Echo datagrams by a blocking socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        known.append((sock.getsockname(), time.pthread_getcpuclockid(threading.get_ident())))
        while not ended.is_set():
            data, address = sock.recvfrom(2048)
            sock.sendto(data, address)


def endpoint_server(ended: threading.Event, known: list[Any]) -> None:
    """Echo datagrams by the endpoint of a live node."""

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
    """Return the microseconds of a driver step: by entry point, by dispatcher, interpreted."""
    limits = Limits()
    face = face_of(system, {}, NodeParameters(1, 1, 1, limits))
    stepper = Stepper(
        face.node, HelloTable(1, 0, limits.neighbours, limits.heard).neighbourhood, node_id=1,
        incarnation=0, hashes=np.zeros(limits.topics, np.uint64),
    )  # fmt: skip
    record = np.zeros(1, RECORD).view(np.recarray)
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
    """Return the mean CPU microseconds of a call."""
    begun = time.process_time()
    for _ in range(times):
        call()
    return 1e6 * (time.process_time() - begun) / times


def c_echo_us() -> float | None:
    """Return the CPU microseconds of an echo in C; None without a C compiler."""
    library = c_library(Path(__file__).with_name("live_echo.c"))
    if library is None:
        return None
    library.echo.restype = ctypes.c_double
    found: list[float] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(None)
        count = _ECHOES + _IN_FLIGHT
        thread = threading.Thread(target=lambda: found.append(library.echo(sock.fileno(), count)))
        thread.start()
        echo_load(sock.getsockname(), lambda: 0.0)
        thread.join()
    return 1e6 * found[0] / count


class KeyedHost(Host):
    """A host of nodes with keys, each with a certificate of one new network."""

    async def __aenter__(self) -> "Host":
        """Make a network with keys, and start all its live nodes."""
        root, secret = Ed25519PrivateKey.generate(), os.urandom(32)
        root_key, self._securities = root.public_key().public_bytes_raw(), list[KeyedSecurity]()
        for serial in range(self.settings.nodes):
            identity = Identity.new(os.urandom)
            certificate = Certificate(
                network_id_of(root_key), serial, 2**40, 0, identity.signing_public,
                identity.static_public, f"n{serial}", ("#",), ("#",),
            )  # fmt: skip
            membership = Membership(
                identity, signed_certificate(certificate, root), root_key=root_key, secret=secret,
                network="bench", wall=lambda: 0.0,
            )  # fmt: skip
            self._securities.append(
                KeyedSecurity(membership, random=os.urandom, cipher=suitable_cipher(),
                              handshake_rate=1e6)
            )  # fmt: skip
        for one in self._securities:  # publishers are known to nodes that are not neighbours
            for other in self._securities:
                one.membership.learn_certificate(other.membership.own_bytes)
        return await super().__aenter__()

    def _security(self, place: int) -> Security:
        return self._securities[place]


class Load(NamedTuple):
    """The load of a mesh: events a second in turn from every node; `topics` share the nodes."""

    system: str
    nodes: int
    events: int
    rate: float
    topics: int = 1
    options: Mapping[str, float] = {}


async def mesh(load: Load, *, sealed: bool) -> dict[str, float]:
    """Return the deliveries, latencies and datagrams of a mesh of live nodes in this process.

    A node subscribes to one topic, and publishes on all of them in turn.
    """
    settings = Settings(
        load.system, load.options, nodes=load.nodes, compile="now", discover=False, seed=1
    )  # fmt: skip
    async with (KeyedHost if sealed else Host)(settings) as host:
        ages: list[float] = []
        every = host.nodes
        for place, each in enumerate(every):
            each.subscribe(
                f"bench/{place % load.topics}",
                lambda event: None if event.local else ages.append(event.age_s),
            )
        while not all(
            len(each.links.table.neighbours()) == len(each.links.static) for each in every
        ):
            await asyncio.sleep(0.05)
        await asyncio.sleep(3.0 if load.system == "flooding" else 30.0)
        before, cpu, begun = counts_of(host), time.process_time(), time.perf_counter()
        memory, expected = resident_bytes(), 0
        for number in range(load.events):
            place, topic = number % load.nodes, number % load.topics
            await every[place].publish(f"bench/{topic}", PAYLOAD)
            others = len(range(topic, load.nodes, load.topics))
            expected += others - (place % load.topics == topic)
            await asyncio.sleep(max(0.0, begun + (number + 1) / load.rate - time.perf_counter()))
        wall_s = time.perf_counter() - begun
        await asyncio.sleep(2.0)
        cpu_s = time.process_time() - cpu
        received, records, dropped = np.subtract(counts_of(host), before).tolist()
        return {
            "delivered": len(ages) / expected,
            "events_per_s": load.events / wall_s,
            "p50_ms": 1000 * statistics.median(ages) if ages else float("nan"),
            "p99_ms": 1000 * float(np.quantile(ages, 0.99)) if ages else float("nan"),
            "datagrams": received,
            "records": records,
            "cores": cpu_s / (wall_s + 2.0),
            "cpu_us_per_datagram": 1e6 * cpu_s / max(received, 1),
            "cpu_us_per_record": 1e6 * cpu_s / max(records, 1),
            "memory_growth_mb": (resident_bytes() - memory) / 2**20,
            "dropped": dropped,
        }


def counts_of(host: Host) -> tuple[int, int, int]:
    """Return the datagrams and records received so far, and the drops, of all live nodes of a
    host.
    """
    return (
        sum(each.endpoint.received for each in host.nodes),
        sum(each.counts["records received"] for each in host.nodes),
        sum(sum(each.drops.by_reason().values()) for each in host.nodes),
    )


def resident_bytes() -> int:
    """Return the resident memory of this process with its live nodes, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def hop(load: Load, echo_us: float) -> dict[str, float]:
    """Measure a mesh with keys and one without; return the CPU of a hop as multiples of an echo."""
    found: dict[str, float] = {}
    for name, sealed in (("plain", False), ("sealed", True)):
        row = asyncio.run(mesh(load, sealed=sealed))
        found |= {f"{name}, {key}": value for key, value in row.items()}
        found[f"{name}, hop ÷ echo"] = row["cpu_us_per_datagram"] / echo_us
    ratio = found["sealed, cpu_us_per_record"] / found["plain, cpu_us_per_record"]
    return found | {"sealed ÷ plain": ratio}


def main() -> None:
    """Measure echoes, driver steps and meshes of live nodes, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--events", type=int, default=240)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--topics", type=int, default=1)
    parser.add_argument("--system", default="flooding")
    given = parser.parse_args()
    blocking, endpoint, in_c = served(blocking_server), served(endpoint_server), c_echo_us()
    yardstick = in_c or blocking
    echo = {"blocking_us": blocking, "endpoint_us": endpoint, "endpoint ÷ blocking":
            endpoint / blocking}  # fmt: skip
    if in_c:
        echo |= {"c_us": in_c, "endpoint ÷ C": endpoint / in_c}
    load = Load(given.system, given.nodes, given.events, given.rate, given.topics)
    found = {
        "echo": echo, "step_us": step_us(given.system), "mesh": hop(load, yardstick),
    }  # fmt: skip
    if given.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for title, row in found.items():
        rows = [f"  {name:28} {value:12.3f}" for name, value in row.items()]
        sys.stdout.write("\n".join([title, *rows, ""]))


if __name__ == "__main__":
    main()
