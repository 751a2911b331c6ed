"""The client session of MQTT: the state of a client that outlives its connections [mqtt5 §4.1], and
its grants.
"""

from typing import NamedTuple

from halfway.live.mqtt.packets.topic_names import shared
from halfway.live.mqtt.packets.types import TopicRequest, Will
from halfway.live.mqtt.policy.access import ALL_TOPICS
from halfway.live.mqtt.policy.door_limits import DoorDrops, DoorLimits
from halfway.live.mqtt.sessions.messages import Publication, origin
from halfway.live.mqtt.sessions.outgoing import Outgoing
from halfway.live.mqtt.sessions.stored_sessions import StoredSessions


class Grant(NamedTuple):
    """A subscription that an MQTT client requests, and that the door may grant to the client's
    session.
    """

    request: TopicRequest
    filter: str  # of the topics, without the name of a share
    share: tuple[str, str] | None = None  # name and filter of a shared subscription
    subscription_ids: tuple[int, ...] = ()  # none or one


def grant_of(request: TopicRequest, subscription_ids: tuple[int, ...]) -> Grant:
    """Return the grant for a client session that corresponds to a filter of a SUBSCRIBE."""
    share = shared(request.filter)
    return Grant(request, share[1] if share else request.filter, share, subscription_ids)


class ClientSession:
    """The session of one MQTT client: its subscriptions, messages and exchanges."""

    def __init__(
        self,
        client_id: str,
        username: str | None,
        limits: DoorLimits,
        drops: DoorDrops,
        memory: StoredSessions | None = None,
    ) -> None:
        self.client_id, self.username = client_id, username
        self.origin = origin(client_id)
        self.expiry_s: float = 0.0  # seconds after the connection; never infinity
        self.is_online = False
        self.permissions = ALL_TOPICS  # of the last connection
        self.will: Will | None = None
        self.grants: dict[str, Grant] = {}  # by filter, with the name of a share
        self.outgoing = Outgoing(limits, drops, client_id, memory)
        # Messages of QoS 2 from the client, by packet id, from PUBLISH to PUBREL.
        self.receiving: dict[int, Publication] = {}
