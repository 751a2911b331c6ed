"""The MQTT packets SUBSCRIBE and UNSUBSCRIBE."""

from halfway.live.mesh import Refusal
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.topic_names import is_filter, is_share_name
from halfway.live.mqtt.packets.types import (
    SubackPacket,
    SubscribePacket,
    UnsubackPacket,
    UnsubscribePacket,
)
from halfway.live.mqtt.sessions.client_session import ClientSession, Grant, grant_of
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.session_table import Table
from halfway.live.mqtt.sessions.shares import RESERVED

_GRANTED = (Reason.SUCCESS, Reason.GRANTED_QOS_1, Reason.GRANTED_QOS_2)
# The codes for a client if the mesh refuses a subscription. "Not authorized" would also be allowed
# for the first reason; "unspecified error" exists in both versions.
_REASONS = {
    "not permitted": Reason.UNSPECIFIED_ERROR,
    "bad filter": Reason.TOPIC_FILTER_INVALID,
    "too many subscriptions": Reason.QUOTA_EXCEEDED,
    "topics full": Reason.QUOTA_EXCEEDED,
}
_NEVER_RETAINED = 2  # retain handling
_RETAINED_IF_NEW = 1


def subscribe(
    table: Table,
    connection: Connection,
    session: ClientSession,
    packet: SubscribePacket,
    now: float,
) -> None:
    """Answer a SUBSCRIBE of an MQTT client: grant or refuse each filter, and send the retained
    messages that match.
    """
    reasons, fresh = [], []
    for request in packet.requests:
        grant = grant_of(request, packet.properties.subscription_ids)
        is_new = request.filter not in session.grants
        reasons.append(_grant(table, session, grant, now))
        handling = request.retain_handling
        wanted = handling != _NEVER_RETAINED and (is_new or handling != _RETAINED_IF_NEW)
        if not reasons[-1].failed and wanted and grant.share is None:
            fresh.append(grant)
    table.save(session)
    connection.send(SubackPacket(packet.packet_id, tuple(reasons)))
    for grant in fresh:
        table.subscriptions.send_retained(session, grant, now)


def _grant(table: Table, session: ClientSession, grant: Grant, now: float) -> Reason:
    request = grant.request
    if not _is_valid(grant):
        return Reason.TOPIC_FILTER_INVALID
    if grant.filter.startswith(RESERVED) or not session.permissions.may_subscribe(grant.filter):
        return Reason.UNSPECIFIED_ERROR
    if request.filter not in session.grants and len(session.grants) >= table.limits.subscriptions:
        return Reason.QUOTA_EXCEEDED
    try:
        table.subscriptions.grant(session, grant, now)
    except Refusal as refusal:
        return _REASONS.get(refusal.reason, Reason.IMPLEMENTATION_ERROR)
    return _GRANTED[request.qos]


def _is_valid(grant: Grant) -> bool:
    share = grant.share
    return is_filter(grant.filter) and (share is None or is_share_name(share[0]))


def unsubscribe(
    table: Table, connection: Connection, session: ClientSession, packet: UnsubscribePacket
) -> None:
    """Answer an UNSUBSCRIBE of an MQTT client: end subscriptions, but still deliver messages in
    exchange.
    """
    reasons = tuple(
        Reason.SUCCESS
        if table.subscriptions.revoke(session, pattern)
        else Reason.NO_SUBSCRIPTION_EXISTED
        for pattern in packet.filters
    )
    table.save(session)
    connection.send(UnsubackPacket(packet.packet_id, reasons))
