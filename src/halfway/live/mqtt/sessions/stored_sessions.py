"""MQTT sessions in the journal, so that they survive a restart of the node's process.

The records are changes: a session with its subscriptions, a waiting message, the end of a message,
and the packet ids of QoS 2. Times on disk are times of the wall clock.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from halfway.live.mqtt.packets.fields import PacketFields
from halfway.live.mqtt.packets.properties import read_properties, write_properties
from halfway.live.mqtt.packets.types import TopicRequest
from halfway.live.mqtt.policy.access import Permissions
from halfway.live.mqtt.sessions.messages import ClientDelivery, Message

SESSION, ENDED, QUEUED, SENT, RECEIVED, FINISHED, TAKEN, RELEASED = range(10, 18)  # kinds
SPARE = {ENDED, FINISHED, RELEASED}  # they make other records needless


class SavedSession(msgspec.Struct, array_like=True):
    """An MQTT session in the form of the journal. ended: when its client went, seconds since 1970;
    0: online.
    """

    client_id: str
    username: str | None
    expiry_s: float
    ended: float
    requests: list[tuple[TopicRequest, tuple[int, ...]]]
    permissions: Permissions


class SavedMessage(msgspec.Struct, array_like=True):
    """A message for an MQTT client in the form of the journal."""

    number: int
    client_id: str
    qos: int
    retain: bool
    subscription_ids: tuple[int, ...]
    share: tuple[str, str] | None
    topic: str
    payload: bytes
    message_qos: int
    message_retain: bool
    properties: bytes
    origin: bytes
    expires: float  # seconds since 1970; inf: never
    packet_id: int = 0  # 0: it was not sent yet
    is_received: bool = False  # PUBREC has arrived

    def message(self, expires_at: float) -> Message:
        """Return the message that the journal has for an MQTT session. expires_at: seconds of the
        door's clock.
        """
        fields = PacketFields(self.properties)
        return Message(
            self.topic, self.payload, self.message_qos, self.message_retain,
            read_properties(fields, "publish"), self.origin, expires_at,
        )  # fmt: skip


class StoredSessions:
    """The MQTT sessions of a door in the journal; it is a `JournalPart`.

    write: a function that appends a record (kind, bytes, spare), and raises an exception of type
    `refusal` without room; then the session exists in the process only. clock: clock of the door.
    wall: seconds since 1970.
    """

    def __init__(
        self,
        write: Callable[[int, bytes, bool], object],
        refusal: type[Exception],
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._append, self._refusal, self._clock, self._wall = write, refusal, clock, wall
        self.sessions: dict[str, SavedSession] = {}
        self.messages: dict[int, SavedMessage] = {}  # by number, in the order of arrival
        self.taken: dict[str, dict[int, None]] = {}  # packet ids of QoS 2 by client id
        self._number = 0
        self.unsaved = 0  # records for which the journal had no room

    # What the sessions note

    def session(self, saved: SavedSession, *, is_online: bool) -> None:
        """Write an MQTT session and its subscriptions to the journal; a session that ends with its
        connection is not kept.
        """
        if saved.expiry_s <= 0 and saved.client_id not in self.sessions:
            return
        saved.ended = 0.0 if is_online else self._wall()
        self.sessions[saved.client_id] = saved
        self._write(SESSION, saved)

    def ended(self, client_id: str) -> None:
        """Save that an MQTT session has ended, with all its messages."""
        if self.sessions.pop(client_id, None) is not None:
            self._forget(client_id)
            self._write(ENDED, client_id)

    def queued(self, client_id: str, delivery: ClientDelivery) -> int:
        """Save a message that waits in an MQTT session; return its number, 0 if it is not saved."""
        if client_id not in self.sessions:
            return 0
        self._number += 1
        message, left_s = delivery.message, delivery.message.expires_at - self._clock()
        saved = SavedMessage(
            number=self._number, client_id=client_id, qos=delivery.qos, retain=delivery.retain,
            subscription_ids=delivery.subscription_ids, share=delivery.share, topic=message.topic,
            payload=message.payload, message_qos=message.qos, message_retain=message.retain,
            properties=write_properties(message.properties, "publish"), origin=message.origin,
            expires=self._wall() + left_s,
        )  # fmt: skip
        self.messages[self._number] = saved
        self._write(QUEUED, saved)
        return self._number

    def sent(self, number: int, packet_id: int) -> None:
        """Save the packet id with which a message left an MQTT session."""
        if number in self.messages:
            self.messages[number].packet_id = packet_id
            self._write(SENT, (number, packet_id))

    def received(self, number: int) -> None:
        """Save that the PUBREC of a message has arrived in an MQTT session."""
        if number in self.messages:
            self.messages[number].is_received = True
            self._write(RECEIVED, number)

    def finished(self, number: int) -> None:
        """Save that a message of an MQTT session is done: acknowledged, expired or dropped."""
        if self.messages.pop(number, None) is not None:
            self._write(FINISHED, number)

    def save_qos2(self, client_id: str, packet_id: int) -> None:
        """Save that an MQTT session has a message of QoS 2 from its client, until `release`."""
        if client_id in self.sessions:
            self.taken.setdefault(client_id, {})[packet_id] = None
            self._write(TAKEN, (client_id, packet_id))

    def release(self, client_id: str, packet_id: int) -> None:
        """Save that the PUBREL of a message of QoS 2 from an MQTT client has arrived."""
        if self.taken.get(client_id, {}).pop(packet_id, 0) is None:
            self._write(RELEASED, (client_id, packet_id))

    # The journal

    def restore(self, kind: int, data: bytes) -> bool:
        """Take back a record of an MQTT session from the journal. Return False for a record of
        another part.
        """
        if not SESSION <= kind <= RELEASED:
            return False
        with suppress(msgspec.MsgspecError, ValueError):  # another version wrote it
            self._take_back(kind, data)
        return True

    def snapshot(self) -> Iterator[tuple[int, bytes]]:
        """Yield the journal's records for the present state of the MQTT sessions."""
        for session in self.sessions.values():
            yield SESSION, msgspec.msgpack.encode(session)
        for message in self.messages.values():
            yield QUEUED, msgspec.msgpack.encode(message)
        for client_id, packet_ids in self.taken.items():
            for packet_id in packet_ids:
                yield TAKEN, msgspec.msgpack.encode((client_id, packet_id))

    def left_s(self, session: SavedSession) -> float:
        """Return the seconds until the stored session of an absent MQTT client expires."""
        # ended is 0 if the client was online when the process ended. The wall clock may have gone
        # back since then.
        now = self._wall()
        return session.expiry_s - max(now - (session.ended or now), 0.0)

    def expires_at(self, message: SavedMessage) -> float:
        """Return when a message of a stored MQTT session expires, by the clock of the door."""
        return self._clock() + message.expires - self._wall()

    def restored_sessions(self) -> Iterator[tuple[SavedSession, list[SavedMessage], list[int]]]:
        """Yield each MQTT session from the journal, with its messages and the packet ids of QoS 2
        from its client.
        """
        of: dict[str, list[SavedMessage]] = {}
        for message in self.messages.values():
            of.setdefault(message.client_id, []).append(message)
        for client_id, saved in list(self.sessions.items()):
            yield saved, of.get(client_id, []), list(self.taken.get(client_id, ()))

    def _take_back(self, kind: int, data: bytes) -> None:
        decode = msgspec.msgpack.decode
        if kind == SESSION:
            session = decode(data, type=SavedSession)
            self.sessions[session.client_id] = session
        elif kind == ENDED:
            client_id = decode(data, type=str)
            self.sessions.pop(client_id, None)
            self._forget(client_id)
        elif kind == QUEUED:
            message = decode(data, type=SavedMessage)
            self.messages[message.number] = message
            self._number = max(self._number, message.number)
        elif kind == SENT:
            number, packet_id = decode(data, type=tuple[int, int])
            if number in self.messages:
                self.messages[number].packet_id = packet_id
        elif kind == FINISHED:
            self.messages.pop(decode(data, type=int), None)
        elif kind == RECEIVED:
            number = decode(data, type=int)
            if number in self.messages:
                self.messages[number].is_received = True
        else:
            client_id, packet_id = decode(data, type=tuple[str, int])
            ids = self.taken.setdefault(client_id, {})
            if kind == TAKEN:
                ids[packet_id] = None
            else:
                ids.pop(packet_id, None)

    def _forget(self, client_id: str) -> None:
        self.taken.pop(client_id, None)
        for number in [n for n, one in self.messages.items() if one.client_id == client_id]:
            del self.messages[number]

    def _write(self, kind: int, content: Any) -> None:
        try:
            self._append(kind, msgspec.msgpack.encode(content), kind in SPARE)
        except self._refusal:
            self.unsaved += 1
