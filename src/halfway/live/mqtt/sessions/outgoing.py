"""The outgoing messages of one MQTT client: a bounded queue, and the exchanges of QoS 1 and 2."""

import math
from collections import deque
from collections.abc import Iterator

import msgspec

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.types import PublishPacket, PubrelPacket
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorDrops, DoorLimits
from halfway.live.mqtt.sessions.messages import ClientDelivery
from halfway.live.mqtt.sessions.stored_sessions import StoredSessions

_LAST_ID = 0xFFFF


class _Exchange(msgspec.Struct, eq=False):
    """A sent message of QoS 1 or 2 that is not acknowledged yet."""

    delivery: ClientDelivery
    is_received: bool = False  # PUBREC has arrived


class Outgoing:
    """The outgoing messages of one MQTT client: waiting, or sent and not acknowledged.

    Messages leave in the order in which they arrived, except that QoS 0 does not wait for the
    window. QoS 0 waits only if the client's connection takes no bytes; at the limit, the oldest
    message is dropped. QoS 1 and 2 also wait while the client is away; at the limit, the newest
    message is dropped.
    """

    def __init__(
        self,
        limits: DoorLimits,
        drops: DoorDrops,
        client_id: str = "",
        memory: StoredSessions | None = None,
    ) -> None:
        self._limits, self._drops = limits, drops
        self._client_id, self._memory = client_id, memory
        self._retained: deque[ClientDelivery] = deque()
        # QoS 1 and 2, and QoS 0, with their numbers in the order of arrival.
        self._acknowledged: deque[tuple[int, ClientDelivery]] = deque()
        self._best_effort: deque[tuple[int, ClientDelivery]] = deque()
        self._arrived = 0
        self._bytes = 0
        self._exchanges: dict[int, _Exchange] = {}
        self._again: deque[int] = deque()  # exchanges that go on with the new connection
        self._unanswered: set[int] = set()  # sent on this connection; they fill the window
        self._last_id = 0

    def __len__(self) -> int:
        """Return the number of outgoing messages of an MQTT client that are not delivered yet."""
        waiting = len(self._retained) + len(self._acknowledged) + len(self._best_effort)
        return waiting + len(self._exchanges)

    @property
    def waiting(self) -> Iterator[ClientDelivery]:
        """The outgoing messages of QoS 1 and 2 that wait and were never sent."""
        return (delivery for _, delivery in self._acknowledged)

    def add(self, delivery: ClientDelivery, *, is_online: bool) -> None:
        """Append a message to the outgoing messages of an MQTT client; at a limit drop one, and
        count the reason.
        """
        if delivery.qos == 0 and not is_online:
            self._drops[DoorDrop.OFFLINE] += 1
            return
        size = delivery.message.size
        while self._best_effort and self._is_full(size):
            self._bytes -= self._best_effort.popleft()[1].message.size
            self._drops[DoorDrop.SLOW] += 1
        if self._is_full(size):
            self._drops[DoorDrop.QUEUE_FULL if delivery.qos else DoorDrop.SLOW] += 1
            return
        if delivery.qos and self._memory is not None:
            delivery = delivery._replace(saved=self._memory.queued(self._client_id, delivery))
        self._append(delivery)

    def _append(self, delivery: ClientDelivery) -> None:
        self._bytes += delivery.message.size
        self._arrived += 1
        queue = self._acknowledged if delivery.qos else self._best_effort
        queue.append((self._arrived, delivery))

    def _is_full(self, size: int) -> bool:
        count = len(self._acknowledged) + len(self._best_effort)
        limits = self._limits
        return count >= limits.queued_messages or self._bytes + size > limits.queued_bytes

    def restore(self, delivery: ClientDelivery, packet_id: int, *, is_received: bool) -> None:
        """Restore an outgoing message of an MQTT client from disk. packet_id: under which it was
        sent, or 0.
        """
        if packet_id:
            self._exchanges[packet_id] = _Exchange(delivery, is_received)
            self._last_id = packet_id
        else:
            self._append(delivery)

    def add_retained(self, delivery: ClientDelivery) -> None:
        """Append a retained message to an MQTT client's outgoing messages; retained messages leave
        before all others.
        """
        if len(self._retained) < self._limits.retained_messages:
            self._retained.append(delivery)
        else:
            self._drops[DoorDrop.QUEUE_FULL] += 1

    def resume(self) -> None:
        """Begin the outgoing messages of an MQTT client on a new connection: send unacknowledged
        messages again, in order.
        """
        self._again = deque(self._exchanges)
        self._unanswered.clear()

    def pause(self) -> None:
        """End the connection of an MQTT client's outgoing messages: drop messages of QoS 0."""
        unsent = [one for one in self._retained if one.qos]
        lost = len(self._best_effort) + len(self._retained) - len(unsent)
        self._drops[DoorDrop.OFFLINE] += lost
        self._bytes -= sum(one.message.size for _, one in self._best_effort)
        self._best_effort.clear()
        self._retained = deque(unsent)

    def end(self) -> None:
        """Drop all outgoing messages of an MQTT client, because the session has ended."""
        self._drops[DoorDrop.SESSION_ENDED] += len(self)
        self._retained.clear()
        self._acknowledged.clear()
        self._best_effort.clear()
        self._exchanges.clear()
        self._bytes = 0

    def next_packets(self, now: float, window: int) -> Iterator[PublishPacket | PubrelPacket]:
        """Take the packets of outgoing messages that the client's window allows now.

        window: the most messages of QoS 1 and 2 that the client has not acknowledged. A packet
        that was taken counts as sent; the caller may stop at any packet.
        """
        yield from self._repeated(now, window)
        while (delivery := self._next(window)) is not None:
            if delivery.message.expires_at <= now:
                self._drops[DoorDrop.EXPIRED] += 1
                self._done(delivery)
            else:
                yield self._begin(delivery, now)

    def _next(self, window: int) -> ClientDelivery | None:
        """Take the oldest outgoing message that may be sent."""
        has_slot = not self._again and len(self._unanswered) < window
        if self._retained and (has_slot or self._retained[0].qos == 0):
            return self._retained.popleft()
        queue = self._best_effort
        may_leave = has_slot and self._acknowledged and not self._retained
        if may_leave and (not queue or self._acknowledged[0][0] < queue[0][0]):
            queue = self._acknowledged
        if not queue:
            return None
        _, delivery = queue.popleft()
        self._bytes -= delivery.message.size
        return delivery

    def _repeated(self, now: float, window: int) -> Iterator[PublishPacket | PubrelPacket]:
        while self._again:
            exchange = self._exchanges.get(self._again[0])
            if exchange is None:
                self._again.popleft()
            elif exchange.is_received:
                yield PubrelPacket(self._again.popleft())
            elif len(self._unanswered) < window:
                packet_id = self._again.popleft()
                self._unanswered.add(packet_id)
                yield _publish(exchange.delivery, packet_id, now, duplicate=True)
            else:
                return

    def _begin(self, delivery: ClientDelivery, now: float) -> PublishPacket:
        if delivery.qos == 0:
            return _publish(delivery, 0, now)
        packet_id = self._free_id()
        self._exchanges[packet_id] = _Exchange(delivery)
        if delivery.saved and self._memory is not None:
            self._memory.sent(delivery.saved, packet_id)
        self._unanswered.add(packet_id)
        return _publish(delivery, packet_id, now)

    def _free_id(self) -> int:
        """Return the next packet id that no exchange of outgoing messages uses."""
        packet_id = self._last_id % _LAST_ID + 1
        while packet_id in self._exchanges:
            packet_id = packet_id % _LAST_ID + 1
        self._last_id = packet_id
        return packet_id

    def received(self, packet_id: int) -> bool:
        """Note the PUBREC of an outgoing message; return False if no exchange has the packet id."""
        exchange = self._exchanges.get(packet_id)
        if exchange is None or exchange.delivery.qos != 2:
            return False
        exchange.is_received = True
        if exchange.delivery.saved and self._memory is not None:
            self._memory.received(exchange.delivery.saved)
        # PUBRELs are repeated in the order in which the PUBRECs arrived [mqtt5 §4.6].
        self._exchanges[packet_id] = self._exchanges.pop(packet_id)
        return True

    def finish(self, packet_id: int, qos: int) -> None:
        """End the exchange of an acknowledged or refused outgoing message; do nothing for another
        QoS.
        """
        exchange = self._exchanges.get(packet_id)
        if exchange is not None and exchange.delivery.qos == qos:
            del self._exchanges[packet_id]
            self._unanswered.discard(packet_id)
            self._done(exchange.delivery)

    def _done(self, delivery: ClientDelivery) -> None:
        if delivery.saved and self._memory is not None:
            self._memory.finished(delivery.saved)


def _publish(
    delivery: ClientDelivery, packet_id: int, now: float, duplicate: bool = False
) -> PublishPacket:
    message = delivery.message
    properties = message.properties
    if message.expires_at != math.inf or delivery.subscription_ids:
        properties = _with(properties, delivery, now)
    return PublishPacket(
        message.topic,
        message.payload,
        delivery.qos,
        delivery.retain,
        duplicate,
        packet_id,
        properties,
    )


def _with(properties: Properties, delivery: ClientDelivery, now: float) -> Properties:
    left_s = delivery.message.expires_at - now
    return msgspec.structs.replace(
        properties,
        message_expiry_s=None if left_s == math.inf else max(0, math.ceil(left_s)),
        subscription_ids=delivery.subscription_ids,
    )
