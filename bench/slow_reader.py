"""Readers of an MQTT door that keep up, beside a reader of one message a second and a stopped one.

A writer publishes at a constant rate. Four readers keep up. The runs alternate: the four readers
alone, beside two further readers that keep up, and beside a slow reader and a stopped reader. Each
run has a new `halfway node`. The readers and the writer are processes of their own, with sockets.
The second p99 is the median of the p99 of each second, so a pause of the machine counts once.
python bench/slow_reader.py [--json] [--pairs N] [--no-further] [--seconds S] [--rate N] [--qos 0|1]
"""

import argparse
import json
import multiprocessing
import os
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.live.mqtt.packets.stream import PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT3,
    ConnectPacket,
    PubackPacket,
    PublishPacket,
    SubscribePacket,
    TopicRequest,
)
from side_by_side import remark

READERS, SETTLE_S, QUIET_S, READY_S = 4, 3.0, 2.0, 60.0
RUNS = ("alone", "two further readers", "slow and stopped reader")
TOPIC = "bench/slow"
SMALL = 64 * 1024  # the receive buffer of slow readers, so that the kernel keeps few messages
_STAMP = struct.Struct("<qd")  # number, time of the publication
_PAYLOAD = 200


class Load(NamedTuple):
    """What the writer publishes: messages a second, for how many seconds, with a QoS."""

    rate: int
    seconds: float
    qos: int


class Client:
    """An MQTT 3.1.1 client on a socket, which acknowledges messages of QoS 1."""

    def __init__(self, port: int, name: str, receive_buffer: int = 0) -> None:
        self.codec = PacketStream(MQTT3)
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(READY_S)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(self.codec.send(ConnectPacket(name, MQTT3)))
        self.codec.receive(self.socket.recv(64))

    def subscribe(self, qos: int) -> None:
        """Subscribe to the topic of the benchmark."""
        self.socket.sendall(self.codec.send(SubscribePacket(1, (TopicRequest(TOPIC, qos),))))
        self.codec.receive(self.socket.recv(64))

    def messages(self, size: int = 1 << 18) -> list[bytes]:
        """Read what has arrived, acknowledge it, and return the payloads."""
        packets = self.codec.receive(self.socket.recv(size))
        taken = [one for one in packets if isinstance(one, PublishPacket)]
        acknowledged = [one.packet_id for one in taken if one.qos]
        if acknowledged:
            self.socket.sendall(b"".join(self.codec.send(PubackPacket(k)) for k in acknowledged))
        return [one.payload for one in taken]


def read(port: int, count: int, qos: int, pipe: Connection) -> None:
    """Run readers that keep up; send the number and the latency of each message of the first four.

    Ends when no message came for a while after the word of the benchmark.
    """
    ready, taken = selectors.DefaultSelector(), list[tuple[int, float]]()
    for place in range(count):
        client = Client(port, f"reader-{place}")
        client.subscribe(qos)
        ready.register(client.socket, selectors.EVENT_READ, (place, client))
    pipe.send(None)
    last = time.monotonic()
    while not (pipe.poll() and time.monotonic() - last > QUIET_S):
        for key, _ in ready.select(0.5):
            place, client = key.data
            payloads = client.messages()
            last = time.monotonic()
            for payload in payloads if place < READERS else []:
                number, sent = _STAMP.unpack_from(payload)
                taken.append((number, last - sent))
    pipe.send(taken)


def read_slowly(port: int, qos: int, pipe: Connection) -> None:
    """Run a reader that takes one message a second, and a reader that has stopped."""
    stopped, slow = (Client(port, name, SMALL) for name in ("stopped", "slow"))
    for client in (stopped, slow):
        client.subscribe(qos)
    pipe.send(None)
    while not pipe.poll(1.0):
        slow.messages(_PAYLOAD + len(TOPIC) + 5 + 2 * bool(qos))  # bytes of one message
    pipe.send(None)


def write(port: int, load: Load, pipe: Connection) -> None:
    """Publish messages of QoS 0 or 1 at a constant rate, from the word of the benchmark on."""
    client = Client(port, "writer")
    pipe.send(None)
    pipe.recv()
    client.socket.setblocking(True)
    begun = time.monotonic()
    for number in range(int(load.rate * load.seconds)):
        time.sleep(max(0.0, begun + number / load.rate - time.monotonic()))
        payload = _STAMP.pack(number, time.monotonic()).ljust(_PAYLOAD, b"\0")
        one = PublishPacket(TOPIC, payload, load.qos, packet_id=number % 65_535 + 1)
        client.socket.sendall(client.codec.send(one))
        if load.qos and number % 64 == 63:
            client.codec.receive(client.socket.recv(1 << 16))
    pipe.send(None)
    pipe.recv()


@contextmanager
def node(name: str) -> Iterator[tuple[int, int]]:
    """Run a node with an MQTT door; yield its process and the port of its door."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = int(one.getsockname()[1])
    command = ["node", "--name", name, "--network", name, "--no-discover", "--mqtt", str(port)]
    process = subprocess.Popen([sys.executable, "-m", "halfway", *command],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        until = time.monotonic() + READY_S
        while not status(name).get("compiled"):
            if time.monotonic() > until:
                raise TimeoutError(f"node {name}: not ready after {READY_S} s")
            time.sleep(0.5)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()


def status(name: str) -> dict[str, Any]:
    """Return the status of a node, or an empty dictionary where no node answers."""
    command = [sys.executable, "-m", "halfway", "status", "--node", name, "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.returncode == 0 else {}


def memory_mb(process: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(kind: str, load: Load) -> dict[str, Any]:
    """Measure one run of a new node: what the four readers received, memory and drops."""
    name = f"slow-{os.getpid()}"
    with node(name) as (process, port):
        count = READERS + 2 * (kind == RUNS[1])
        parts: dict[str, tuple[Callable[..., None], tuple[Any, ...]]]
        parts = {"readers": (read, (port, count, load.qos)), "writer": (write, (port, load))}
        if kind == RUNS[2]:
            parts["slow"] = (read_slowly, (port, load.qos))
        pipes = {}
        for part, (function, arguments) in parts.items():
            pipes[part], far = multiprocessing.Pipe()
            multiprocessing.Process(target=function, args=(*arguments, far), daemon=True).start()
            far.close()  # a part that fails ends the run with EOFError
            pipes[part].recv()
        before, used = memory_mb(process), os.getloadavg()[0]
        largest = before
        pipes["writer"].send(None)
        while not pipes["writer"].poll(0.2):
            largest = max(largest, memory_mb(process))
        pipes["readers"].send(None)
        taken = np.array(pipes["readers"].recv())
        drops = status(name)["mqtt"]["drops"]
        for part in ("writer", "slow"):
            if part in pipes:
                pipes[part].send(None)
    taken[:, 1] *= 1000
    counted = taken[taken[:, 0] >= load.rate * SETTLE_S]
    p50, p99 = np.percentile(counted[:, 1], (50, 99))
    seconds = counted[:, 0] // load.rate
    p99s = [np.percentile(counted[seconds == k, 1], 99) for k in np.unique(seconds)]
    return {
        "run": kind, "delivered": len(taken) / (READERS * int(load.rate * load.seconds)),
        "p50_ms": round(float(p50), 2), "p99_ms": round(float(p99), 2),
        "median_p99_ms": round(statistics.median(map(float, p99s)), 2),
        "growth_mb": round(largest - before, 1), "drops": drops, "load": used,
    }  # fmt: skip


def main() -> int:
    """Run the alternating runs, and print each run and the medians of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--no-further", action="store_true", help="no runs with further readers")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--qos", type=int, choices=(0, 1), default=0)
    asked = parser.parse_args()
    load = Load(asked.rate, asked.seconds, asked.qos)
    kinds, rows = (RUNS[::2] if asked.no_further else RUNS), []
    for number in range(asked.pairs):
        for kind in kinds[:: 1 - 2 * (number % 2)]:
            rows.append(run(kind, load))
            line = json.dumps(rows[-1]) if asked.json else text_of(rows[-1])
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    for what in ("p50_ms", "p99_ms", "median_p99_ms"):
        values = {kind: [one[what] for one in rows if one["run"] == kind] for kind in kinds}
        for base in kinds[:-1]:
            ratios = [a / b for a, b in zip(values[RUNS[2]], values[base], strict=True)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            remark(f"{what}, {RUNS[2]} / {base}: {statistics.median(ratios):.2f} ({spread})")
    return 0


def text_of(row: dict[str, Any]) -> str:
    """Return a line with the results of a run."""
    return (
        f"{row['run']:<24} {row['delivered']:8.3%}  p50 {row['p50_ms']:7.2f} ms  "
        f"p99 {row['p99_ms']:7.2f} ms ({row['median_p99_ms']:.2f} ms)  "
        f"{row['growth_mb']:+6.1f} MB  load {row['load']:.1f}  {row['drops']}"
    )


if __name__ == "__main__":
    sys.exit(main())
