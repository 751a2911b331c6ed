"""The events that a live node publishes: numbers, bodies, and commands to its system."""

from collections.abc import Callable

from halfway.core.missing import NONE
from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey
from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.runtime.body_exchange import BodyExchange
from halfway.live.runtime.probe_routes import Hop, Routes
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
