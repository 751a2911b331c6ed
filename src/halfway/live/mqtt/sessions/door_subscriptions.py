"""The subscriptions of all MQTT sessions of a door: one subscription at the mesh for each filter,
and the sessions for each event.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator

from halfway.live.mesh import Event, Mesh, MeshSubscription
from halfway.live.mqtt.packets.fields import Violation
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorDrops, DoorLimits
from halfway.live.mqtt.sessions.client_session import ClientSession, Grant
from halfway.live.mqtt.sessions.messages import ClientDelivery, Message, message
from halfway.live.mqtt.sessions.shares import ANNOUNCEMENTS, RESERVED, Share, Shares
from halfway.live.topic_filters import FilterTree


class DoorSubscriptions:
    """The granted subscriptions of an MQTT door.

    The door has one subscription at the mesh for each filter, shared by all sessions. on_event: the
    function that the mesh calls with each event, and that calls `deliver`.
    """

    def __init__(
        self, mesh: Mesh, limits: DoorLimits, drops: DoorDrops, on_event: Callable[[Event], None]
    ) -> None:
        self._mesh, self._limits, self._drops = mesh, limits, drops
        self._on_event = on_event
        self.shares = Shares(mesh.node_id)
        # By filter; the key of an entry is a client id and the filter with the name of a share.
        self._granted: FilterTree[tuple[str, str], tuple[ClientSession, Grant]] = FilterTree()
        self._at_mesh: dict[str, MeshSubscription] = {}
        self._uses: Counter[str] = Counter()
        self._recent: OrderedDict[tuple[int, int, int], None] = OrderedDict()

    def grant(self, session: ClientSession, grant: Grant, now: float) -> None:
        """Set the subscription of an MQTT session. Raises Refusal if the mesh does not take it."""
        filter_, key = grant.filter, grant.request.filter
        if key not in session.grants:
            self._use(filter_)
        session.grants[key] = grant
        self._granted.set(filter_, (session.client_id, key), (session, grant))
        if grant.share is not None:
            if not self.shares:
                self._use(ANNOUNCEMENTS)
                for event in self._mesh.retained(ANNOUNCEMENTS):
                    self.shares.learn(event, now)
            self.shares.join(grant.share, session)

    def revoke(self, session: ClientSession, topic_filter: str) -> bool:
        """End the subscription of an MQTT session; return False if it did not exist."""
        grant = session.grants.pop(topic_filter, None)
        if grant is None:
            return False
        self._granted.remove(grant.filter, (session.client_id, topic_filter))
        self._disuse(grant.filter)
        if grant.share is not None:
            self.shares.leave(grant.share, session)
            if not self.shares:
                self._disuse(ANNOUNCEMENTS)
        return True

    def _use(self, topic_filter: str) -> None:
        if topic_filter not in self._at_mesh:
            self._at_mesh[topic_filter] = self._mesh.subscribe(topic_filter, self._on_event)
        self._uses[topic_filter] += 1

    def _disuse(self, topic_filter: str) -> None:
        self._uses[topic_filter] -= 1
        if not self._uses[topic_filter]:
            del self._uses[topic_filter]
            self._mesh.unsubscribe(self._at_mesh.pop(topic_filter))

    def send_retained(self, session: ClientSession, grant: Grant, now: float) -> None:
        """Pass the mesh's retained values that match a subscription of an MQTT session to this
        session.
        """
        for event in self._mesh.retained(grant.filter):
            message = self._message(event, now)
            if message is not None and _receives(session, grant, message):
                qos = min(message.qos, grant.request.qos)
                session.outgoing.add_retained(
                    ClientDelivery(message, qos, True, grant.subscription_ids)
                )

    def deliver(self, event: Event, now: float) -> Iterable[ClientSession]:
        """Pass an event once to each MQTT session with a matching subscription; return these
        sessions.

        An event may come several times, by several subscriptions at the mesh; it counts once.
        """
        if event.topic.startswith(RESERVED):
            self.shares.learn(event, now)
            return ()
        identity = event.publisher, event.epoch, event.number
        if identity in self._recent:
            return ()
        self._recent[identity] = None
        if len(self._recent) > self._limits.recent_events:
            self._recent.popitem(last=False)
        message = self._message(event, now)
        return () if message is None else self._pass_on(message, identity, now)

    def _pass_on(
        self, message: Message, identity: tuple[int, int, int], now: float
    ) -> Iterator[ClientSession]:
        grants_of: dict[ClientSession, list[Grant]] = {}
        shares: dict[Share, None] = {}
        for _, (session, grant) in self._granted.matching(message.topic):
            if (share := grant.share) is not None:
                shares[share] = None
            elif _receives(session, grant, message):
                grants_of.setdefault(session, []).append(grant)
        for session, grants in grants_of.items():
            session.outgoing.add(_merged(message, grants), is_online=session.is_online)
            yield session
        for share in shares:
            yield from self.deliver_shared(message, share, repr(identity).encode(), now)

    def deliver_shared(
        self, message: Message, share: Share, identity: bytes, now: float
    ) -> Iterator[ClientSession]:
        """Pass a message to the session that `Shares` chooses among all subscriptions to a share;
        return the session.
        """
        session = self.shares.choose(share, identity, now)
        if session is None:
            return
        grant = session.grants["$share/" + "/".join(share)]
        if session.permissions.may_receive(message.topic):
            delivery = _merged(message, [grant])._replace(share=share)
            session.outgoing.add(delivery, is_online=session.is_online)
            yield session

    def _message(self, event: Event, now: float) -> Message | None:
        try:
            return message(event, now)
        except Violation:
            self._drops[DoorDrop.UNREADABLE] += 1
            return None


def _receives(session: ClientSession, grant: Grant, one: Message) -> bool:
    is_own = grant.request.no_local and one.origin == session.origin
    return not is_own and session.permissions.may_receive(one.topic)


def _merged(message: Message, grants: list[Grant]) -> ClientDelivery:
    """Return one delivery for all matching subscriptions of an MQTT session [mqtt5 §3.3.4]."""
    if len(grants) == 1:
        asked = grants[0].request
        retain = message.retain and asked.retain_as_published
        return ClientDelivery(
            message, min(message.qos, asked.qos), retain, grants[0].subscription_ids
        )
    return ClientDelivery(
        message,
        qos=min(message.qos, max(grant.request.qos for grant in grants)),
        retain=message.retain and any(grant.request.retain_as_published for grant in grants),
        subscription_ids=tuple(number for grant in grants for number in grant.subscription_ids),
    )
