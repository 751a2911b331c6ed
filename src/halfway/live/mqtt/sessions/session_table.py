"""The table of all MQTT sessions of a door: sessions begin, attach, detach and expire, with their
wills.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress

from halfway.live.mesh import Event, Mesh, Refusal
from halfway.live.mqtt.policy.access import Permissions
from halfway.live.mqtt.policy.door_limits import DoorDrops, DoorLimits
from halfway.live.mqtt.sessions.client_session import ClientSession, grant_of
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.door_subscriptions import DoorSubscriptions
from halfway.live.mqtt.sessions.keyed_timers import KeyedTimers
from halfway.live.mqtt.sessions.messages import (
    ClientDelivery,
    Publication,
    publication,
    received_before,
)
from halfway.live.mqtt.sessions.shares import EXPIRY_S
from halfway.live.mqtt.sessions.stored_sessions import SavedMessage, SavedSession, StoredSessions

TimerKey = tuple[str, Connection | ClientSession | None]  # kinds of due actions
ANNOUNCE: TimerKey = ("announce", None)


class Table:
    """The table of the MQTT sessions of a door.

    The caller transmits the output of the connections in `changed`, and then publishes the content
    of `outbox`. The caller calls `expire` for the keys of `timers` that have a session. on_event:
    the function that the mesh calls with each event, and that calls `deliver`.
    """

    def __init__(
        self,
        mesh: Mesh,
        limits: DoorLimits,
        on_event: Callable[[Event], None],
        memory: StoredSessions | None = None,
    ) -> None:
        self.limits, self.memory = limits, memory
        self.drops: DoorDrops = Counter()
        self.sessions: dict[str, ClientSession] = {}  # by client id
        self.online: dict[str, Connection] = {}  # by client id
        self.timers: KeyedTimers[TimerKey] = KeyedTimers()
        self.outbox: deque[tuple[Publication, Connection | None]] = deque()
        self.changed: dict[Connection, None] = {}  # in order
        self.subscriptions = DoorSubscriptions(mesh, limits, self.drops, on_event)

    def new_session(self, client_id: str, username: str | None) -> ClientSession | None:
        """Return a new session of an MQTT client in the table of sessions, or None if there are too
        many.
        """
        if len(self.sessions) >= self.limits.sessions:
            return None
        session = ClientSession(client_id, username, self.limits, self.drops, self.memory)
        self.sessions[client_id] = session
        return session

    def attach(
        self, session: ClientSession, connection: Connection, permissions: Permissions
    ) -> None:
        """Bring a session of the table online, and cancel its delayed will."""
        for what in ("will", "expiry"):
            self.timers.cancel((what, session))
        session.is_online, session.permissions = True, permissions
        session.outgoing.resume()
        self.online[session.client_id] = connection
        self.changed[connection] = None
        self.subscriptions.shares.touch()
        self.save(session)

    def save(self, session: ClientSession) -> None:
        """Let the door's memory store a session of the table, if the door has a memory."""
        if self.memory is not None:
            requests = [
                (grant.request, grant.subscription_ids) for grant in session.grants.values()
            ]
            saved = SavedSession(
                session.client_id, session.username, session.expiry_s, 0.0, requests,
                session.permissions,
            )  # fmt: skip
            self.memory.session(saved, is_online=session.is_online)

    def restore(self, now: float) -> None:
        """Fill the table with the sessions that the door's memory has of the last start."""
        if self.memory is None:
            return
        for saved, messages, taken in self.memory.restored_sessions():
            left_s = self.memory.left_s(saved)
            session = self.new_session(saved.client_id, saved.username) if left_s > 0 else None
            if session is None:
                self.memory.ended(saved.client_id)
                continue
            session.expiry_s, session.permissions = saved.expiry_s, saved.permissions
            for request, ids in saved.requests:
                with suppress(Refusal):
                    self.subscriptions.grant(session, grant_of(request, ids), now)
            for stored in messages:
                self._restore_message(self.memory, session, stored)
            for packet_id in taken:
                session.receiving[packet_id] = received_before(packet_id)
            self.timers.set(("expiry", session), now + left_s)
            self.save(session)

    def _restore_message(
        self, memory: StoredSessions, session: ClientSession, one: SavedMessage
    ) -> None:
        message = one.message(memory.expires_at(one))
        delivery = ClientDelivery(
            message, one.qos, one.retain, one.subscription_ids, one.share, one.number
        )
        session.outgoing.restore(delivery, one.packet_id, is_received=one.is_received)

    def detach(self, connection: Connection, now: float, *, with_will: bool = True) -> None:
        """Take the session of a connection in the table offline, unless another connection has it.

        with_will: publish the will, after its delay or at the end of the session.
        """
        connection.is_closing = True
        self.changed[connection] = None
        self.timers.cancel(("keep alive", connection))
        session = connection.session
        if session is None or self.online.get(session.client_id) is not connection:
            return
        del self.online[session.client_id]
        session.is_online = False
        session.outgoing.pause()
        self.subscriptions.shares.touch()
        if not with_will:
            session.will = None
        delay_s = 0 if session.will is None else session.will.properties.will_delay_s or 0
        if delay_s == 0:
            self.publish_will(session)
        if session.expiry_s <= 0:
            self.end(session, now)
            return
        if delay_s:
            self.timers.set(("will", session), now + delay_s)
        self.timers.set(("expiry", session), now + session.expiry_s)
        self.save(session)

    def end(self, session: ClientSession, now: float) -> None:
        """End a session of the table that is offline: publish its will, and end its
        subscriptions.
        """
        self.publish_will(session)
        for topic_filter in list(session.grants):
            self.subscriptions.revoke(session, topic_filter)
        waiting = list(session.outgoing.waiting)
        session.outgoing.end()
        del self.sessions[session.client_id]
        if self.memory is not None:
            self.memory.ended(session.client_id)
        for what in ("will", "expiry"):
            self.timers.cancel((what, session))
        for delivery in waiting:  # another session of the share receives it [mqtt5 §4.8.2]
            if delivery.share is not None and delivery.qos == 1:
                chosen = self.subscriptions.deliver_shared(
                    delivery.message, delivery.share, b"", now
                )
                self._note(chosen)

    def publish_will(self, session: ClientSession) -> None:
        """Publish the will of a session of the table, once."""
        if session.will is not None:
            will, session.will = session.will, None
            self.outbox.append((publication(will, will.topic, session.origin), None))

    def expire(self, what: str, session: ClientSession, now: float) -> None:
        """Carry out the due action of a session of the table: publish its delayed will, or end
        it.
        """
        if what == "will":
            self.publish_will(session)
        else:
            self.end(session, now)

    def deliver(self, event: Event, now: float) -> None:
        """Pass an event from the mesh to the sessions of the table that receive it."""
        self._note(self.subscriptions.deliver(event, now))

    def _note(self, sessions: Iterable[ClientSession]) -> None:
        for session in sessions:
            if session.is_online:
                self.changed[self.online[session.client_id]] = None

    def announce(self, now: float, *, is_repeated: bool = False) -> None:
        """Append the announcement of shared subscriptions to the outbox of the session table, if
        the shares have changed.

        is_repeated: announce them in any case.
        """
        shares = self.subscriptions.shares
        payload = shares.announcement(is_repeated=is_repeated)
        if payload is None:
            return
        expiry_s = EXPIRY_S if payload else math.inf
        publication = Publication(shares.topic, payload, 0, True, expiry_s, b"")
        self.outbox.append((publication, None))
        if payload:
            self.timers.set(ANNOUNCE, now + EXPIRY_S / 3)
        else:
            self.timers.cancel(ANNOUNCE)
