"""The two ends of a link with Halfway, Mosquitto, NATS and Zenoh, for `live_links.py`.

Each end is a Python process, with the tool's own Python library.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

PAYLOAD = bytes(200)
_QUIET_S = 1.0  # without a message, a one-way run has ended
_TRIP_S = 5.0  # an answer that takes longer is lost
_GROUP = 256  # kept events that wait for the disk together


class Place(NamedTuple):
    """What both processes of a tool know: the port of its server or node, and a folder."""

    port: int
    folder: str
    plain: bool


class Sink:
    """What the far process received one way: the count, and the times of the first and last."""

    def __init__(self) -> None:
        self.count, self.first, self.last = 0, 0.0, 0.0

    def take(self) -> None:
        """Count a message."""
        self.last = time.monotonic()
        self.count += 1
        if self.count == 1:
            self.first = self.last

    def per_second(self, pipe: Connection) -> None:
        """Wait for the word of the near process and a quiet second, and send count and rate."""
        while not pipe.poll(0.05):
            pass
        pipe.recv()
        while time.monotonic() - self.last < _QUIET_S:
            time.sleep(0.05)
        pipe.send((self.count, (self.count - 1) / max(self.last - self.first, 1e-9)))


End = Callable[[Place, Connection], None]
# The near end of a tool: sends many messages one way; then, one after the other, trips.
Publish = Callable[[str, bytes], Awaitable[None]]


async def near_end(publish: Publish, answers: "asyncio.Queue[None]", pipe: Connection) -> None:
    """Do what the benchmark asks through its pipe, with one tool."""
    loop = asyncio.get_running_loop()
    while (asked := await loop.run_in_executor(None, pipe.recv)) is not None:
        what, count = asked
        if what == "one way":
            for _ in range(count):
                await publish("oneway", PAYLOAD)
            pipe.send(None)
            continue
        taken = list[float]()
        for _ in range(count):
            begun = time.perf_counter()
            await publish("there", PAYLOAD)
            async with asyncio.timeout(_TRIP_S):
                await answers.get()
            taken.append(time.perf_counter() - begun)
        pipe.send(taken)


def halfway_settings(place: Place, name: str, *, kept: bool) -> dict[str, Any]:
    """Return the settings of one of Halfway's two nodes."""
    keys = {"certificate": Path(place.folder) / f"home/members/{name}.cert",
            "key": Path(place.folder) / f"{name}.key"}  # fmt: skip
    state = {"state": Path(place.folder) / f"{name}-{place.port}"} if kept else {}
    return {"compile": "now", "discover": False, **state, **({} if place.plain else keys)}


def halfway_far(place: Place, pipe: Connection, *, kept: bool = False) -> None:
    """Run Halfway's far node."""
    import halfway.live

    sink = Sink()

    async def run() -> None:
        settings = halfway_settings(place, "far", kept=kept)
        async with halfway.live.node(port=place.port, **settings) as node:
            node.mesh.subscribe("oneway", lambda _: sink.take())
            events = node.subscribe("there")
            pipe.send(None)
            task = asyncio.create_task(asyncio.to_thread(sink.per_second, pipe))
            level = "kept" if kept else "best-effort"
            async for _ in events:
                await node.publish("back", PAYLOAD, level=level)
            await task

    asyncio.run(run())


def halfway_near(place: Place, pipe: Connection, *, kept: bool = False) -> None:
    """Run Halfway's near node."""
    import halfway.live

    async def run() -> None:
        peers = [f"127.0.0.1:{place.port}"]
        settings = halfway_settings(place, "near", kept=kept)
        async with halfway.live.node(peers=peers, **settings) as node:
            await node.neighbours()
            answers = asyncio.Queue[None]()
            node.mesh.subscribe("back", lambda _: answers.put_nowait(None))
            await asyncio.sleep(2.0)
            pipe.send(None)
            await near_end(in_groups(node) if kept else node.publish, answers, pipe)

    asyncio.run(run())


def in_groups(node: Any) -> Publish:
    """Return a function that publishes a kept event at a node. It does not wait for the disk while
    fewer than _GROUP events wait for it.
    """
    waiting = set[asyncio.Task[None]]()

    async def publish(topic: str, payload: bytes) -> None:
        one = asyncio.create_task(node.publish(topic, payload, level="kept"))
        waiting.add(one)
        one.add_done_callback(waiting.discard)
        if len(waiting) >= _GROUP:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)

    return publish


def paho_client(place: Place, topics: list[str], take: Callable[[str], object]) -> Any:
    """Return a client of Mosquitto that has subscribed."""
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion

    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.max_queued_messages_set(0)

    def on_message(_client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        take(message.topic)

    client.on_message = on_message
    ready = threading.Event()
    client.on_subscribe = lambda *_: ready.set()
    client.connect("127.0.0.1", place.port)
    client.loop_start()
    client.subscribe([(topic, 0) for topic in topics])
    ready.wait(10.0)
    return client


def paho_far(place: Place, pipe: Connection) -> None:
    """Run the far client of Mosquitto."""
    sink = Sink()

    def take(topic: str) -> None:
        if topic == "there":
            client.publish("back", PAYLOAD)
        else:
            sink.take()

    client = paho_client(place, ["oneway", "there"], take)
    pipe.send(None)
    sink.per_second(pipe)
    threading.Event().wait()


def paho_near(place: Place, pipe: Connection) -> None:
    """Run the near client of Mosquitto."""

    async def run() -> None:
        answers, loop = asyncio.Queue[None](), asyncio.get_running_loop()
        client = paho_client(
            place, ["back"], lambda _: loop.call_soon_threadsafe(answers.put_nowait, None)
        )

        async def publish(topic: str, payload: bytes) -> None:
            client.publish(topic, payload)

        pipe.send(None)
        await near_end(publish, answers, pipe)

    asyncio.run(run())


def nats_far(place: Place, pipe: Connection) -> None:
    """Run the far client of NATS."""
    import nats

    sink = Sink()

    async def run() -> None:
        client = await nats.connect(f"nats://127.0.0.1:{place.port}")

        async def take(_: Any) -> None:
            sink.take()

        async def answer(_: Any) -> None:
            await client.publish("back", PAYLOAD)

        await client.subscribe("oneway", cb=take, pending_msgs_limit=-1, pending_bytes_limit=-1)
        await client.subscribe("there", cb=answer)
        await client.flush()
        pipe.send(None)
        await asyncio.to_thread(sink.per_second, pipe)
        await asyncio.Event().wait()

    asyncio.run(run())


def nats_near(place: Place, pipe: Connection) -> None:
    """Run the near client of NATS."""
    import nats

    async def run() -> None:
        client = await nats.connect(f"nats://127.0.0.1:{place.port}")
        answers = asyncio.Queue[None]()

        async def take(_: Any) -> None:
            answers.put_nowait(None)

        await client.subscribe("back", cb=take)
        await client.flush()
        pipe.send(None)
        await near_end(client.publish, answers, pipe)

    asyncio.run(run())


def zenoh_session(place: Place, role: str) -> Any:
    """Return a session of Zenoh: two peers, without a router."""
    import zenoh

    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5(f"{role}/endpoints", f'["tcp/127.0.0.1:{place.port}"]')
    return zenoh.open(config)


def zenoh_far(place: Place, pipe: Connection) -> None:
    """Run the far peer of Zenoh."""
    sink = Sink()
    session = zenoh_session(place, "listen")
    back = session.declare_publisher("back")
    kept = [session.declare_subscriber("oneway", lambda _: sink.take()),
            session.declare_subscriber("there", lambda _: back.put(PAYLOAD))]  # fmt: skip
    pipe.send(None)
    sink.per_second(pipe)
    threading.Event().wait()
    kept.clear()


def zenoh_near(place: Place, pipe: Connection) -> None:
    """Run the near peer of Zenoh."""
    import zenoh

    async def run() -> None:
        session = zenoh_session(place, "connect")
        answers, loop = asyncio.Queue[None](), asyncio.get_running_loop()
        kept = session.declare_subscriber(
            "back", lambda _: loop.call_soon_threadsafe(answers.put_nowait, None)
        )
        # Without BLOCK, Zenoh drops messages while its queue is full.
        block = zenoh.CongestionControl.BLOCK
        out = {
            key: session.declare_publisher(key, congestion_control=block)
            for key in ("oneway", "there")
        }

        async def publish(topic: str, payload: bytes) -> None:
            out[topic].put(payload)

        await asyncio.sleep(2.0)
        pipe.send(None)
        await near_end(publish, answers, pipe)
        kept.undeclare()

    asyncio.run(run())


TOOLS: dict[str, tuple[End, End]] = {
    "halfway": (halfway_far, halfway_near),
    "halfway, kept": (partial(halfway_far, kept=True), partial(halfway_near, kept=True)),
    "mosquitto": (paho_far, paho_near),
    "nats": (nats_far, nats_near),
    "zenoh": (zenoh_far, zenoh_near),
}
