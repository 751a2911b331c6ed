"""The limits of the MQTT door, and the reasons for which it drops a message."""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple


class DoorLimits(NamedTuple):
    """The limits of an MQTT door; beyond a limit, the door refuses or drops as documented.

    Times are in seconds. A client of 5.0 receives the limits that concern it in its CONNACK.
    """

    connections: int = 1_000  # connections; a further one is closed
    sessions: int = 10_000  # sessions, also of absent clients; more: "busy"
    subscriptions: int = 1_000  # subscriptions of one session; more: "quota exceeded"
    packet_bytes: int = 128 * 1024  # bytes of a received packet; larger: "packet too large"
    queued_messages: int = 10_000  # that wait for one client; more: a drop
    queued_bytes: int = 4 * 1024 * 1024  # that wait for one client; more: a drop
    retained_messages: int = 100_000  # that wait for one client after SUBSCRIBE; more: a drop
    window: int = 100  # messages of QoS 1 and 2 that one client has not acknowledged
    receive_maximum: int = 256  # messages of QoS 1 and 2 that the door has not acknowledged
    pending: int = 64  # publications of one client that the mesh has not taken; more: no reading
    publications: int = 65_536  # the same, of all clients; more: refused
    topic_aliases: int = 64  # of one connection and direction
    recent_events: int = 4_096  # that are recognized when a second mesh subscription brings them
    keep_alive_s: int = 60  # longest session expiry, also for a 5.0 client that asks for more
    connect_s: float = 10.0  # from the TCP connection to CONNECT
    session_expiry_s: int = 7 * 24 * 3600  # the longest; also of a 3.1.1 session that is kept


class DoorDrop(StrEnum):
    """A reason for which the MQTT door drops a message or a publication."""

    OFFLINE = "client offline"  # QoS 0 is not kept for a client that is away
    SLOW = "client too slow"  # QoS 0, the oldest first, where too much waits for a client
    QUEUE_FULL = "queue full"  # QoS 1 and 2, the newest first, where too much waits
    EXPIRED = "expired"
    TOO_LARGE = "larger than the client accepts"
    SESSION_ENDED = "session ended"
    NOT_PERMITTED = "not permitted"
    MESH_REFUSED = "refused by the mesh"
    UNREADABLE = "properties not readable"


DoorDrops = Counter[DoorDrop]
