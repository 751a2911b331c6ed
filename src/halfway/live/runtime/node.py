"""A live node: one driver of a system, on one socket, with the face of a `Mesh`."""

import asyncio
import hashlib
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from halfway.core.message import EVERYONE, START
from halfway.core.options import Value
from halfway.core.records.checks import REASONS as CHECK_REASONS
from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody
from halfway.live.events.subscriptions import LocalSubscription, Subscriptions
from halfway.live.events.topics import EVERYTHING, filter_problem, topic_problem
from halfway.live.limits import Limits
from halfway.live.link.endpoint import Endpoint
from halfway.live.link.links import Links, OwnHello
from halfway.live.mesh import Event, Level, MeshSubscription, Refusal
from halfway.live.runtime.delivery import Delivery, RetainedSpread
from halfway.live.runtime.event_flow import EventFlow
from halfway.live.security import Security
from halfway.live.step.driver import Driver
from halfway.live.step.flow import Flow
from halfway.live.step.record_bytes import head_of
from halfway.live.step.scheduler import Scheduler
from halfway.live.step.stepper import Stepper
from halfway.live.systems.face import Command, Face
from halfway.live.wire.frames import FrameType

_AT_ONCE = 64  # publications before the loop has its turn
_WANTED_S = 30  # seconds after which all topics are no longer wanted, unless some node repeats it


class NodeIdentity(NamedTuple):
    """What a node is: its name for people, and its present life."""

    name: str
    system: str
    incarnation: int
    rules: int  # 64 bits that nodes of the same system and options share
    hash_key: bytes  # of topics on the wire, equal on all nodes of a network
    period_s: float = 1.0  # of hellos


class MeshNode:
    """A live node. It satisfies `Mesh`. `start` after the loop runs; `stop` ends it.

    face: of its system, for this node alone. log: records kept for a trace, see `Stepper`.
    """

    def __init__(
        self, face: Face, identity: NodeIdentity, security: Security, sock: socket.socket,
        scheduler: Scheduler, limits: Limits, log: int = 0,
    ) -> None:  # fmt: skip
        self.node_id, self.name, self.identity = security.node_id, identity.name, identity
        self.security, self.scheduler, self.limits = security, scheduler, limits
        self.drops, self.counts = Drops(), Counter[str]()
        own = OwnHello(identity.incarnation, identity.rules, identity.name, identity.period_s)
        self.links = Links(security, own, scheduler, limits, self.drops)
        self.subscriptions = Subscriptions(face, identity.hash_key, limits.topics, self._run)
        self.face, table = face, self.subscriptions.table
        self.flow = Flow(face.node.kinds, limits.mtu - security.overhead, table.used)
        self.stepper = Stepper(
            face.node, self.links.table.neighbourhood, node_id=self.node_id,
            incarnation=identity.incarnation, hashes=table.hashes, log=log, flow=self.flow,
        )  # fmt: skip
        self.driver = Driver(self.stepper, self, scheduler.timers)
        kinds = face.node.kinds
        self._publish_kind, self._delivered = kinds.number("publish"), kinds.number("delivered")
        self.events = EventFlow(
            self.flow, security, scheduler, limits, self.drops, self.links.send, self._handle
        )
        self.delivery = Delivery(self.subscriptions, scheduler, self.drops, self.counts)
        self._retained = RetainedSpread(
            self.node_id, self.links, scheduler, self.drops, limits.retained
        )
        self._event, self._publication, self._since_turn = 0, 0, 0
        self._room = asyncio.Event()
        self._room.set()
        self._closed = False
        self._joined = self._turning = False
        self._loop = asyncio.get_running_loop()
        self.links.table.before_change = self._before_change
        self.links.table.after_change = lambda: self.flow.set_neighbours(self.links.table.links())
        self.links.take, self.links.written = self.driver.take, self.flow.taken_datagrams
        self.links.frame, self.links.greeted = self._frame, self._retained.compare
        self.links.retained = self._retained.digest
        self.links.wants_all = lambda: self.subscriptions.wants_all
        self.endpoint = Endpoint(sock, self.links.datagram, self._turn, self.drops, limits.queue)
        self.links.endpoint = self.endpoint

    def start(self) -> None:
        """Start the system and the hellos."""
        if self.face.node.kinds.starts:
            self.driver.command(self.scheduler.now(), int(START))
        self.links.start()
        self.scheduler.arm()

    def stop(self) -> None:
        """Say goodbye to the neighbours, and close the socket. A second call has no effect."""
        if not self._closed:
            self._closed = True
            self._room.set()
            self.links.stop()
            self.endpoint.close()

    async def publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> None:  # fmt: skip
        """Publish an event; wait while the node has no room. See `Mesh.publish`."""
        while not self.try_publish(
            topic, payload, level=level, retain=retain, expiry_s=expiry_s, properties=properties
        ):
            self._room.clear()
            if not self.endpoint.is_full:
                self._turn()
            await self._room.wait()
        if self._since_turn >= _AT_ONCE:
            self._turn()
            await asyncio.sleep(0)

    def try_publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> bool:  # fmt: skip
        """Publish an event unless the node has no room; see `Mesh.try_publish`."""
        body = self._body(topic, payload, level, retain, expiry_s, properties)
        if self.endpoint.is_full or self._since_turn > _AT_ONCE:
            return False
        self._publication = (self._publication + 1) % 2**32
        self._since_turn += 1
        if not self._joined:
            self._joined = True
            for command in self.face.before_publishing():
                self._run(command)
        wanted = not self.face.broadcast and self.links.table.wanted_s(own=False) < _WANTED_S
        for routed in (self.subscriptions.topic_of(topic), *((EVERYTHING,) if wanted else ())):
            self._emit(routed, body)
        self.counts["published"] += 1
        if retain:
            self._retained.give(body)
        own = self.node_id, self.identity.incarnation, self._event - 1
        self.delivery.deliver(own, body, 0, local=True)
        self._turn_soon()
        return True

    def subscribe(self, topic_filter: str, callback: Callable[[Event], None]) -> MeshSubscription:
        """Subscribe to a filter; see `Mesh.subscribe`."""
        if problem := filter_problem(topic_filter):
            raise Refusal("bad filter", f"'{topic_filter}': {problem}")
        if not self.security.permits(self.node_id, "subscribe", topic_filter):
            raise Refusal("not permitted", f"subscribe to '{topic_filter}'")
        full = len(self.subscriptions) >= self.limits.subscriptions
        self.stepper.before_change()
        made = None if full else self.subscriptions.add(topic_filter, callback)
        if made is None:
            raise Refusal("too many subscriptions", f"limit {self.limits.subscriptions}")
        self._turn()
        return made

    def unsubscribe(self, subscription: MeshSubscription) -> None:
        """End a subscription; no effect on one that has ended."""
        assert isinstance(subscription, LocalSubscription)
        self.stepper.before_change()
        self.subscriptions.remove(subscription)
        self._turn()

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained values that a filter matches."""
        return self._retained.matching(topic_filter)

    def transmit(self, record: Any, data: bytes) -> None:
        """Send a record of the driver to its neighbour, or to all of them."""
        head, links = head_of(record), self.links.table.links()
        if head.next == EVERYONE:
            self.counts["records sent"] += len(links)
            self.events.send_record(head.kind, data, head.key, links)
        elif self.links.table.is_link(head.next):
            self.counts["records sent"] += 1
            self.events.send_record(head.kind, data, head.key, [head.next])
        else:
            self.drops.count(Drop.NO_ADDRESS)

    def report(self, record: Any) -> None:
        """Take a report of the driver: deliver an event, or count it."""
        head = head_of(record)
        if head.kind != self._delivered:
            name = self.face.node.kinds.names[head.kind]
            self.counts[f"report: {name}"] += 1
            if name == "unmatched":
                self.drops.count(Drop.UNMATCHED)
            return
        body = self.events.bodies.get(head.key)
        if body is None:
            self.drops.count(Drop.BODIES_FULL)
            return
        self.delivery.deliver(head.key, body, head.hops, local=False)

    def refusals(self) -> dict[str, int]:
        """Return the records refused at the door, by reason."""
        counts = self.stepper.refusals().tolist()
        return {why: n for why, n in zip(CHECK_REASONS, counts, strict=True) if n}

    def _body(
        self, topic: str, payload: bytes, level: Level, retain: bool, expiry_s: float,
        properties: bytes,
    ) -> EventBody:  # fmt: skip
        """The body of an event to publish. Raises Refusal."""
        if self._closed:
            raise Refusal("closed", f"node {self.name}")
        if problem := topic_problem(topic):
            raise Refusal("bad topic", f"'{topic}': {problem}")
        if level is Level.KEPT:
            raise Refusal("disk full", "this node has no journal: use best-effort or hop")
        if not self.security.permits(self.node_id, "publish", topic):
            raise Refusal("not permitted", f"publish on '{topic}'")
        body = EventBody(
            topic, bytes(payload), (self._publication + 1) % 2**32, level, retain, expiry_s,
            properties, self.scheduler.now(),
        )  # fmt: skip
        if body.size() > self.limits.payload:
            what = f"{body.size()} bytes with its topic: expected at most {self.limits.payload}"
            raise Refusal("too large", what)
        return body

    def _emit(self, routed: str, body: EventBody) -> None:
        """Let the system publish an event on one of its topics."""
        number = self.subscriptions.number_of(self.subscriptions.hash_of(routed))
        if number is None:
            self.drops.count(Drop.TOPICS_FULL)
            return
        key = self.node_id, self.identity.incarnation, self._event
        self._event += 1
        self.events.add(key, body)
        self.driver.command(
            self.scheduler.now(), self._publish_kind, topic=number, event=key[2]
        )  # fmt: skip

    def refused(self) -> None:
        """Count a record that the driver could not read, or that its checks refused."""
        unread = self.stepper.unreadable() != 0
        self.drops.count(Drop.UNREADABLE if unread else Drop.REFUSED)

    def timer_ran(self) -> None:
        """Send what a timer sent, behind the other timers that are due."""
        self.scheduler.call_after_timers(self.links.flush)

    def _before_change(self) -> None:
        """Send what waits, and let the log be taken: the neighbours change."""
        self.links.flush()
        self.stepper.before_change()

    def _run(self, command: Command) -> None:
        self.driver.command(self.scheduler.now(), command.kind, topic=command.topic)

    def _frame(self, peer: int, sort: int, content: bytes) -> None:
        """Take a frame of a peer, if it is a neighbour."""
        if not self.links.table.is_link(peer):
            self.drops.count(Drop.STRANGER)
        elif sort == FrameType.RECORD:
            self.events.take_record(peer, content)
        elif sort == FrameType.BODY:
            self.events.take_body(peer, content)
        elif sort == FrameType.WANT:
            self.events.take_want(peer, content)
        elif sort == FrameType.RETAINED:
            self._retained.take(peer, content)

    def _handle(self, peer: int, content: bytes, body: EventBody | None) -> None:
        """Let the driver handle a record of the peer, with the node's numbers of its topics."""
        begin = 1 + 8 * content[0]
        if int.from_bytes(content[begin + 4 : begin + 8], "little") != peer:
            self.drops.count(Drop.WRONG_SENDER)
            return
        numbers = []
        for at in range(1, begin, 8):
            hash64 = int.from_bytes(content[at : at + 8], "little")
            if body is not None:
                self.subscriptions.meet(hash64, body.topic)
            number = self.subscriptions.number_of(hash64)
            if number is None:
                self.drops.count(Drop.TOPICS_FULL)
                return
            if body is not None:
                self.flow.know_topic(hash64, number)
            numbers.append(number)
        self.counts["records received"] += 1
        accepted = self.driver.receive(self.scheduler.now(), content[begin:], numbers)
        if not accepted:
            self.refused()

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Send what waits, and let publishers go on if there is room."""
        self._turning = False
        if self._closed:
            return
        self.links.flush()
        received, sent = self.flow.taken_counts()
        self.counts["records received"] += received
        self.counts["records sent"] += sent
        self._since_turn = 0
        if not self.endpoint.is_full:
            self._room.set()


def rules_digest(system: str, options: Mapping[str, Value], names: Sequence[str]) -> int:
    """Return the 64 bits that equal nodes share: system, options and message kinds."""
    words = repr((system, sorted(options.items()), list(names))).encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little")
