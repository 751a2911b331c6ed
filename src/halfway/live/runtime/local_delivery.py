"""The delivery of events to the applications of a live node: each event at most once to each
subscription.
"""

from collections import Counter, deque

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey, identity_of
from halfway.live.events.delivered_values import DeliveredValues
from halfway.live.events.local_subscriptions import LocalSubscription, Subscriptions
from halfway.live.mesh import Event
from halfway.live.seconds_histogram import SecondsHistogram
from halfway.live.step.scheduler import Scheduler
from halfway.live.topic_filters import OWN

REMEMBERED = 8192  # publications that reached an application, to detect repetitions


class Delivery:
    """The delivery of a node's events: each publication at most once to each subscription."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        scheduler: Scheduler,
        drops: Drops,
        counts: Counter[str],
    ) -> None:
        self.subscriptions, self._scheduler = subscriptions, scheduler
        self.drops, self.counts = drops, counts
        self.ages = SecondsHistogram()  # ages of events of other nodes at their delivery
        # An identity as one integer, and a dict beside a queue, need a third of the memory of
        # tuples in an OrderedDict.
        self._seen: dict[int, None] = {}
        self._order: deque[int] = deque()  # the same, the oldest first
        self._values = DeliveredValues()

    def deliver(self, key: EventKey, body: EventBody, hops: int, *, local: bool) -> None:
        """Deliver an event to the applications of a live node, by the subscriptions whose filters
        match.
        """
        publication = identity_of(key, body)
        now, seen = self._scheduler.now(), _packed(publication)
        if seen in self._seen:
            if not body.retain:  # the exchange of retained values brings a copy
                self.drops.count(Drop.DUPLICATE)
            return
        matching = self.subscriptions.matching(body.topic)
        if not matching:
            return
        if body.is_over(now):
            self.drops.count(Drop.EXPIRED)
            return
        if body.retain and self._values.is_late(publication, body):
            self.drops.count(Drop.OLD_VALUE)
            return
        self._hand_over(matching, event_of(publication, body, now, hops=hops, local=local))
        self._note(publication, body)

    def deliver_value(self, key: EventKey, body: EventBody) -> None:
        """Deliver a retained value that came from a neighbour to the applications that subscribed
        before, unless they received it, or a newer one, from the system.
        """
        publication, now = identity_of(key, body), self._scheduler.now()
        matching = self.subscriptions.matching(body.topic)
        is_known = self._values.has_delivered(publication, body)
        is_known |= _packed(publication) in self._seen
        if matching and not is_known and not body.is_over(now):
            self._hand_over(matching, event_of(publication, body, now), was_exchanged=True)
            self._note(publication, body, was_exchanged=True)

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        """Deliver an event to the applications of a live node, which certainly did not receive it
        before.
        """
        publication = identity_of(key, body)
        event = event_of(publication, body, self._scheduler.now(), hops=hops)
        self._hand_over(self.subscriptions.matching(body.topic), event)
        if body.retain:
            self._note(publication, body)

    def _note(self, publication: EventKey, body: EventBody, *, was_exchanged: bool = False) -> None:
        """Note an event that the applications received, so that a copy of it is a repetition."""
        seen = _packed(publication)
        if body.retain:
            self._values.note(publication, body, was_exchanged=was_exchanged)
        if seen in self._seen:
            return
        self._seen[seen] = None
        self._order.append(seen)
        if len(self._order) > REMEMBERED:
            del self._seen[self._order.popleft()]

    def _hand_over(
        self, matching: list[LocalSubscription], event: Event, *, was_exchanged: bool = False
    ) -> None:
        if not event.topic.startswith(OWN):
            self.counts["delivered"] += len(matching)
            if matching and not event.local and not was_exchanged:
                self.ages.observe(event.age_s)
        for subscription in matching:
            subscription.callback(event)


def _packed(identity: EventKey) -> int:
    publisher, epoch, number = identity  # 31, 32 and 63 bits
    return (publisher << 32 | epoch) << 63 | number


def event_of(
    key: EventKey, body: EventBody, now: float, *, hops: int = 0, local: bool = False
) -> Event:
    """Return an event in the form for delivery to applications."""
    age = max(now - body.born, 0.0)
    return Event(
        topic=body.topic,
        payload=body.payload,
        publisher=key[0],
        epoch=key[1],
        number=key[2],
        level=body.level,
        retain=body.retain,
        age_s=age,
        expiry_s=body.expiry_s - age,
        properties=body.properties,
        local=local,
        hops=hops,
    )
