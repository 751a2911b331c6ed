"""The MQTT door compared with Mosquitto, in one run, with unmodified clients of paho.

Latency: a message of QoS 1 to another client and back. Throughput: messages of QoS 0 from one
client to another, by clients of paho, and by plain sockets. The clients of paho share a process,
and need more processor time than a server. The door's mesh is in memory, so only the door is
measured.
python bench/mqtt_door.py [--json] [--rounds N]
"""

import argparse
import asyncio
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from halfway.live.mesh import Level
from halfway.live.mqtt.memory_mesh import MemoryNetwork
from halfway.live.mqtt.mqtt_door import MqttDoor
from halfway.live.mqtt.packets.stream import PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT3,
    ConnectPacket,
    PublishPacket,
    SubscribePacket,
    TopicRequest,
)
from halfway.live.mqtt.policy.door_limits import DoorLimits
from side_by_side import YARDSTICK, race, show

NAMES = {YARDSTICK: "Mosquitto, in C"}
LIMITS = DoorLimits(queued_messages=10**7, queued_bytes=2**40)  # as Mosquitto is set up here
TRIPS, MESSAGES, PAYLOAD = 20, 20_000, bytes(200)


def serve(port: int) -> None:
    """Run an MQTT door in this process, for ever."""

    async def forever() -> None:
        levels = (Level.BEST_EFFORT, Level.HOP, Level.HOP)
        door = MqttDoor(MemoryNetwork().node(), levels=levels, limits=LIMITS)
        await door.listen("127.0.0.1", port)
        await asyncio.Event().wait()

    asyncio.run(forever())


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def wait_for_server(port: int) -> None:
    """Wait until an MQTT server accepts connections."""
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"port {port}: no server after 10 s")


@contextmanager
def servers() -> Iterator[dict[str, int]]:
    """Start the MQTT door, and Mosquitto where it is installed; yield their ports by name."""
    ports = {"halfway door": free_port()}
    door = multiprocessing.Process(target=serve, args=(ports["halfway door"],), daemon=True)
    door.start()
    program = shutil.which("mosquitto", path=os.pathsep.join([*os.get_exec_path(), "/usr/sbin"]))
    other = None
    with tempfile.TemporaryDirectory() as folder:
        if program:
            ports[YARDSTICK] = free_port()
            text = f"listener {ports[YARDSTICK]} 127.0.0.1\nallow_anonymous true\n"
            (Path(folder) / "conf").write_text(text + "max_queued_messages 0\nlog_type none\n")
            other = subprocess.Popen([program, "-c", f"{folder}/conf"])
        try:
            for port in ports.values():
                wait_for_server(port)
            yield ports
        finally:
            door.terminate()
            if other is not None:
                other.terminate()
                other.wait()


def subscriber(
    port: int, topic: str, on_message: Callable[[paho.MQTTMessage], object]
) -> paho.Client:
    """Return a client of paho that has subscribed to a topic, with QoS 1."""
    made, ready = paho.Client(CallbackAPIVersion.VERSION2), threading.Event()
    made.max_queued_messages_set(0)

    def answer(_client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        on_message(message)

    made.on_message = answer
    made.on_subscribe = lambda *_: ready.set()
    made.connect("127.0.0.1", port)
    made.subscribe(topic, 1)
    made.loop_start()
    if not ready.wait(timeout=10):
        raise TimeoutError("no answer to a subscription in 10 s")
    return made


def trips(port: int) -> Callable[[], None]:
    """Return a function that sends messages of QoS 1 to another client and back, in turn."""
    back = threading.Semaphore(0)
    echo = subscriber(port, "there", lambda message: echo.publish("back", message.payload, 1))
    near = subscriber(port, "back", lambda _: back.release())

    def all_trips() -> None:
        for _ in range(TRIPS):
            near.publish("there", PAYLOAD, 1)
            if not back.acquire(timeout=10):
                raise TimeoutError("a message did not come back in 10 s")

    return all_trips


def paho_stream(port: int) -> Callable[[], None]:
    """Return a function that sends messages of QoS 0 from one client of paho to another."""
    arrived = threading.Semaphore(0)
    source = subscriber(port, "unused", lambda _: None)
    subscriber(port, "a/topic", lambda _: arrived.release())

    def all_messages() -> None:
        for _ in range(MESSAGES):
            source.publish("a/topic", PAYLOAD)
        for _ in range(MESSAGES):
            if not arrived.acquire(timeout=10):
                raise TimeoutError("a message did not arrive in 10 s")

    return all_messages


def stream(port: int) -> Callable[[], None]:
    """Return a function that sends messages of QoS 0 from one socket to another."""
    codec = PacketStream(MQTT3)

    def connected(name: str) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", port), 30)
        made.sendall(codec.send(ConnectPacket(name, MQTT3)))
        made.recv(4)
        return made

    source, target = connected("source"), connected("target")
    target.sendall(codec.send(SubscribePacket(1, (TopicRequest("a/topic", 0),))))
    target.recv(5)
    one = codec.send(PublishPacket("a/topic", PAYLOAD))
    batch = one * 100

    def all_messages() -> None:
        def send() -> None:
            for _ in range(MESSAGES // 100):
                source.sendall(batch)

        sender = threading.Thread(target=send)
        sender.start()
        left = MESSAGES * len(one)
        while left > 0:
            left -= len(target.recv(1 << 18))
        sender.join()

    return all_messages


def main() -> int:
    """Race the MQTT door and Mosquitto, and print latency and throughput."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with servers() as ports:
        latency = race(
            {name: trips(port) for name, port in ports.items()},
            "trips of QoS 1, there and back", asked.rounds, TRIPS,
        )  # fmt: skip
        by_paho = race(
            {name: paho_stream(port) for name, port in ports.items()},
            "messages of QoS 0, 200 B, by clients of paho", asked.rounds, MESSAGES,
        )  # fmt: skip
        throughput = race(
            {name: stream(port) for name, port in ports.items()},
            "messages of QoS 0, 200 B, by plain sockets", asked.rounds, MESSAGES,
        )  # fmt: skip
    rows = [*latency, *by_paho, *throughput]
    show([one._replace(name=NAMES.get(one.name, one.name)) for one in rows], asked.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
