"""The border between a live node and its system: the node's own events become commands, and the
system's reports become deliveries, or changes of members.
"""

from collections.abc import Callable

from halfway.core.kinds import Kinds
from halfway.core.missing import NONE
from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import BodyTable, EventBody, EventKey
from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.members import Members
from halfway.live.runtime.body_exchange import BodyExchange
from halfway.live.runtime.local_delivery import Delivery
from halfway.live.runtime.probe_routes import HERE, Hop, Routes
from halfway.live.step.record_head import RecordHead
from halfway.live.step.scheduler import Scheduler
from halfway.live.systems.face import Command

_WANTED_S = 30  # seconds after which all topics are no longer wanted, unless some node repeats it


class OwnEvents:
    """The events that one node publishes, numbered from 0 in each incarnation.

    origin: node id and incarnation. run: a function that lets the system handle a command. Where a
    node advertises its topics, the first events of a topic wait until it is known.
    """

    def __init__(
        self,
        origin: tuple[int, int],
        subscriptions: Subscriptions,
        events: BodyExchange,
        routes: Routes,
        table: HelloTable,
        run: Callable[[Command], None],
        drops: Drops,
        scheduler: Scheduler,
    ) -> None:
        face = subscriptions.face
        self._face, self._origin, self._subscriptions = face, origin, subscriptions
        self._events, self._routes, self._table = events, routes, table
        self._run, self._drops = run, drops
        self._kind = face.node.kinds.number("publish") if face.spreads_events else int(NONE)
        self._number = 0
        self._before = face.before_publishing()
        self._scheduler, self._waiting = scheduler, 0
        self._most_waiting = face.parameters.limits.held
        self._ready: dict[int, float] = {}  # topic -> when it is known, if that is still to come

    @property
    def waiting(self) -> int:
        """The number of own events of the live node whose topics are not known yet."""
        return self._waiting

    def become_publisher(self, topic: str) -> None:
        """Take up the role of a publisher of a topic before the node's first own event there. A
        second call has no effect.
        """
        number = self._number_of(self._subscriptions.topic_of(topic))
        if number is not None:
            self._advertise(number)

    def publish(
        self, body: EventBody, answered: Callable[[Hop, float], None] | None = None
    ) -> list[EventKey]:
        """Let the system publish one of the live node's own events, on all topics that need it;
        return its keys.

        answered: a function for each hop of a probe, see `Routes`.
        """
        wanted = not self._face.broadcast and self._table.wanted_s(own=False) < _WANTED_S
        routed = self._subscriptions.topic_of(body.topic), *((EVERYTHING,) if wanted else ())
        return [key for number in routed if (key := self._emit(number, body, answered)) is not None]

    def _emit(
        self, routed: str, body: EventBody, answered: Callable[[Hop, float], None] | None
    ) -> EventKey | None:
        """Let the system publish one of the live node's own events on one of its topics. Return
        None if there is no room.
        """
        number = self._number_of(routed)
        if number is None:
            self._drops.count(Drop.TOPICS_FULL)
            return None
        self._advertise(number)
        key = *self._origin, self._number
        self._number += 1
        self._events.add(key, body)
        if answered is not None:
            self._routes.ask(key, answered)
        self._publish_when_known(Command(self._kind, number, key[2]))
        return key

    def _number_of(self, routed: str) -> int | None:
        return self._subscriptions.number_of(self._subscriptions.hash_of(routed))

    def _advertise(self, number: int) -> None:
        """Let the system of the live node know that the node publishes on a topic."""
        commands, self._before = [*self._before, *self._face.advertise(number)], []
        for command in commands:
            self._run(command)
        if commands and self._face.advertising_s:
            self._ready[number] = self._scheduler.now() + self._face.advertising_s
            self._scheduler.after(self._face.advertising_s, self._known, number)

    def _known(self, _now: float, number: int) -> None:
        self._ready.pop(number, None)

    def _publish_when_known(self, command: Command) -> None:
        """Let the system publish an own event of the live node, at once or when its topic is
        known.
        """
        at = self._ready.get(command.topic)
        if at is None:
            self._run(command)
        elif self._waiting >= self._most_waiting:
            self._drops.count(Drop.FULL)
        else:
            self._waiting += 1
            self._scheduler.timers.push(at, self._publish_late, command)
            self._scheduler.arm()

    def _publish_late(self, _now: float, command: Command) -> None:
        self._waiting -= 1
        self._run(command)


class SystemReports:
    """The reports of a live node's system: an event to deliver, a change of a member, or a count.

    bodies: of the node. members: of a failure detector. takes: a function that keeps a kept event
    for its readers, and returns whether it did. takes_value: the same for a retained value that
    came from a neighbour and not from the system.
    """

    def __init__(
        self,
        node_id: int,
        kinds: Kinds,
        bodies: BodyTable,
        delivery: Delivery,
        routes: Routes,
        members: Members | None,
    ) -> None:
        self._node_id, self._kinds, self._bodies = node_id, kinds, bodies
        self._delivery, self._routes, self._members = delivery, routes, members
        self._delivered = kinds.number("delivered") if members is None else int(NONE)
        self.takes: Callable[[EventKey, EventBody, int], bool] = lambda *_: False
        self.takes_value: Callable[[EventKey, EventBody], bool] = lambda *_: False

    def take(self, head: RecordHead) -> None:
        """Take a report of the live node's system, given by its header."""
        delivery, drops, routes = self._delivery, self._delivery.drops, self._routes
        if head.kind != self._delivered:
            self._count(head)
            return
        body = self._bodies.get(head.key)
        if body is not None and body.probe:
            routes.ended(head.key, HERE, len(delivery.subscriptions.matching(body.topic)))
        elif head.key[0] == self._node_id:
            return  # applications of this node received it at the publication
        elif body is None:
            drops.count(Drop.BODIES_FULL)
        elif not self.takes(head.key, body, head.hops):
            delivery.deliver(head.key, body, head.hops, local=False)

    def take_value(self, key: EventKey, body: EventBody) -> None:
        """Take a new retained value of a neighbour at the live node: the applications receive it as
        an event.
        """
        if not self.takes_value(key, body):
            self._delivery.deliver_value(key, body)

    def _count(self, head: RecordHead) -> None:
        """Count a report of the live node's system that is no event, and let the members take it if
        the system is a failure detector.
        """
        name = self._kinds.names[head.kind]
        self._delivery.counts[f"report: {name}"] += 1
        if self._members is not None:
            self._members.take_report(name, head.target)
        elif name == "unmatched":
            self._delivery.drops.count(Drop.UNMATCHED)
            self._routes.ended(head.key, Drop.UNMATCHED)
