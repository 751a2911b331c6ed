"""The exchange of retained values between a live node and its neighbours, in RETAINED frames."""

from collections.abc import Callable, Iterator

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey, decoded, encoded
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
from halfway.live.runtime.local_delivery import event_of
from halfway.live.step.scheduler import Scheduler
from halfway.live.wire.frames import FrameType, frame

_RETAINED_EVERY_S = 5.0  # between two exchanges of retained values with one neighbour


class RetainedExchange:
    """The exchange of retained values between a node and its neighbours."""

    def __init__(
        self, node_id: int, links: Links, scheduler: Scheduler, drops: Drops, limits: Limits
    ) -> None:
        self._node_id, self._links, self._scheduler = node_id, links, scheduler
        self._drops = drops
        self._table = RetainedTable(limits.retained, limits.retained_bytes)
        self._sent: dict[int, float] = {}  # when all values were sent to a neighbour
        self._unknown: Callable[[int, int], None] = lambda _, __: None
        self._arrived: Callable[[EventKey, EventBody], None] = lambda _, __: None
        # A callback for each new value, which a node with a journal writes there.
        self.changed: Callable[[Version, EventBody], None] = lambda _, __: None

    def __len__(self) -> int:
        return len(self._table)

    def connect(
        self, unknown: Callable[[int, int], None], arrived: Callable[[EventKey, EventBody], None]
    ) -> None:
        """Set the callbacks of the exchange of retained values. unknown: for a neighbour, and the
        id of a node whose certificate is missing. arrived: for each new value of a neighbour.
        """
        self._unknown, self._arrived = unknown, arrived

    def digest(self) -> int:
        """Return the 64-bit digest by which neighbours see that they must exchange retained
        values.
        """
        return self._table.digest

    def restore(self, version: Version, body: EventBody) -> None:
        """Take back a retained value from before the node's start, without an exchange with
        neighbours.
        """
        self._table.put(version, body)

    def values(self) -> Iterator[tuple[Version, EventBody]]:
        """Yield every retained value in the exchange with its version, also the values that have
        ended.
        """
        return self._table.all()

    def matching(self, topic_filter: str) -> list[Event]:
        """Return the retained values in the exchange with neighbours that a filter matches.

        Their numbers are the numbers of their versions.
        """
        now = self._scheduler.now()
        return [
            event_of((version[1], 0, version[0] & 2**31 - 1), body, now)
            for version, body in self._table.matching(topic_filter, now)
        ]

    def give(self, body: EventBody) -> None:
        """Publish a new retained value of a topic to all neighbours."""
        self._keep(self._table.next_version(self._node_id), body, but=self._node_id)

    def on_frame(self, peer: int, content: bytes) -> None:
        """Take a retained value from a neighbour's RETAINED frame; pass a new one on to neighbours
        and applications. Raises ValueError for other bytes.

        The applications receive the end of a value only if this node had the value.
        """
        version = version_in(content)
        body = decoded(content[VERSION_BYTES:], self._scheduler.now())
        if not self._links.security.knows(version[1]):
            self._unknown(peer, version[1])  # the neighbour sends the value again
            return
        if not self._links.security.permits(version[1], "publish", body.topic):
            self._drops.count(Drop.NOT_PERMITTED)
            return
        had_value = self._table.has_value(body.topic)
        if self._keep(version, body, but=peer) and (body.payload or had_value):
            self._arrived((version[1], body.epoch, 0), body)

    def compare(self, peer: int) -> None:
        """Send all retained values to a neighbour whose last hello has another digest, once in 5
        s.
        """
        heard, now = self._links.table.heard()[peer], self._scheduler.now()
        last = self._sent.get(peer, -_RETAINED_EVERY_S)
        if heard.hello.retained == self._table.digest or now - last < _RETAINED_EVERY_S:
            return
        self._sent = {key: at for key, at in self._sent.items() if now - at < _RETAINED_EVERY_S}
        self._sent[peer] = now
        for version, body in self._table.all():
            self._links.send(peer, _retained_frame(version, body, now))

    def _keep(self, version: Version, body: EventBody, but: int) -> bool:
        """Keep a retained value of the exchange. Forward a new value to the other neighbours.
        Return whether it is new.
        """
        refused, is_new = self._table.refused, self._table.put(version, body)
        self._drops.count(Drop.RETAINED_FULL, self._table.refused - refused)
        if is_new:
            self.changed(version, body)
            whole = _retained_frame(version, body, self._scheduler.now())
            for peer in self._links.table.neighbours():
                if peer != but:
                    self._links.send(peer, whole)
        return is_new


def _retained_frame(version: Version, body: EventBody, now: float) -> bytes:
    return frame(FrameType.RETAINED, version_bytes(version) + encoded(body, now))
