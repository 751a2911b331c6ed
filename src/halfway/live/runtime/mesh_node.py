"""The mesh node: a live node with one driver of a system on one socket, which offers a `Mesh`."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

from halfway.core.message import EVERYONE
from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey, new_body
from halfway.live.events.local_subscriptions import LocalSubscription, Subscriptions
from halfway.live.kept.kept_service import KeptService
from halfway.live.limits import Limits
from halfway.live.link.links import LinkCallbacks, Links
from halfway.live.mesh import Event, Level, MeshSubscription, Refusal, no_events
from halfway.live.runtime.body_exchange import BodyExchange
from halfway.live.runtime.local_delivery import Delivery
from halfway.live.runtime.node_identity import NodeIdentity
from halfway.live.runtime.own_events import OwnEvents, SystemReports
from halfway.live.runtime.probe_routes import Hop, Routes
from halfway.live.runtime.retained_exchange import RetainedExchange
from halfway.live.security import Security
from halfway.live.step.datagram_flow import Flow
from halfway.live.step.node_driver import Driver
from halfway.live.step.node_stepper import Stepper
from halfway.live.step.record_head import head_of
from halfway.live.step.refused_hops import RefusedHops
from halfway.live.step.scheduler import Scheduler
from halfway.live.systems.entry import Entry
from halfway.live.systems.face import Command, Face
from halfway.live.topic_filters import OWN, filter_problem
from halfway.live.wire.frames import FrameType, record_prefix

AT_ONCE = 64  # publications before the loop has its turn


class MeshNode:
    """A mesh node, which is live. Call `start` once the event loop runs; `stop` ends the node.

    face: live face for this node only. log: number of records kept for a trace, see `Stepper`.
    """

    def __init__(
        self, face: Face, identity: NodeIdentity, security: Security, sock: socket.socket,
        scheduler: Scheduler, limits: Limits, log: int = 0,
    ) -> None:  # fmt: skip
        self.node_id, self.name, self.identity = security.node_id, identity.name, identity
        self.security, self.scheduler, self.limits = security, scheduler, limits
        self.drops, self.counts = Drops(), Counter[str]()
        self.links = Links(security, identity.own_hello(), scheduler, limits, self.drops)
        self.subscriptions = Subscriptions(face, identity.hash_key, limits.topics, self._run)
        self.face, table = face, self.subscriptions.table
        self.flow = Flow(face.node.kinds, self.links.record_capacity, table.used)
        self.stepper = Stepper(
            face.node, self.links.table.neighbourhood, node_id=self.node_id,
            incarnation=identity.incarnation, hashes=table.hashes, log=log, flow=self.flow,
        )  # fmt: skip
        self.driver = Driver(self.stepper, self, scheduler.timers, hop_age_s=face.hop_age_s)
        self.events = events = BodyExchange(
            self.flow, security, scheduler, limits, self.drops, self.links.send, self._handle
        )
        self.delivery = Delivery(self.subscriptions, scheduler, self.drops, self.counts)
        self.retained_values = RetainedExchange(
            self.node_id, self.links, scheduler, self.drops, limits
        )
        self.routes = Routes(self.node_id, self.name, self.links, scheduler.now, self.drops)
        self.members = face.member_view(self.name, scheduler.now, self.links.table.name_of)
        self.reports = SystemReports(
            self.node_id, face.node.kinds, events.bodies, self.delivery, self.routes, self.members
        )
        self.own_events = OwnEvents(
            (self.node_id, identity.incarnation), self.subscriptions, self.events,
            self.routes, self.links.table, self._run, self.drops, scheduler,
        )  # fmt: skip
        table.before_new = self.stepper.before_change
        self.entry = Entry(face, scheduler, self._run, self.links.flush)
        self.retained_values.connect(events.ask_certificate, self.reports.take_value)
        self._publication, self._since_turn = 0, 0
        self._not_full, self._loop = asyncio.Event(), asyncio.get_running_loop()
        self._not_full.set()
        self.kept: KeptService | None = None  # of a node with a journal
        self._turning = self._closed = False
        self.on_report: Callable[[Any], None] = lambda _record: None
        self.links.table.before_change = self._before_change
        self.links.table.after_change = self._after_change
        refused_hops = RefusedHops(face.node.kinds, self.node_id, identity.incarnation)
        events.limit_publishers(self.links.waiting.length_of, refused_hops)
        self.endpoint = self.links.connect(sock, self._turn, LinkCallbacks(
            handle_frames=self.driver.handle_frames, written=self.flow.taken_datagrams,
            frame=self._frame, greeted=self.retained_values.compare,
            retained=self.retained_values.digest, wants_all=lambda: self.subscriptions.wants_all,
        ))  # fmt: skip

    def start(self) -> None:
        """Start the system and the hellos."""
        self.entry.start()
        self.links.start()
        self.scheduler.arm()

    def stop(self) -> None:
        """End the links and close the socket. No effect on a second call."""
        if not self._closed:
            self._closed = True
            self._not_full.set()
            if self.kept is not None:
                self.kept.stop()
            self.entry.leave_overlay()
            self.links.stop()
            self.endpoint.close()

    async def publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> None:  # fmt: skip
        """Publish an event; wait while the node has no room. See `Mesh.publish`."""
        body = self._body(topic, payload, level, retain, expiry_s, properties)
        while self._is_full and not self._closed:
            self._not_full.clear()
            if not self.endpoint.is_full:
                self._turn()
            await self._not_full.wait()
        if self._closed:
            raise Refusal("closed", f"node {self.name}")
        on_disk = self._publish(body)
        if self._since_turn >= AT_ONCE:
            self._turn()
            await asyncio.sleep(0)
        if on_disk is not None:
            await on_disk

    def try_publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> bool:  # fmt: skip
        """Publish an event unless the node has no room; see `Mesh.try_publish`."""
        body = self._body(topic, payload, level, retain, expiry_s, properties)
        if self._is_full:
            return False
        self._publish(body)
        return True

    @property
    def _is_full(self) -> bool:
        return self.endpoint.is_full or self._since_turn > AT_ONCE

    def _publish(self, body: EventBody) -> "asyncio.Future[None] | None":
        """Publish an event; return the future of a kept event's write to disk."""
        self._publication = (self._publication + 1) % 2**32
        body = body._replace(publication=self._publication)
        on_disk = None
        if body.level is Level.KEPT and self.kept is not None:
            body, on_disk = self.kept.publisher.publish(body)
        else:
            self.own_events.publish(body)
        self._since_turn += 1
        self.counts["published"] += not body.topic.startswith(OWN)
        if body.retain:
            self.retained_values.give(body._replace(epoch=self.identity.incarnation))
        own = self.node_id, self.identity.incarnation, 0
        self.delivery.deliver(own, body, 0, local=True)
        self._turn_soon()
        return on_disk

    def probe(self, topic: str, answered: Callable[[Hop, float], None]) -> list[EventKey]:
        """Publish a probe event for `Routes.ask`; return its keys."""
        body = self._body(topic, b"", Level.BEST_EFFORT, False, float("inf"), b"")
        keys = self.own_events.publish(body._replace(probe=True), answered)
        self._turn()
        return keys

    def subscribe(self, topic_filter: str, callback: Callable[[Event], None]) -> MeshSubscription:
        """Subscribe to a filter; see `Mesh.subscribe`."""
        if self.members is not None:
            raise no_events(self.identity.system)
        if problem := filter_problem(topic_filter):
            raise Refusal("bad filter", f"'{topic_filter}': {problem}")
        if not self.security.permits(self.node_id, "subscribe", topic_filter):
            raise Refusal("not permitted", f"subscribe to '{topic_filter}'")
        full = len(self.subscriptions) >= self.limits.subscriptions
        self.stepper.before_change()
        made = None if full else self.subscriptions.add(topic_filter, callback)
        if made is None and full:
            raise Refusal("too many subscriptions", f"limit {self.limits.subscriptions}")
        if made is None:
            raise Refusal("topics full", f"limit {self.limits.topics}")
        made.since = self.scheduler.now()
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
        return self.retained_values.matching(topic_filter)

    def transmit(self, record: Any, data: bytes) -> None:
        """Send a record of the driver to its neighbour, or to all of them."""
        self.counts["transmissions"] += 1
        head, links = head_of(record), self.links.table.neighbours()
        if head.next == EVERYONE:
            self.counts["records sent"] += len(links)
            self.events.send_record(head.kind, data, head.key, links)
        elif self.links.table.is_link(head.next):
            self.counts["records sent"] += 1
            self.events.send_record(head.kind, data, head.key, [head.next])
        else:
            self.drops.count(Drop.NO_ADDRESS)

    def report(self, record: Any) -> None:
        """Take a report of the driver."""
        self.on_report(record)
        self.reports.take(head_of(record))

    def _body(
        self, topic: str, payload: bytes, level: Level, retain: bool, expiry_s: float,
        properties: bytes,
    ) -> EventBody:  # fmt: skip
        """Return the body of an event to publish. Raises Refusal."""
        if self._closed:
            raise Refusal("closed", f"node {self.name}")
        if self.members is not None:
            raise no_events(self.identity.system)
        if level is Level.KEPT and self.kept is None:
            raise Refusal("not kept here", "this node has no journal: start it with --state DIR")
        if not self.security.permits(self.node_id, "publish", topic):
            raise Refusal("not permitted", f"publish on '{topic}'")
        now, most = self.scheduler.now(), self.limits.payload
        return new_body(topic, payload, level, retain, expiry_s, properties, now, most)

    def count_full(self) -> None:
        """Count an item that the driver dropped for want of room."""
        self.drops.count(Drop.FULL)

    def refused(self) -> Drop:
        """Count a record that the driver could not read, or that its checks refused."""
        why = Drop.UNREADABLE if self.stepper.unreadable() != 0 else Drop.REFUSED
        self.drops.count(why)
        return why

    def timer_ran(self) -> None:
        """Send the frames of a timer, after all other due timers have run."""
        self.scheduler.call_after_timers(self.links.flush)

    def _before_change(self) -> None:
        """Send the waiting frames, and let the log be taken: neighbours change."""
        self.links.flush()
        self.stepper.before_change()

    def _after_change(self) -> None:
        """Let the flow and the members know the present neighbours."""
        self.flow.set_neighbours(self.links.table.neighbours())
        if self.members is not None:
            self.members.note_names()

    def _run(self, command: Command) -> None:
        """Let the driver handle a command. Its frames leave at the end of the turn."""
        self.driver.command(
            self.scheduler.now(), command.kind, command.topic, command.arg, command.event
        )
        self._turn_soon()

    def _frame(self, peer: int, frame_type: int, content: bytes) -> None:
        """Take a peer's frame, if the peer is a neighbour."""
        if not self.links.table.is_link(peer):
            self.drops.count(Drop.STRANGER)
        elif frame_type == FrameType.RETAINED:
            self.retained_values.on_frame(peer, content)
        elif not self.events.on_frame(peer, frame_type, content):
            self.routes.on_frame(peer, frame_type, content)

    def _handle(self, peer: int, content: bytes, body: EventBody | None) -> None:
        """Let the driver handle a peer's record, with the node's own topic numbers."""
        hashes, begin, sender, hops = record_prefix(content)
        if sender != peer:
            self.drops.count(Drop.WRONG_SENDER)
            return
        numbers = self.subscriptions.numbers_of(hashes, None if body is None else body.topic)
        if numbers is None:
            self.drops.count(Drop.TOPICS_FULL)
            return
        if body is not None:
            for hash64, number in zip(hashes, numbers, strict=True):
                self.flow.know_topic(hash64, number)
        self.counts["records received"] += 1
        probed = self.events.key_of(content) if body is not None and body.probe else None
        if probed is not None:
            self.routes.reached(probed, peer, hops)
        dropped = self.driver.dropped
        if not self.driver.receive(self.scheduler.now(), content[begin:], numbers):
            why = Drop.FULL if self.driver.dropped > dropped else self.refused()
            if probed is not None:
                self.routes.ended(probed, why)

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """End a turn: send waiting frames; publishers go on if there is room."""
        self._turning = False
        if self._closed:
            return
        self.links.flush()
        taken = self.flow.taken_counts()
        self.counts["records received"] += taken.received
        self.counts["records sent"] += taken.sent
        self.counts["transmissions"] += taken.transmissions
        self._since_turn = 0
        if not self.endpoint.is_full:
            self._not_full.set()
