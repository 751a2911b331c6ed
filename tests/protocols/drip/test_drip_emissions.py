"""The most records that one call of DRIP's handler emits, at its two extremes."""

import numpy as np
import pytest

from halfway.core.outbox import outbox
from halfway.protocols.drip import handler as drip
from halfway.protocols.drip import messages
from halfway.protocols.drip import state as states
from halfway.protocols.parts.incarnation_numbers import WITHIN
from tests.protocols.drip.test_drip_rows import (
    event_of,
    lone_broker,
    on_subscription,
    registration,
    rules,
    store_event,
)
from tests.protocols.drip.test_drip_rules import (
    answers,
    beacon,
    beside,
    kinds,
    listed,
    message_of,
)

OWN, NOW = 25, 100.0


@pytest.mark.parametrize("interval_s", [0.0, 20.0])
@pytest.mark.parametrize("version", [1, WITHIN], ids=["first", "last of an incarnation"])
def test_a_node_that_loses_its_broker_emits_the_most_at_its_tick(
    interval_s: float, version: int
) -> None:
    """[drip §V-A] It quits and registers each subscription once, in any registration interval."""
    made = states.blank_state(
        np.array([5], np.int32), np.ones(1), brokers=7, nearest=3, copies=2, window=64,
        publishers=8, own=OWN, intervals=OWN, seed=1,
    )  # fmt: skip
    node = made.node[0]
    node.bootstrapped, node.local_broker, node.starts, node.version = 1, 7, 1, version
    made.intervals[0].low = made.intervals[0].high = 2 * np.arange(OWN)
    for place, (broker, heard_at) in enumerate(((7, 0.0), (8, NOW), (9, NOW))):
        listed(made, place, broker, float(broker), 2)
        made.nearest[0, place].heard_at = heard_at
    made.nearest[0, 2].border_neighbour, made.nearest[0, 2].border_at = 2, NOW
    tick = message_of(int(messages.TICK), at=NOW)
    tick.args[messages.STARTS] = 1
    given = rules(
        batch=1, transfer_batch=1, replace_brokers=True, registration_interval_s=interval_s
    )
    sent = kinds(answers(made, beside(2), tick, given))
    assert sent == [
        messages.TICK, messages.ELECTION_END, messages.ELECTION_CALL,
        *[messages.DEFERRED] * OWN,  # no route to the lost broker for a QUIT
        *[messages.REGISTER] * OWN, messages.REPORT,
    ]  # fmt: skip
    assert len(sent) == drip.most_emissions(made, given)


def test_a_broker_emits_the_most_at_the_beacon_of_another_one() -> None:
    """[drip §V-B] It repeats the beacon, and sends subscriptions and events."""
    given = rules(epidemic=True, batch=4, transfer_batch=9)
    made, out = lone_broker(), outbox(64)
    for subscriber in range(10, 30):
        record = registration(1)
        record.args[messages.SUBSCRIBER] = subscriber
        on_subscription(made, 0, record)
        event = event_of(3, subscriber)
        store_event(made, given, 0, event, np.int64(states.RELAY), out)
    sent = kinds(answers(made, beside(7), beacon(7, source=7), given))
    assert sent == [messages.BEACON, *[messages.SUBSCRIPTION] * 4, *[messages.EVENT] * 9]
    assert len(sent) == drip.most_emissions(made, given)
