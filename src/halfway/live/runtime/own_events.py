"""The events that a live node publishes: numbers, bodies, and commands to its system."""

from collections.abc import Callable

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey
from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.runtime.body_exchange import BodyExchange
from halfway.live.runtime.probe_routes import Hop, Routes
from halfway.live.systems.face import Command, Face

_WANTED_S = 30  # seconds after which all topics are no longer wanted, unless some node repeats it


class OwnEvents:
    """The events that one node publishes, numbered from 0 in each incarnation.

    origin: node id and incarnation. run: a function that lets the system handle a command.
    """

    def __init__(
        self,
        face: Face,
        origin: tuple[int, int],
        subscriptions: Subscriptions,
        events: BodyExchange,
        routes: Routes,
        table: HelloTable,
        run: Callable[[Command], None],
        drops: Drops,
    ) -> None:
        self._face, self._origin, self._subscriptions = face, origin, subscriptions
        self._events, self._routes, self._table = events, routes, table
        self._run, self._drops = run, drops
        self._kind, self._number = face.node.kinds.number("publish"), 0
        self._before = face.before_publishing()

    def become_publisher(self) -> None:
        """Take up the role of a publisher before the node's first own event. A second call has no
        effect.
        """
        commands, self._before = self._before, []
        for command in commands:
            self._run(command)

    def publish(
        self, body: EventBody, answered: Callable[[Hop, float], None] | None = None
    ) -> list[EventKey]:
        """Let the system publish one of the live node's own events, on all topics that need it;
        return its keys.

        answered: a function for each hop of a probe, see `Routes`.
        """
        self.become_publisher()
        wanted = not self._face.broadcast and self._table.wanted_s(own=False) < _WANTED_S
        routed = self._subscriptions.topic_of(body.topic), *((EVERYTHING,) if wanted else ())
        return [key for number in routed if (key := self._emit(number, body, answered)) is not None]

    def _emit(
        self, routed: str, body: EventBody, answered: Callable[[Hop, float], None] | None
    ) -> EventKey | None:
        """Let the system publish one of the live node's own events on one of its topics. Return
        None if there is no room.
        """
        number = self._subscriptions.number_of(self._subscriptions.hash_of(routed))
        if number is None:
            self._drops.count(Drop.TOPICS_FULL)
            return None
        key = *self._origin, self._number
        self._number += 1
        self._events.add(key, body)
        if answered is not None:
            self._routes.ask(key, answered)
        self._run(Command(self._kind, number, key[2]))
        return key
