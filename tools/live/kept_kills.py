"""Acknowledged events of MQTT clients while nodes are killed: which are lost.

Five nodes form a ring; each is a process with a journal. A paho client publishes numbers with QoS 1
at the door of the first node, and another one with a persistent session reads at the third. One
node after the other gets SIGKILL, and starts again at once. The program prints one JSON object.

    python -m tools.live.kept_kills [--seconds 600] [--every-s 10] [--rate 20] [--system flooding]
"""

import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tools.live.door_processes import DoorProcesses

from halfway.cli.program import Parser, positive, run, whole

NODES, PUBLISHER_AT, READER_AT = 5, 0, 2
TOPIC, EXPIRY_S, QUIET_S, WAIT_S = "bench/kills", 86_400, 10.0, 120.0


def ring_in(folder: Path, system: str) -> DoorProcesses:
    """Return the processes of a ring, each of which has the two beside it as peers."""
    return DoorProcesses(
        folder, NODES, lambda k: ((k + 1) % NODES, (k - 1) % NODES), ["--system", system]
    )


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


def measured(ring: DoorProcesses, seconds: float, every_s: float, rate: float) -> dict[str, Any]:
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
    with tempfile.TemporaryDirectory() as folder, ring_in(Path(folder), given.system) as ring:
        found = measured(ring, given.seconds, given.every_s, given.rate)
    sys.stdout.write(json.dumps({"system": given.system} | found) + "\n")


if __name__ == "__main__":
    sys.exit(run(main))
