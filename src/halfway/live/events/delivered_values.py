"""The newest retained events that the applications of a live node received, one for each topic.

The system and the exchange of retained values are two ways to a node, so an old value may come
behind a newer one.
"""

from typing import NamedTuple

from halfway.live.events.bodies import EventBody, EventKey

REMEMBERED = 8192  # topics


class _Delivered(NamedTuple):
    publisher: int
    order: tuple[bool, int, int]
    was_exchanged: bool


class DeliveredValues:
    """The newest retained events that a node's applications received. Only events of one publisher
    have an order.
    """

    def __init__(self) -> None:
        self._newest: dict[str, _Delivered] = {}  # by topic, the oldest entry first

    def note(self, key: EventKey, body: EventBody, *, was_exchanged: bool) -> None:
        """Note a retained event that an application receives now. was_exchanged: it came as a
        retained value of a neighbour, and not from the system.
        """
        if self._newer(key, body) is None:
            self._newest.pop(body.topic, None)
            self._newest[body.topic] = _Delivered(key[0], _order(key, body), was_exchanged)
            if len(self._newest) > REMEMBERED:
                del self._newest[next(iter(self._newest))]

    def has_delivered(self, key: EventKey, body: EventBody) -> bool:
        """Return whether the applications received this retained event, or a newer one of the same
        publisher on its topic.
        """
        newest = self._newest.get(body.topic)
        is_same = newest is not None and newest[:2] == (key[0], _order(key, body))
        return is_same or self._newer(key, body) is not None

    def is_late(self, key: EventKey, body: EventBody) -> bool:
        """Return whether an event of the system comes behind a newer retained value that came from
        a neighbour.
        """
        newer = self._newer(key, body)
        return newer is not None and newer.was_exchanged

    def _newer(self, key: EventKey, body: EventBody) -> _Delivered | None:
        """Return the newest retained event that was received, if it is newer than this one."""
        newest, order = self._newest.get(body.topic), _order(key, body)
        is_comparable = newest is not None and newest[0] == key[0] and newest.order[0] == order[0]
        return newest if newest is not None and is_comparable and order < newest.order else None


def _order(key: EventKey, body: EventBody) -> tuple[bool, int, int]:
    """Return whether an event has a place in a stream, and its epoch and number there or at its
    publisher. A kept event that its publisher sends again has the key of a later incarnation.
    """
    if body.place is not None:
        return True, body.place.epoch, body.place.number
    return False, key[1], body.publication
