"""The subscriptions of a node's applications, and what its system has to know of them.

A system knows topics, not wildcards. Where every node receives every event, a node matches alone:
as soon as it meets a topic, it subscribes to it if a filter matches. Elsewhere an event is on the
topic of its first two levels, and a filter that is wild within these levels needs all topics.
"""

from collections.abc import Callable
from dataclasses import dataclass

from halfway.live.events.topics import EVERYTHING, TopicTable, hashed, is_wild, matches, short
from halfway.live.mesh import Event
from halfway.live.systems.face import Command, Face

_MATCHED = 256  # topics whose subscriptions are remembered
_DEPTH = 2  # levels of a topic that a routed system knows


@dataclass(eq=False)
class LocalSubscription:
    """One subscription of an application at this node."""

    filter: str
    callback: Callable[[Event], None]


def routed_topic(topic: str) -> str:
    """The topic by which a routed system knows an event on a topic."""
    return "/".join(topic.split("/")[:_DEPTH])


def routed_filter(topic_filter: str) -> str:
    """The topic to which a routed system subscribes for a filter."""
    first = topic_filter.split("/")[:_DEPTH]
    # "a/b/#" matches "a/b" too, and "a/#" matches "a": the first is one topic, the second is not.
    return EVERYTHING if is_wild("/".join(first)) else "/".join(first)


class Subscriptions:
    """The subscriptions of one node. `run` lets the node handle a command."""

    def __init__(self, face: Face, key: bytes, topics: int, run: Callable[[Command], None]) -> None:
        self._face, self._key, self._run = face, key, run
        self.table = TopicTable(topics, face.keeps_topics)
        self._local: list[LocalSubscription] = []
        self._texts: dict[int, str] = {}  # of the topics met, by hash; where all receive all
        self._subscribed: set[int] = set()  # hashes that the system knows of
        self._matching: dict[str, list[LocalSubscription]] = {}  # of the topics asked for last

    def __len__(self) -> int:
        return len(self._local)

    @property
    def filters(self) -> list[str]:
        """The filters of the applications."""
        return [one.filter for one in self._local]

    @property
    def wants_all(self) -> bool:
        """Whether an application's filter needs all topics of a routed system."""
        if self._face.broadcast:
            return False
        return any(routed_filter(one.filter) == EVERYTHING for one in self._local)

    def topic_of(self, topic: str) -> str:
        """The topic by which the system knows an event on a topic."""
        return topic if self._face.broadcast else routed_topic(topic)

    def hash_of(self, topic: str) -> int:
        """The 64 bits of a topic of the system on the wire."""
        return hashed(topic, self._key)

    def number_of(self, hash64: int) -> int | None:
        """The topic's number in records of this node; None if there is no room for it."""
        return self.table.number(hash64) if self._face.numbered else short(hash64)

    def add(self, topic_filter: str, callback: Callable[[Event], None]) -> LocalSubscription | None:
        """Add an application's subscription; None if the node has no number for its topic."""
        made = LocalSubscription(topic_filter, callback)
        if self._face.broadcast:
            topics = {h for h, text in self._texts.items() if matches(topic_filter, text)}
            if not is_wild(topic_filter):
                topics.add(self._met(topic_filter))
        else:
            topics = {self.hash_of(routed_filter(topic_filter))}
        if not all(self._begin(hash64) for hash64 in topics - self._subscribed):
            return None
        self._local.append(made)
        self._matching.clear()
        return made

    def remove(self, subscription: LocalSubscription) -> None:
        """End an application's subscription; no effect on one that has ended."""
        if subscription not in self._local:
            return
        self._local.remove(subscription)
        self._matching.clear()
        for hash64 in [one for one in self._subscribed if not self._is_wanted(one)]:
            self._end(hash64)

    def meet(self, hash64: int, topic: str) -> None:
        """Subscribe to the topic of an event that comes in, if a filter wants it."""
        if hash64 not in self._texts and self._face.broadcast:
            self._met(topic)
            if any(matches(one.filter, topic) for one in self._local):
                self._begin(hash64)

    def matching(self, topic: str) -> list[LocalSubscription]:
        """The subscriptions whose filter matches a topic."""
        found = self._matching.get(topic)
        if found is None:
            if len(self._matching) >= _MATCHED:
                self._matching.clear()
            found = [one for one in self._local if matches(one.filter, topic)]
            self._matching[topic] = found
        return found

    def _is_wanted(self, hash64: int) -> bool:
        """Whether a filter needs a topic to which the system has subscribed."""
        if not self._face.broadcast:
            return any(self.hash_of(routed_filter(one.filter)) == hash64 for one in self._local)
        text = self._texts.get(hash64)
        return text is not None and any(matches(one.filter, text) for one in self._local)

    def _met(self, topic: str) -> int:
        hash64 = self.hash_of(topic)
        self._texts[hash64] = topic
        if len(self._texts) > 2 * len(self.table.hashes):  # topics whose numbers others have now
            kept = self._texts.items()
            self._texts = {h: text for h, text in kept if self.table.known(h)}
        return hash64

    def _begin(self, hash64: int) -> bool:
        number = self.number_of(hash64)
        if number is None:
            return False
        self.table.pin(hash64)
        self._subscribed.add(hash64)
        for command in self._face.subscribe(number):
            self._run(command)
        return True

    def _end(self, hash64: int) -> None:
        number = self.number_of(hash64)
        self._subscribed.discard(hash64)
        self.table.unpin(hash64)
        if number is not None:
            for command in self._face.unsubscribe(number):
                self._run(command)
            self._face.forget(number)
