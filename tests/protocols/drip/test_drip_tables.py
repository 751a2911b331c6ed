"""The tables of DRIP that forget, and the shortfalls that count what they forgot."""

import numpy as np
import pytest

from halfway.protocols.drip import messages
from halfway.protocols.drip import state as states
from halfway.protocols.drip.digests import shortfalls
from tests.protocols.drip.test_drip_rows import lone_broker, on_register, registration, rules
from tests.protocols.drip.test_drip_rules import answers, attached, beacon, beside, message_of


def counted(state: states.DripState) -> dict[str, int]:
    """The shortfalls that are not 0."""
    return {what: count for what, count in shortfalls(state).items() if count > 0}


@pytest.mark.parametrize(("then_s", "lost"), [(5.9, 3), (6.5, 0)])
def test_a_route_that_is_replaced_before_it_expires_counts(then_s: float, lost: int) -> None:
    """[drip §V-B] Reports about more regions than a node has routes; a route expires after 5 s."""
    made = attached()
    for turn in range(states.ROUTES + 3):
        at = 1.0 + turn / 100 if turn < states.ROUTES else then_s
        record = message_of(int(messages.REPORT), at)
        record.source, record.target = 3, 7
        record.args[messages.OTHER_BROKER] = 100 + turn
        for _ in range(2):  # the same route again replaces no other
            answers(made, beside(2, 3), record)
    assert counted(made) == ({"routes without room": lost} if lost else {})


def test_a_contact_that_is_replaced_counts() -> None:
    """[drip §V-B] A broker meets more brokers than it has bits for."""
    made = lone_broker()
    for turn in range(states.CONTACTS + 3):
        answers(made, beside(2, 100 + turn), beacon(100 + turn, source=100 + turn))
        assert counted(made).get("contacts of brokers without room", 0) == max(
            turn + 1 - states.CONTACTS, 0
        )


def test_an_own_subscription_without_room_counts() -> None:
    """[drip §V-A] A node has a local copy of each subscription, and these tables have one place."""
    made = attached()  # subscribes to topics 3 to 5
    for first, last in ((3, 5), (3, 6), (7, 9), (3, 5)):
        record = message_of(int(messages.SUBSCRIBE))
        record.topic, record.args[messages.LAST_WANTED] = first, last
        answers(made, beside(2), record)
    assert counted(made) == {"own subscriptions without room": 2}


def test_a_subscription_without_room_in_a_register_counts() -> None:
    """[drip §V-A] A register has twice the room for all subscriptions, so only others fill it."""
    made = lone_broker()
    places = made.register.shape[1]
    for subscriber in range(places + 3):
        record = registration(1)
        record.args[messages.SUBSCRIBER] = subscriber
        on_register(made, 0, record)
    on_register(made, 0, registration(2))  # it has a place
    assert counted(made) == {"subscriptions without room in a register": 3}
    assert np.all(made.register.subscriber[0] >= 0)


def test_tables_with_room_lose_nothing() -> None:
    made = lone_broker()
    for turn in range(states.CONTACTS):
        answers(made, beside(2), beacon(100 + turn, source=100 + turn), rules())
    for subscriber in range(made.register.shape[1]):
        record = registration(1)
        record.args[messages.SUBSCRIBER] = subscriber
        on_register(made, 0, record)
    assert counted(made) == {}
