"""The MQTT packet PUBLISH and its answers, in both directions between door and clients."""

from halfway.live.mqtt.packets.fields import Violation, protocol_error
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import (
    PubackPacket,
    PubcompPacket,
    PublishPacket,
    PubrecPacket,
    PubrelPacket,
)
from halfway.live.mqtt.policy.door_limits import DoorDrop
from halfway.live.mqtt.sessions.client_session import ClientSession
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.messages import Publication, publication
from halfway.live.mqtt.sessions.session_table import Table
from halfway.live.mqtt.sessions.shares import RESERVED

# The reason codes for a client of 5.0 if the mesh refuses an event.
_REASONS = {
    "not permitted": Reason.NOT_AUTHORIZED,
    "bad topic": Reason.TOPIC_NAME_INVALID,
    "disk full": Reason.QUOTA_EXCEEDED,
    "queue full": Reason.QUOTA_EXCEEDED,
    "not kept here": Reason.IMPLEMENTATION_ERROR,
}


def publish(
    table: Table, connection: Connection, session: ClientSession, packet: PublishPacket
) -> None:
    """Take an MQTT client's PUBLISH for the mesh. Raises Violation if the client may not send it.

    The answer follows once the mesh has taken the message. A repeated message of QoS 2 is not
    published again.
    """
    topic = _topic(table, connection, packet)
    if packet.properties.subscription_ids:
        raise protocol_error("a subscription id in a PUBLISH of a client")
    if packet.qos == 2 and packet.packet_id in session.receiving:
        connection.publishing.append(session.receiving[packet.packet_id])
        return
    if packet.qos and connection.is_version_5:
        unanswered = sum(published.qos == 1 for published in connection.publishing) + len(
            session.receiving
        )
        if unanswered >= table.limits.receive_maximum:
            raise Violation(Reason.RECEIVE_MAXIMUM_EXCEEDED, "too many messages without an answer")
    received = publication(packet, topic, session.origin)
    if packet.qos:
        connection.publishing.append(received)
    if packet.qos == 2:
        session.receiving[packet.packet_id] = received
        if table.memory is not None:
            table.memory.save_qos2(session.client_id, packet.packet_id)
    if topic.startswith(RESERVED) or not session.permissions.may_publish(topic):
        table.drops[DoorDrop.NOT_PERMITTED] += 1
        received.result = Reason.NOT_AUTHORIZED
    else:
        connection.pending += 1
        table.outbox.append((received, connection))


def _topic(table: Table, connection: Connection, packet: PublishPacket) -> str:
    """Return the topic of a PUBLISH; a topic alias is stored or looked up."""
    alias = packet.properties.topic_alias
    if alias is None:
        return packet.topic
    if alias > table.limits.topic_aliases:
        raise Violation(Reason.TOPIC_ALIAS_INVALID, f"topic alias {alias}")
    if packet.topic:
        connection.aliases[alias] = packet.topic
    elif alias not in connection.aliases:
        raise protocol_error(f"topic alias {alias} has no topic")
    return connection.aliases[alias]


def published(
    table: Table,
    publication: Publication,
    connection: Connection | None,
    refusal: str | None,
    now: float,
) -> None:
    """Note the mesh's answer to an MQTT client's PUBLISH, and send the answers that are due now.

    connection: the connection of the publication; None: a will or an announcement.
    """
    publication.result = Reason.SUCCESS
    if refusal is None and publication.qos == 0 and connection is not None:  # it has no answer
        connection.pending -= 1
        table.changed[connection] = None
        return
    if refusal is not None:
        table.drops[DoorDrop.MESH_REFUSED] += 1
        publication.result = _REASONS.get(refusal, Reason.IMPLEMENTATION_ERROR)
    if connection is None or connection.session is None:
        return
    connection.pending -= 1
    table.changed[connection] = None
    current = table.online.get(connection.session.client_id)
    # A message of QoS 2 may have come again on a newer connection.
    if current is not None and current.session is connection.session:
        answer(table, current, connection.session, now)
        table.changed[current] = None


def answer(table: Table, connection: Connection, session: ClientSession, now: float) -> None:
    """Send the due answers to PUBLISH packets, in their order [mqtt5 §4.6]."""
    queue = connection.publishing
    while queue and queue[0].result is not None and not connection.is_closing:
        packet_due = queue.popleft()
        reason = packet_due.result or Reason.SUCCESS
        if reason.failed and not connection.is_version_5:
            # 3.1.1 can only acknowledge, or close the connection [mqtt3 §3.3.5]. A message that is
            # not permitted is acknowledged and dropped; any other message may come again.
            if reason is not Reason.NOT_AUTHORIZED:
                _forget(table, session, packet_due.packet_id)
                table.detach(connection, now)
                return
            reason = Reason.SUCCESS
        if reason.failed:
            _forget(table, session, packet_due.packet_id)
        connection.send(
            (PubackPacket if packet_due.qos == 1 else PubrecPacket)(packet_due.packet_id, reason)
        )


def _forget(table: Table, session: ClientSession, packet_id: int) -> Publication | None:
    """Forget an MQTT client's PUBLISH of QoS 2; return it, or None if it is unknown."""
    if table.memory is not None:
        table.memory.release(session.client_id, packet_id)
    return session.receiving.pop(packet_id, None)


def released(
    table: Table, connection: Connection, session: ClientSession, packet: PubrelPacket
) -> None:
    """End the exchange of a PUBLISH of QoS 2 from an MQTT client, at PUBREL."""
    known = _forget(table, session, packet.packet_id)
    connection.send(
        PubcompPacket(
            packet.packet_id, Reason.PACKET_ID_NOT_FOUND if known is None else Reason.SUCCESS
        )
    )


def acknowledged(
    connection: Connection,
    session: ClientSession,
    packet: PubackPacket | PubrecPacket | PubcompPacket,
) -> None:
    """Continue the exchange of a PUBLISH of QoS 1 or 2 to an MQTT client, at its PUBACK, PUBREC or
    PUBCOMP.
    """
    packet_id = packet.packet_id
    if isinstance(packet, PubrecPacket) and not packet.reason.failed:
        known = session.outgoing.received(packet_id)
        connection.send(
            PubrelPacket(packet_id, Reason.SUCCESS if known else Reason.PACKET_ID_NOT_FOUND)
        )
    else:
        session.outgoing.finish(packet_id, 1 if isinstance(packet, PubackPacket) else 2)
