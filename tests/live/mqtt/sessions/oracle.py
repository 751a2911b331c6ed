"""A flat oracle of MQTT: what each client must receive, computed without trees, queues or bytes."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple


class Received(NamedTuple):
    """A message as a client receives it."""

    topic: str
    payload: bytes
    qos: int
    retain: bool


class Asked(NamedTuple):
    """The options of a subscription."""

    qos: int
    no_local: bool = False
    retain_as_published: bool = False
    handling: int = 0


class Sent(NamedTuple):
    """A message as a client publishes it, or leaves it as its will."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    expiry_s: float = math.inf


@dataclass
class State:
    """What the oracle knows of one client."""

    is_online: bool = True
    expiry_s: float = 0.0
    ends_at: float = math.inf
    subscriptions: dict[str, Asked] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    waiting: list[tuple[Received, float]] = field(default_factory=list)
    will: Sent | None = None
    will_delay_s: float = 0.0
    will_at: float = math.inf


def is_match(topic_filter: list[str], topic: list[str]) -> bool:
    """Whether the levels of a filter match those of a topic, by the words of the standard."""
    if not topic_filter:
        return not topic
    if topic_filter[0] == "#":
        return True
    if not topic:
        return False
    return topic_filter[0] in ("+", topic[0]) and is_match(topic_filter[1:], topic[1:])


def matches(topic_filter: str, topic: str) -> bool:
    """Whether a filter matches a topic; a wildcard at the start matches no topic with `$`."""
    if topic.startswith("$") and topic_filter[0] in "+#":
        return False
    return is_match(topic_filter.split("/"), topic.split("/"))


class Oracle:
    """The rules of MQTT on a dictionary of clients."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.clients: dict[str, State] = {}
        self._retained: dict[str, tuple[Sent, str, float]] = {}

    def connect(
        self, name: str, *, clean: bool, expiry_s: float, will: Sent | None, will_delay_s: float
    ) -> bool:
        """Connect a client; return whether its session was present.

        The will of a connection that is taken over is published once the new one is there.
        """
        state, left = self.clients.get(name), None
        if state is not None and state.is_online:
            if state.will_delay_s == 0 or clean or state.expiry_s == 0:
                left = state.will
            self.lose(name, with_will=False)
            state = self.clients.get(name)
        if state is not None and clean:
            self._end(name)
            state = None
        is_present = state is not None
        if state is None:
            state = self.clients[name] = State()
        state.is_online, state.ends_at, state.will_at = True, math.inf, math.inf
        state.expiry_s, state.will, state.will_delay_s = expiry_s, will, will_delay_s
        waiting, state.waiting = state.waiting, []
        state.received = [one for one, end in waiting if end > self.now]
        if left is not None:
            self.publish(name, left)
        return is_present

    def lose(self, name: str, *, with_will: bool = True) -> None:
        """End the connection of a client."""
        state = self.clients[name]
        state.is_online = False
        if not with_will:
            state.will = None
        if state.will_delay_s == 0 or state.will is None:
            self._leave_will(name)
        else:
            state.will_at = self.now + state.will_delay_s
        if state.expiry_s == 0:
            self._end(name)
        else:
            state.ends_at = self.now + state.expiry_s

    def _leave_will(self, name: str) -> None:
        state = self.clients[name]
        will, state.will, state.will_at = state.will, None, math.inf
        if will is not None:
            self.publish(name, will)

    def _end(self, name: str) -> None:
        self._leave_will(name)
        del self.clients[name]

    def advance(self, seconds: float) -> None:
        """Advance the time: wills and ends of sessions happen in their order."""
        end = self.now + seconds
        while True:
            due = [
                (at, kind, name)
                for name, state in self.clients.items()
                for at, kind in ((state.will_at, "will"), (state.ends_at, "end"))
            ]
            at, kind, name = min(due, default=(math.inf, "", ""))
            if at > end:
                break
            self.now = at
            if kind == "will":
                self._leave_will(name)
            else:
                self._end(name)
        self.now = end

    def subscribe(self, name: str, topic_filter: str, asked: Asked) -> None:
        """Subscribe a client, and give it the retained messages."""
        state = self.clients[name]
        is_new = topic_filter not in state.subscriptions
        state.subscriptions[topic_filter] = asked
        if asked.handling == 2 or (asked.handling == 1 and not is_new):
            return
        for sent, publisher, end in self._retained.values():
            is_own = asked.no_local and publisher == name
            if matches(topic_filter, sent.topic) and end > self.now and not is_own:
                qos = min(sent.qos, asked.qos)
                state.received.append(Received(sent.topic, sent.payload, qos, True))

    def publish(self, name: str, sent: Sent) -> None:
        """Publish a message of a client to all clients."""
        end = self.now + sent.expiry_s
        if sent.retain:
            self._retained.pop(sent.topic, None)
            if sent.payload:
                self._retained[sent.topic] = sent, name, end
        for other, state in self.clients.items():
            asked = [
                one
                for topic_filter, one in state.subscriptions.items()
                if matches(topic_filter, sent.topic) and not (one.no_local and other == name)
            ]
            if not asked:
                continue
            one = Received(
                sent.topic,
                sent.payload,
                min(sent.qos, max(one.qos for one in asked)),
                sent.retain and any(one.retain_as_published for one in asked),
            )
            if state.is_online:
                state.received.append(one)
            elif one.qos:
                state.waiting.append((one, end))
