"""The delivery of events to the applications of a node, and the retained values of the network."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator

from halfway.live.callbacks import ignore
from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey, decoded, encoded, identity_of
from halfway.live.events.local_subscriptions import LocalSubscription, Subscriptions
from halfway.live.events.retained import (
    VERSION_BYTES,
    RetainedTable,
    Version,
    version_bytes,
    version_in,
)
from halfway.live.limits import Limits
from halfway.live.link.links import Links
from halfway.live.mesh import Event
from halfway.live.seconds_histogram import SecondsHistogram
from halfway.live.step.scheduler import Scheduler
from halfway.live.topic_filters import OWN
from halfway.live.wire.frames import FrameType, frame

REMEMBERED = 8192  # publications that reached an application, to detect repetitions
_RETAINED_EVERY_S = 5.0  # between two exchanges of retained values with one neighbour


class Delivery:
    """The delivery of a node's events: each publication at most once to each subscription."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        scheduler: Scheduler,
        drops: Drops,
        counts: Counter[str],
    ) -> None:
        self._subscriptions, self._scheduler = subscriptions, scheduler
        self._drops, self._counts = drops, counts
        self.ages = SecondsHistogram()  # ages of events of other nodes at their delivery
        self._seen: OrderedDict[EventKey, None] = OrderedDict()

    def deliver(self, key: EventKey, body: EventBody, hops: int, *, local: bool) -> None:
        """Deliver an event to the subscriptions of a node's applications whose filters match."""
        publication = identity_of(key, body)
        now = self._scheduler.now()
        if publication in self._seen:
            self._drops.count(Drop.DUPLICATE)
            return
        matching = self._subscriptions.matching(body.topic)
        if not matching:
            return
        if body.is_over(now):
            self._drops.count(Drop.EXPIRED)
            return
        self._hand_over(matching, event_of(publication, body, now, hops=hops, local=local))
        self._seen[publication] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        """Deliver an event to a node's applications that certainly did not receive it before."""
        event = event_of(identity_of(key, body), body, self._scheduler.now(), hops=hops)
        self._hand_over(self._subscriptions.matching(body.topic), event)

    def _hand_over(self, found: list[LocalSubscription], event: Event) -> None:
        if not event.topic.startswith(OWN):
            self._counts["delivered"] += len(found)
            if found and not event.local:
                self.ages.observe(event.age_s)
        for subscription in found:
            subscription.callback(event)


class RetainedExchange:
    """The exchange of retained values between a node and its neighbours."""

    def __init__(
        self, node_id: int, links: Links, scheduler: Scheduler, drops: Drops, limits: Limits
    ) -> None:
        self._node_id, self._links, self._scheduler = node_id, links, scheduler
        self._drops = drops
        self._table = RetainedTable(limits.retained, limits.retained_bytes)
        self._sent: dict[int, float] = {}  # when all values were sent to a neighbour
        # A callback for a neighbour and the id of a node whose certificate is missing.
        self.unknown: Callable[[int, int], None] = ignore
        # A callback for each new value, which a node with a journal writes there.
        self.changed: Callable[[Version, EventBody], None] = ignore

    def __len__(self) -> int:
        return len(self._table)

    def digest(self) -> int:
        """Return a 64-bit digest of the retained values of a node."""
        return self._table.digest

    def restore(self, version: Version, body: EventBody) -> None:
        """Take back a retained value that the node had before its start."""
        self._table.put(version, body)

    def values(self) -> Iterator[tuple[Version, EventBody]]:
        """Yield every retained value of the network with its version, also the values that have
        ended.
        """
        return self._table.all()

    def matching(self, topic_filter: str) -> list[Event]:
        """Return the retained values of the network that a filter matches.

        Their numbers are the numbers of their versions.
        """
        now = self._scheduler.now()
        return [
            event_of((version[1], 0, version[0] & 2**31 - 1), body, now)
            for version, body in self._table.matching(topic_filter, now)
        ]

    def give(self, body: EventBody) -> None:
        """Publish a new retained value of a topic."""
        self._keep(self._table.next_version(self._node_id), body, but=self._node_id)

    def take(self, peer: int, content: bytes) -> None:
        """Take a RETAINED frame of a neighbour. Raises ValueError for other bytes."""
        version = version_in(content)
        body = decoded(content[VERSION_BYTES:], self._scheduler.now())
        if not self._links.security.knows(version[1]):
            self.unknown(peer, version[1])  # the neighbour sends the value again
            return
        if not self._links.security.permits(version[1], "publish", body.topic):
            self._drops.count(Drop.NOT_PERMITTED)
            return
        self._keep(version, body, but=peer)

    def compare(self, peer: int) -> None:
        """Send all retained values of the network to a neighbour whose last hello has another
        digest, once in 5 s.
        """
        heard, now = self._links.table.heard()[peer], self._scheduler.now()
        last = self._sent.get(peer, -_RETAINED_EVERY_S)
        if heard.hello.retained == self._table.digest or now - last < _RETAINED_EVERY_S:
            return
        self._sent = {key: at for key, at in self._sent.items() if now - at < _RETAINED_EVERY_S}
        self._sent[peer] = now
        for version, body in self._table.all():
            self._links.send(peer, _retained_frame(version, body, now))

    def _keep(self, version: Version, body: EventBody, but: int) -> None:
        """Keep a retained value of the network. Forward a new value to the other neighbours."""
        refused, is_new = self._table.refused, self._table.put(version, body)
        self._drops.count(Drop.RETAINED_FULL, self._table.refused - refused)
        if is_new:
            self.changed(version, body)
            whole = _retained_frame(version, body, self._scheduler.now())
            for peer in self._links.table.links():
                if peer != but:
                    self._links.send(peer, whole)


def event_of(
    key: EventKey, body: EventBody, now: float, *, hops: int = 0, local: bool = False
) -> Event:
    """Return an event as applications receive it."""
    age = max(now - body.born, 0.0)
    return Event(
        topic=body.topic,
        payload=body.payload,
        publisher=key[0],
        epoch=key[1],
        number=key[2],
        level=body.level,
        retain=body.retain,
        age_s=age,
        expiry_s=body.expiry_s - age,
        properties=body.properties,
        local=local,
        hops=hops,
    )


def _retained_frame(version: Version, body: EventBody, now: float) -> bytes:
    return frame(FrameType.RETAINED, version_bytes(version) + encoded(body, now))
