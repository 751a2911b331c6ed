"""Acknowledged events of MQTT clients while nodes are killed: which are lost.

Five nodes form a ring; each is a process with a journal. A paho client publishes numbers with QoS 1
at the door of the first node, and another one with a persistent session reads at the third. One
node after the other gets SIGKILL, and starts again at once. The program prints one JSON object.

    python bench/kept_kills.py [--seconds 600] [--every-s 10] [--rate 20] [--system flooding]
"""

import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from halfway.cli.program import Parser, positive, run, whole

NODES, PUBLISHER_AT, READER_AT = 5, 0, 2
TOPIC, EXPIRY_S, QUIET_S, WAIT_S = "bench/kills", 86_400, 10.0, 120.0


class Ports(NamedTuple):
    """The ports of one live node on loopback."""

    udp: int
    mqtt: int


class Ring:
    """The processes of all nodes of a ring that are killed."""

    def __init__(self, folder: Path, system: str) -> None:
        self._folder, self._system = folder, system
        self.ports = [Ports(free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM))
                      for _ in range(NODES)]  # fmt: skip
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Ring":
        """Start all nodes of the ring."""
        self._processes = [self._started(place) for place in range(NODES)]
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def kill(self, place: int) -> None:
        """Kill a node of the ring by SIGKILL, and start it again."""
        self._processes[place].send_signal(signal.SIGKILL)
        self._processes[place].wait()
        self._processes[place] = self._started(place)

    def _started(self, place: int) -> subprocess.Popen[bytes]:
        own, beside = self.ports[place], ((place + 1) % NODES, (place - 1) % NODES)
        peers = [word for one in beside for word in ("--peer", f"127.0.0.1:{self.ports[one].udp}")]
        command = [
            sys.executable, "-m", "halfway", "node", "--system", self._system, "--no-discover",
            "--port", str(own.udp), "--mqtt", str(own.mqtt), "--name", f"ring-{place}",
            "--network", f"kills-{os.getpid()}", "--state", str(self._folder / str(place)), *peers,
        ]  # fmt: skip
        quiet = subprocess.DEVNULL
        environment = os.environ | {"HALFWAY_RUN": str(self._folder)}
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)


def free_port(kind: int) -> int:
    """Return a port of loopback that is free now."""
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def client(name: str, port: int) -> paho.Client:
    """Return a client of paho that connects again, with a session that stays."""
    made = paho.Client(CallbackAPIVersion.VERSION2, name, protocol=paho.MQTTv5)
    made.reconnect_delay_set(1, 1)
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = EXPIRY_S
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            made.connect("127.0.0.1", port, clean_start=False, properties=properties)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    made.loop_start()
    return made


def measured(ring: Ring, seconds: float, every_s: float, rate: float) -> dict[str, Any]:
    """Publish while nodes of the ring are killed; return what was acknowledged and what arrived."""
    got, acked, waiting = Counter[int](), dict[int, float](), dict[int, int]()
    arrived_at: list[float] = []
    reader = client("reader", ring.ports[READER_AT].mqtt)

    def arrived(_c: Any, _u: Any, message: paho.MQTTMessage) -> None:
        got[int(message.payload)] += 1
        arrived_at.append(time.monotonic())

    reader.on_message = arrived
    reader.on_connect = lambda c, *_: c.subscribe(TOPIC, 1)
    reader.subscribe(TOPIC, 1)
    time.sleep(3.0)
    publisher = client("publisher", ring.ports[PUBLISHER_AT].mqtt)

    def acknowledged(_c: Any, _u: Any, mid: int, reason: Any, _p: Any) -> None:
        if mid in waiting and not reason.is_failure:
            acked[waiting.pop(mid)] = time.monotonic()

    publisher.on_publish = acknowledged
    draw, begun, number, kills = random.Random(1), time.monotonic(), 0, Counter[int]()
    while (now := time.monotonic() - begun) < seconds:
        if now > (kills.total() + 1) * every_s:
            victim = draw.randrange(NODES)
            ring.kill(victim)
            kills[victim] += 1
        if len(waiting) < 50:
            waiting[publisher.publish(TOPIC, str(number), 1).mid] = number
            number += 1
        time.sleep(1 / rate)
    deadline = time.monotonic() + WAIT_S
    while (waiting or acked.keys() - got.keys()) and time.monotonic() < deadline:
        time.sleep(0.1)
    repaired_s = time.monotonic() - begun - seconds
    time.sleep(QUIET_S)
    for one in (publisher, reader):
        one.loop_stop()
    return {
        "seconds": seconds, "kills": kills.total(), "kills_by_place": dict(sorted(kills.items())),
        "published": number, "acknowledged": len(acked),
        "acknowledged_and_lost": len(acked.keys() - got.keys()),
        "arrived": len(got), "arrived_again": sum(got.values()) - len(got),
        "longest_without_ack_s": longest(list(acked.values())),
        "longest_without_arrival_s": longest(arrived_at), "repaired_s": repaired_s,
    }  # fmt: skip


def longest(times: list[float]) -> float:
    """Return the longest time between two of the given times of kept events."""
    some = sorted(times)
    return max((after - before for before, after in itertools.pairwise(some)), default=0.0)


def main() -> None:
    """Run the ring of live nodes, and print what was lost."""
    parser = Parser(description=__doc__)
    parser.add_argument("--seconds", type=positive, default=600.0)
    parser.add_argument("--every-s", type=positive, default=10.0, help="between two kills")
    parser.add_argument("--rate", type=whole(1, 1000), default=20, help="events a second")
    parser.add_argument("--system", default="flooding")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Ring(Path(folder), given.system) as ring:
        found = measured(ring, given.seconds, given.every_s, given.rate)
    sys.stdout.write(json.dumps({"system": given.system} | found) + "\n")


if __name__ == "__main__":
    sys.exit(run(main))
