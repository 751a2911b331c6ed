"""Shared subscriptions [mqtt5 §4.8.2]: one session of each share receives a message.

Sessions of one share may be at several doors. Each door announces its shares as a retained value on
the mesh. From the announcements, each door computes which door serves a message: the door with the
smallest hash. While an announcement is on its way, two doors may serve one message.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

import msgspec

from halfway.live.mesh import Event
from halfway.live.mqtt.sessions.client_session import ClientSession
from halfway.live.topic_filters import OWN

RESERVED = OWN  # no topics of clients
ANNOUNCEMENTS = RESERVED + "shares/+"
EXPIRY_S = 90.0  # lifetime of an announcement; it is repeated three times in this time
SHARES_MAXIMUM = 500  # that a door announces, and that it keeps of one other door
DOORS_MAXIMUM = 1_000

Share = tuple[str, str]  # name and filter


class Shares:
    """The shared subscriptions of one MQTT door, and the shared subscriptions that other doors
    announced.
    """

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._members: dict[Share, dict[str, ClientSession]] = {}  # by client id
        self._turns: Counter[Share] = Counter()
        # Node id of a door -> its shares, whether a member is online, and the end of the validity.
        self._others: dict[int, tuple[dict[Share, bool], float]] = {}
        self._announced = b""
        self._is_changed = False

    def __bool__(self) -> bool:
        return bool(self._members)

    @property
    def topic(self) -> str:
        """The topic on which an MQTT door announces its shared subscriptions."""
        return f"{RESERVED}shares/{self._node_id}"

    def join(self, share: Share, session: ClientSession) -> None:
        """Add an MQTT session to a share."""
        self._members.setdefault(share, {})[session.client_id] = session
        self._is_changed = True

    def leave(self, share: Share, session: ClientSession) -> None:
        """Remove an MQTT session from a share."""
        members = self._members.get(share, {})
        members.pop(session.client_id, None)
        self._is_changed = True
        if not members and share in self._members:
            del self._members[share]
            del self._turns[share]

    def touch(self) -> None:
        """Note for shared subscriptions that an MQTT session came online or went offline."""
        self._is_changed = bool(self._members)

    def announcement(self, *, is_repeated: bool = False) -> bytes | None:
        """Return the payload of the due announcement of shared subscriptions, or None without a
        change.

        is_repeated: announce without a change, so that the announcement does not expire.
        """
        if not self._is_changed and not is_repeated:
            return None
        self._is_changed = False
        shares = [
            (*share, any(member.is_online for member in members.values()))
            for share, members in list(self._members.items())[:SHARES_MAXIMUM]
        ]
        payload = msgspec.msgpack.encode(shares) if shares else b""
        if payload == self._announced and not is_repeated:
            return None
        self._announced = payload
        return payload

    def learn(self, event: Event, now: float) -> None:
        """Take another door's announcement of shared subscriptions; one that is not readable counts
        as empty.
        """
        if event.local or event.publisher == self._node_id:
            return
        shares: dict[Share, bool] = {}
        if event.payload:
            try:
                rows = msgspec.msgpack.decode(event.payload, type=list[tuple[str, str, bool]])
            except msgspec.MsgspecError:
                rows = []
            shares = {(name, inner): online for name, inner, online in rows[:SHARES_MAXIMUM]}
        if shares and (event.publisher in self._others or len(self._others) < DOORS_MAXIMUM):
            self._others[event.publisher] = shares, now + min(event.expiry_s, EXPIRY_S)
        else:
            self._others.pop(event.publisher, None)

    def choose(self, share: Share, event: bytes, now: float) -> ClientSession | None:
        """Return the session of this MQTT door that receives a shared message, or None.

        None: no session of the share is here, or another door serves the message.

        event: the identity of the message, equal at all doors. Sessions that are online come first,
        in turn.
        """
        sessions = self._members.get(share)
        if not sessions:
            return None
        online = [session for session in sessions.values() if session.is_online]
        others = {door: entry for door, entry in self._others.items() if entry[1] > now}
        doors = [door for door, (shares, _) in others.items() if shares.get(share, False)]
        if not online and not doors:
            doors = [door for door, (shares, _) in others.items() if share in shares]
        elif not online:
            return None
        if _smallest([*doors, self._node_id], event) != self._node_id:
            return None
        candidates = online or list(sessions.values())
        self._turns[share] += 1
        return candidates[self._turns[share] % len(candidates)]


def _smallest(doors: Iterable[int], event: bytes) -> int:
    def rank(door: int) -> bytes:
        return hashlib.blake2b(event + door.to_bytes(8, "big"), digest_size=8).digest()

    return min(doors, key=rank)
