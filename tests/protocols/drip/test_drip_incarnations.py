"""DRIP after a loss of memory: events and floods of an earlier incarnation hide no later ones."""

import numpy as np
import pytest

from halfway.core.message import APP, START
from halfway.core.outbox import outbox
from halfway.protocols.drip import messages
from halfway.protocols.drip import state as states
from halfway.protocols.parts.incarnation_numbers import number_before
from tests.protocols.drip.test_drip_rows import (
    event_of,
    event_slot,
    is_in_digest,
    lone_broker,
    on_register,
    registration,
    rules,
    store_event,
    write_digest,
)
from tests.protocols.drip.test_drip_rules import answers, attached, beside, kinds, message_of

DIGESTS = 40  # in one of them, two events may share a place


def of_epoch(epoch: int) -> np.record:
    """Event 0 of publisher 3, in an epoch."""
    record = event_of(3, 0, topic=4)
    record.epoch = epoch
    return record


@pytest.mark.parametrize("held", [0, 1, 2**32 - 1])
def test_a_digest_of_a_broker_tells_epochs_apart(held: int) -> None:
    """[drip §V-B] Our digests: the event of another epoch is another event."""
    broker, stated = lone_broker(), {0: 0, 1: 0, 2**32 - 1: 0}
    store_event(broker, rules(), 0, of_epoch(held), np.int64(states.RELAY), outbox(16))
    for number in range(DIGESTS):
        digest = message_of(int(messages.BEACON))
        digest.args[:], digest.reals[:] = 0, 0.0
        digest.args[messages.BEACON_SEQUENCE] = number
        write_digest(broker, 0, digest)
        for epoch in stated:
            stated[epoch] += is_in_digest(digest, of_epoch(epoch), 0, number)
    assert stated.pop(held) == DIGESTS
    assert max(stated.values()) <= 2  # one place of 384 is set


@pytest.mark.parametrize(("epoch", "floods"), [(0, 0), (1, 1)])
def test_a_subscriber_gets_the_event_of_a_new_epoch_at_its_registration(
    epoch: int, floods: int
) -> None:
    """[drip §V-A] Our digest of seen events: it has event 0 of epoch 0."""
    subscriber, broker = attached(broker=0), lone_broker()
    seen = of_epoch(0)
    seen.kind, seen.source, seen[messages.BROKER_ID] = messages.FLOOD, 2, 0
    answers(subscriber, beside(2), seen)
    tick = message_of(int(messages.TICK), at=30.0)
    tick.args[messages.STARTS] = 1
    (register,) = [
        record for record in answers(subscriber, beside(2), tick)
        if record.kind == messages.REGISTER
    ]  # fmt: skip
    store_event(broker, rules(), 0, of_epoch(epoch), np.int64(states.RELAY), outbox(16))
    register.source = 2
    assert kinds(answers(broker, beside(2), register)) == [messages.FLOOD] * floods


def test_events_of_many_epochs_have_room_in_an_empty_table() -> None:
    """A search looks at 16 slots, which differ from epoch to epoch."""
    broker = lone_broker()
    for epoch in range(40):
        store_event(broker, rules(), 0, of_epoch(epoch), np.int64(states.RELAY), outbox(16))
    assert all(event_slot(broker, 0, of_epoch(epoch)) >= 0 for epoch in range(40))
    assert broker.node.forgotten[0] == 0


def flood_after(losses: int) -> np.record:
    """The flood of a broker that lost its memory so many times, with a subscriber in its region."""
    broker = lone_broker()
    start = message_of(int(START))
    start.incarnation = losses
    answers(broker, beside(2), start)
    on_register(broker, 0, registration(1))  # topics 3 to 5
    news = of_epoch(0)
    news.kind, news.source, news.target = messages.NEWS, 2, 0
    (flood,) = [r for r in answers(broker, beside(2), news) if r.kind == messages.FLOOD]
    flood.source = 2
    return flood


def test_a_node_repeats_the_floods_of_a_broker_that_lost_its_memory() -> None:
    """[drip §V-A] "the broker node will flood the event only in its Voronoi region"."""
    relay = attached(broker=0)
    for losses in (0, 1, 2, 0x3FFF):
        flood = flood_after(losses)
        assert flood.args[messages.ROUND] == number_before(losses)
        for turn in range(2):  # and no round twice
            for _ in range(3):  # later rounds of the same broker
                sent = [r for r in answers(relay, beside(2), flood) if r.next != APP]
                assert kinds(sent) == ([messages.FLOOD] if turn == 0 else [])
                flood.args[messages.ROUND] += 1
            flood.args[messages.ROUND] = number_before(losses)
