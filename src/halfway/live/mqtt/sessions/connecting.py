"""The begin and the end of a client's connection to the MQTT door: CONNECT, DISCONNECT, silence,
and broken rules.
"""

from halfway.live.mqtt.packets.fields import Violation, protocol_error
from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import MQTT3, ConnackPacket, ConnectPacket, DisconnectPacket
from halfway.live.mqtt.policy.access import Permissions
from halfway.live.mqtt.sessions.client_session import ClientSession
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.session_table import Table
from halfway.live.mqtt.sessions.shares import RESERVED

_GRACE = 1.5  # the limit of silence in keep alives [mqtt5 §3.1.2.10]


def connect(
    table: Table,
    connection: Connection,
    packet: ConnectPacket,
    permissions: Permissions | None,
    spare_id: str,
    now: float,
) -> None:
    """Handle a CONNECT of an MQTT client: begin or resume a session, or refuse the client.

    permissions: permissions of the client; None refuses the client. spare_id: an unpredictable id
    for a client without a client id.
    """
    reason = _refusal(packet, permissions)
    if reason is None and permissions is not None:
        session, is_present = _session(table, packet, packet.client_id or spare_id, now)
        if session is not None:
            _begin(table, connection, packet, session, now)
            properties = _granted(table, packet, session)
            connection.send(ConnackPacket(Reason.SUCCESS, is_present, properties))
            table.attach(session, connection, permissions)
            return
        reason = Reason.CLIENT_ID_NOT_VALID if is_present else Reason.SERVER_BUSY
    connection.send(ConnackPacket(reason or Reason.NOT_AUTHORIZED))
    table.detach(connection, now)


def _refusal(packet: ConnectPacket, permissions: Permissions | None) -> Reason | None:
    if packet.properties.authentication_method is not None:
        return Reason.BAD_AUTHENTICATION_METHOD
    if permissions is None:
        named = packet.username is not None
        return Reason.BAD_USER_NAME_OR_PASSWORD if named else Reason.NOT_AUTHORIZED
    if not packet.client_id and not packet.clean_start and packet.version == MQTT3:
        return Reason.CLIENT_ID_NOT_VALID  # [mqtt3 §3.1.3.1]
    will = packet.will
    if will is None:
        return None
    is_reserved = will.topic.startswith(RESERVED)
    return (
        None if permissions.may_publish(will.topic) and not is_reserved else Reason.NOT_AUTHORIZED
    )


def _session(
    table: Table, packet: ConnectPacket, client_id: str, now: float
) -> tuple[ClientSession | None, bool]:
    """Return the session of a connecting MQTT client, and whether it existed before.

    The session is None if it belongs to another user (True), or if there are too many sessions
    (False).
    """
    session = table.sessions.get(client_id)
    if session is not None and session.username != packet.username:
        return None, True
    if (other := table.online.get(client_id)) is not None:
        other.disconnect(Reason.SESSION_TAKEN_OVER, "another connection has this client id")
        table.detach(other, now)
        session = table.sessions.get(client_id)
    if session is not None and packet.clean_start:
        table.end(session, now)
        session = None
    if session is not None:
        return session, True
    return table.new_session(client_id, packet.username), False


def _begin(
    table: Table, connection: Connection, packet: ConnectPacket, session: ClientSession, now: float
) -> None:
    connection.accept(packet, session)
    session.will = packet.will
    longest = table.limits.session_expiry_s
    if packet.version == MQTT3:
        session.expiry_s = 0 if packet.clean_start else longest
    else:
        session.expiry_s = min(packet.properties.session_expiry_s or 0, longest)
    keep_alive_s = packet.keep_alive_s
    if connection.is_version_5:
        keep_alive_s = min(keep_alive_s, table.limits.keep_alive_s)
    connection.keep_alive_s = keep_alive_s * _GRACE
    table.timers.cancel(("connect", connection))
    if keep_alive_s:
        table.timers.set(("keep alive", connection), now + connection.keep_alive_s)


def _granted(table: Table, packet: ConnectPacket, session: ClientSession) -> Properties:
    """Return the properties that an MQTT 5.0 server states in CONNACK; none for 3.1.1."""
    limits, asked = table.limits, packet.properties.session_expiry_s
    shortened = asked is not None and asked > session.expiry_s
    too_long = packet.keep_alive_s > limits.keep_alive_s
    return Properties(
        session_expiry_s=int(session.expiry_s) if shortened else None,
        receive_maximum=limits.receive_maximum,
        maximum_packet_size=limits.packet_bytes,
        topic_alias_maximum=limits.topic_aliases,
        assigned_client_id=None if packet.client_id else session.client_id,
        server_keep_alive_s=limits.keep_alive_s if too_long else None,
    )


def disconnect(table: Table, connection: Connection, packet: DisconnectPacket, now: float) -> None:
    """End a client's connection to the MQTT door at a DISCONNECT, without the will unless the code
    asks for it.
    """
    session = connection.session
    expiry_s = packet.properties.session_expiry_s
    if packet.properties.server_reference is not None:
        raise protocol_error("a server reference from a client")
    if session is not None and expiry_s is not None:
        if session.expiry_s == 0 and expiry_s:
            raise protocol_error("a session expiry after a CONNECT without one")
        session.expiry_s = min(expiry_s, table.limits.session_expiry_s)
    table.detach(connection, now, with_will=packet.reason != Reason.SUCCESS)


def timed_out(table: Table, connection: Connection, what: str, now: float) -> None:
    """End a client's connection to the MQTT door after too long a silence, or set the timer
    again.
    """
    if what == "connect":
        table.detach(connection, now)
        return
    due = connection.heard_at + connection.keep_alive_s
    if now >= due:
        connection.disconnect(Reason.KEEP_ALIVE_TIMEOUT)
        table.detach(connection, now)
    else:
        table.timers.set((what, connection), due)


def broken(table: Table, connection: Connection, violation: Violation, now: float) -> None:
    """End the connection of a client that broke the rules of the MQTT standard."""
    if connection.session is not None:
        connection.disconnect(violation.reason, violation.detail)
    elif violation.reason is Reason.UNSUPPORTED_VERSION:
        connection.stream.version = MQTT3  # the client reads the answer of its version, or this
        connection.send(ConnackPacket(violation.reason))
    table.detach(connection, now)
