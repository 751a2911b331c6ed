"""The subscriptions of a live node's applications, and the topics to which its system subscribes
for them.

A system knows topics, not wildcards. If every node receives every event, a node matches by itself:
it subscribes to a topic when an event of this topic arrives and a filter matches. Otherwise the
topic of an event is its first two levels, and a filter with a wildcard in these levels needs all
topics.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial

from halfway.live.events.routed_topics import routed_filter, routed_topic
from halfway.live.events.topic_numbers import EVERYTHING, TopicTable, hashed, short
from halfway.live.mesh import Event
from halfway.live.systems.face import Command, Face
from halfway.live.topic_filters import FilterTree, is_wild, matches

REMEMBERED = 256  # topics whose hashes a node remembers


@dataclass(eq=False)
class LocalSubscription:
    """One subscription of an application at this live node."""

    filter: str
    callback: Callable[[Event], None]
    since: float = 0.0  # seconds of the node's clock


class Subscriptions:
    """The subscriptions of one live node's applications. `run` lets the node handle a command."""

    def __init__(self, face: Face, key: bytes, topics: int, run: Callable[[Command], None]) -> None:
        self.face, self._run = face, run
        self._hashed = lru_cache(REMEMBERED)(partial(hashed, key=key))
        self.table = TopicTable(topics, face.keeps_topics, face.hashes)
        self.table.before_reuse, self.table.after_new = self._forget, self._know
        self._all = self.hash_of(EVERYTHING)
        self._local: dict[LocalSubscription, None] = {}
        self._tree: FilterTree[LocalSubscription, None] = FilterTree()
        self._texts: dict[int, str] = {}  # of the topics met, by hash; where all receive all
        self._subscribed: set[int] = set()  # hashes that the system knows of
        self._pinned: set[int] = set()  # hashes that a filter names without a wildcard

    def __len__(self) -> int:
        return len(self._local)

    @property
    def all(self) -> list[LocalSubscription]:
        """All subscriptions of the live node's applications."""
        return list(self._local)

    @property
    def filters(self) -> list[str]:
        """The filters in the subscriptions of the live node's applications."""
        return [one.filter for one in self._local]

    @property
    def wants_all(self) -> bool:
        """Whether a subscription of the live node's applications needs all topics of a routed
        system.
        """
        if self.face.broadcast or self.face.matches_all:
            return False
        return any(routed_filter(one.filter) == EVERYTHING for one in self._local)

    def topic_of(self, topic: str) -> str:
        """Return the topic to which the node's system subscribes for an event's topic: the same
        one, or a routed topic.
        """
        return topic if self.face.broadcast else routed_topic(topic)

    def hash_of(self, topic: str) -> int:
        """Return the 64-bit hash of a topic to which the node's system subscribes for
        applications.
        """
        return self._hashed(topic)

    def number_of(self, hash64: int) -> int | None:
        """Return the number of a topic to which the node's system subscribes for applications, or
        None if the table is full.
        """
        return self.table.number(hash64) if self.face.numbered else short(hash64)

    def numbers_of(self, hashes: Iterable[int], topic: str | None) -> list[int] | None:
        """Return the numbers of the topics in a neighbour's record, after subscribing to those that
        the applications want; None if the table is full.

        topic: the text of these topics, if an event came with them.
        """
        numbers = []
        for hash64 in hashes:
            if topic is not None:
                self.meet(hash64, topic)
            number = self.number_of(hash64)
            if number is None:
                return None
            numbers.append(number)
        return numbers

    def add(self, topic_filter: str, callback: Callable[[Event], None]) -> LocalSubscription | None:
        """Add a subscription of a live node's application.

        Return None if the node has no number for its topic.
        """
        made = LocalSubscription(topic_filter, callback)
        if self.face.broadcast:
            exact = set() if is_wild(topic_filter) else {self._met(topic_filter)}
            known = {h for h, text in self._texts.items() if matches(topic_filter, text)}
        else:
            exact, known = {self.hash_of(routed_filter(topic_filter))}, set()
        if not all(self._begin(hash64) for hash64 in exact - self._subscribed):
            return None
        for hash64 in known - exact - self._subscribed:
            self._begin(hash64)
        for hash64 in exact - self._pinned:
            self.table.pin(hash64)
        self._pinned |= exact
        self._local[made] = None
        self._tree.set(topic_filter, made, None)
        return made

    def remove(self, subscription: LocalSubscription) -> None:
        """End a subscription of a live node's application; no effect on one that has ended."""
        if subscription not in self._local:
            return
        del self._local[subscription]
        self._tree.remove(subscription.filter, subscription)
        named = {self.hash_of(self._named(held.filter)) for held in self._local}
        for hash64 in self._pinned - named:
            self._pinned.discard(hash64)
            self.table.unpin(hash64)
        for hash64 in [held for held in self._subscribed if not self._is_wanted(held)]:
            self._end(hash64)

    def meet(self, hash64: int, topic: str) -> None:
        """Let the node's system subscribe to an arriving event's topic, if an application's
        subscription matches it.
        """
        if hash64 not in self._texts and self.face.broadcast:
            self._met(topic)
            if self._tree.matching(topic):
                self._begin(hash64)

    def matching(self, topic: str) -> list[LocalSubscription]:
        """Return the subscriptions of the live node's applications whose filter matches a topic."""
        return [one for one, _ in self._tree.matching(topic)]

    def _named(self, topic_filter: str) -> str:
        return topic_filter if self.face.broadcast else routed_filter(topic_filter)

    def _is_wanted(self, hash64: int) -> bool:
        """Return whether an application's subscription still needs a topic of the system."""
        if not self.face.broadcast:
            return hash64 in self._pinned
        text = self._texts.get(hash64)
        return text is not None and bool(self._tree.matching(text))

    def _met(self, topic: str) -> int:
        hash64 = self.hash_of(topic)
        self._texts[hash64] = topic
        if len(self._texts) > 2 * len(self.table.hashes):  # topics whose numbers others have now
            kept = self._texts.items()
            self._texts = {h: text for h, text in kept if self.table.known(h)}
        return hash64

    def _begin(self, hash64: int) -> bool:
        number = self.number_of(hash64)
        commands = [] if number is None else self.face.subscribe(number)
        if not commands:
            return False
        self._subscribed.add(hash64)
        for command in commands:
            self._run(command)
        return True

    def _end(self, hash64: int) -> None:
        number = self.number_of(hash64)
        self._subscribed.discard(hash64)
        if number is not None:
            for command in self.face.unsubscribe(number):
                self._run(command)
            self.face.forget(number)

    def _know(self, number: int, hash64: int) -> None:
        self.face.know_topic(number, hash64, is_all=hash64 == self._all)

    def _forget(self, hash64: int, number: int) -> None:
        """End the system's subscription to a topic of a wildcard before its number is reused."""
        self._texts.pop(hash64, None)
        if hash64 in self._subscribed:
            self._subscribed.discard(hash64)
            for command in self.face.unsubscribe(number):
                self._run(command)
            self.face.forget(number)
