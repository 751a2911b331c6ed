"""Single rules of DRIP: what one node emits for one message, by its handler."""

from typing import Any

import numpy as np
import pytest

from halfway.core.message import APP, EVERYONE, RECORD
from halfway.core.missing import NONE
from halfway.core.neighbourhood import Neighbourhood
from halfway.protocols.drip import copies, elections, messages
from halfway.protocols.drip import handler as drip
from halfway.protocols.drip import state as states
from halfway.protocols.parts import application
from tests.interpreted import uncompiled
from tests.protocols.drip.test_drip_rows import (
    event_of,
    lone_broker,
    lone_node,
    on_register,
    on_subscription,
    registration,
    rules,
)
from tests.protocols.lone import emitted_by, entered

SLOTS = 64


interest = uncompiled(copies.interest)
is_more_capable = uncompiled(elections.is_more_capable)


def beside(*neighbours: int) -> Neighbourhood:
    """A lone node with these neighbours."""
    who = np.array(neighbours, np.int32)
    return Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, len(who), np.uint32), who,
        np.full(len(who), NONE, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip


def message_of(kind: int, at: float = 1.0) -> np.record:
    """A blank record of a kind."""
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.kind, record.at, record.source, record.target = kind, at, NONE, NONE
    record.topic = record.event = record.publisher = NONE
    return record


def answers(
    state: states.DripState,
    near: Neighbourhood,
    record: np.record,
    given: drip.Rules | None = None,
) -> list[np.record]:
    """The records that a lone node emits for a message."""

    def call(message: Any, out: Any) -> None:
        entered(state, given or rules(), near, np.uint32(0), message, out)

    sent = emitted_by(call, record, SLOTS)
    return [np.frombuffer(one, RECORD).copy().view(np.recarray)[0] for one in sent]


def listed(state: states.DripState, place: int, broker: int, delay: float, via: int) -> None:
    """Enter a broker in a node's list of the nearest ones; its beacon came a second ago."""
    entry = state.nearest[0, place]
    entry.node_id, entry.delay_us, entry.via, entry.heard_at = broker, delay, via, 0.0


def attached(broker: int = 7, via: int = 2) -> states.DripState:
    """Node 5 in a broker's region; it subscribes to topics 3 to 5."""
    made = lone_node(5)
    made.node.bootstrapped[0], made.node.local_broker[0] = 1, broker
    made.node.starts[0], made.node.version[0] = 1, 1
    listed(made, 0, broker, 10.0, via)
    made.intervals[0, 0].low, made.intervals[0, 0].high = 3, 5
    return made


def kinds(sent: list[np.record]) -> list[int]:
    """The kinds of some records."""
    return [int(record.kind) for record in sent]


def beacon(broker: int, source: int, local: int = NONE, age: float = 0.0) -> np.record:
    """A beacon of a broker, from a neighbour in the region of `local`."""
    record = message_of(int(messages.BEACON))
    record.source, record[messages.BROKER_ID] = source, broker
    record[messages.LOCAL_BROKER] = local
    record.args[messages.BEACON_SEQUENCE], record.reals[messages.AGE] = 1, age
    record.args[messages.REPLACES] = NONE
    return record


def test_of_equally_capable_nodes_the_one_with_the_lower_id_is_elected() -> None:
    """[drip §IV-A] The larger ξ. The paper does not order equal abilities: we take the lower id."""
    assert is_more_capable(0.5, 3, 0.4, 1)
    assert not is_more_capable(0.4, 1, 0.5, 3)
    assert is_more_capable(0.5, 1, 0.5, 3)
    assert not is_more_capable(0.5, 3, 0.5, 1)
    assert is_more_capable(0.0, 9, 0.9, NONE)  # there is no other


def test_a_node_publishes_to_its_local_broker_and_each_hop_to_its_own() -> None:
    """[drip §V-A] "nodes publish them to their local broker nodes"."""
    published = message_of(int(application.PUBLISH))
    published.topic, published.publisher, published.event = 9, 5, 0
    (news,) = answers(attached(), beside(2), published)
    assert (news.kind, news.target, news.next) == (messages.NEWS, 7, 2)
    assert (news.topic, news.publisher, news.event) == (9, 5, 0)
    news.source, news.hops = 4, 1
    (passed,) = answers(attached(broker=8, via=3), beside(3, 4), news)
    assert (passed.kind, passed.target, passed.next) == (messages.NEWS, 8, 3)
    assert (passed.topic, passed.publisher, passed.event) == (9, 5, 0)


@pytest.mark.parametrize("topic", [4, 6])
def test_a_broker_floods_an_event_only_if_a_subscriber_is_in_its_region(topic: int) -> None:
    """[drip §V-A] An event is flooded in a region whose broker's register has a match."""
    broker = lone_broker()
    on_register(broker, 0, registration(1))  # topics 3 to 5
    news = event_of(3, 0, topic)
    news.kind, news.source, news.target = messages.NEWS, 2, 0
    sent = answers(broker, beside(2), news)
    assert kinds(sent) == ([messages.FLOOD] if topic == 4 else [])
    assert all(record.next == EVERYONE for record in sent)
    assert (broker.events.role[0] == states.SOURCE).sum() == 1  # it is stored in any case


def test_a_flood_is_delivered_once_and_to_a_subscriber_only() -> None:
    """[drip §V-A] A node of the region repeats a flood; its application gets what it wants."""
    made = attached()
    for topic, event, reports in ((4, 0, 1), (4, 0, 0), (6, 1, 0)):
        flood = event_of(3, event, topic)
        flood.kind, flood.source, flood[messages.BROKER_ID] = messages.FLOOD, 2, 7
        flood.args[messages.ROUND] = event + (reports == 0)
        sent = answers(made, beside(2), flood)
        delivered = [(int(r.topic), int(r.event)) for r in sent if r.next == APP]
        assert delivered == [(topic, event)] * reports
        assert kinds(sent).count(messages.FLOOD) == 1


def test_a_subscriber_that_registers_gets_the_held_events_that_it_has_not_seen() -> None:
    """[drip §V-A] Our addition: a node that changes its region between two floods misses none of
    them.
    """
    broker = lone_broker()
    for event, topic in enumerate((4, 5, 9)):
        news = event_of(3, event, topic)
        news.kind, news.source, news.target = messages.NEWS, 2, 0
        assert answers(broker, beside(2), news) == []
    subscriber = attached(broker=0)
    seen = event_of(3, 0, 4)
    seen.kind, seen.source, seen[messages.BROKER_ID] = messages.FLOOD, 2, 0
    answers(subscriber, beside(2), seen)
    tick = message_of(int(messages.TICK))
    tick.args[messages.STARTS] = 1
    given = rules(registration_interval_s=0.0)
    sent = answers(subscriber, beside(2), tick, given)
    (register,) = [record for record in sent if record.kind == messages.REGISTER]
    register.source, register.at = 2, 1.0
    flooded = answers(broker, beside(2), register)
    assert [(int(r.kind), int(r.event)) for r in flooded] == [(messages.FLOOD, 1)]


def test_a_node_that_changes_its_region_quits_and_registers_its_copy() -> None:
    """[drip §V-A] A Quit to the last local broker, and the copy to the new one, with the ids of
    the nearest brokers [drip §V-B]."""
    made = attached()
    sent = answers(made, beside(2, 3), beacon(9, source=3, local=9, age=2e-6))
    moved = [record for record in sent if record.kind != messages.BEACON]
    assert kinds(moved) == [messages.QUIT, messages.REGISTER]
    quit_record, register = moved
    assert (quit_record.target, quit_record.next) == (7, 2)
    assert (register.target, register.next) == (9, 3)
    assert (register[messages.FIRST_TOPIC], register[messages.LAST_TOPIC]) == (3, 5)
    assert register.args[messages.SUBSCRIBER] == 5
    assert register.args[messages.NEAREST :].tolist()[:3] == [9, 7, NONE]
    old, new = (int(one.args[messages.VERSION]) for one in (quit_record, register))
    assert old < new


def test_the_last_broker_of_a_list_stays_although_its_beacons_no_longer_come() -> None:
    """[drip §IV-B] A node is attached to a broker "at any time"."""
    made = attached()
    listed(made, 1, 8, 20.0, 2)
    tick = message_of(int(messages.TICK), at=100.0)  # long after both beacons
    tick.args[messages.STARTS] = 1
    answers(made, beside(2), tick)
    assert made.nearest.node_id[0].tolist() == [NONE, 8, NONE]
    assert made.node.local_broker[0] == 8


def test_a_bridge_node_reports_the_other_region_and_each_hop_learns_the_route() -> None:
    """[drip §V-B, Fig. 2] The report goes to the local broker, and names the second nearest."""
    made = attached()
    listed(made, 1, 8, 20.0, 3)
    tick = message_of(int(messages.TICK))
    tick.args[messages.STARTS] = 1
    assert messages.REPORT not in kinds(answers(made, beside(2, 3), tick))
    made.nearest[0, 1].border_neighbour, made.nearest[0, 1].border_at = 3, 1.0
    sent = answers(made, beside(2, 3), tick)
    (report,) = [record for record in sent if record.kind == messages.REPORT]
    assert (report.target, report.next) == (7, 2)
    assert report.args[messages.OTHER_BROKER] == 8
    hop = attached(via=1)
    report.source = 5
    (passed,) = answers(hop, beside(1, 5), report)
    assert (passed.kind, passed.target, passed.next) == (messages.REPORT, 7, 1)
    assert (int(hop.routes[0, 0].to), int(hop.routes[0, 0].via)) == (8, 5)


@pytest.mark.parametrize("source", [8, 4])
def test_brokers_in_range_exchange_subscriptions_without_a_bridge(source: int) -> None:
    """[drip §V-B] Two brokers need a bridge node "unless they are neighbors"."""
    broker = lone_broker()
    on_register(broker, 0, registration(1))
    sent = answers(broker, beside(source), beacon(8, source))
    sent = [record for record in sent if record.kind == messages.SUBSCRIPTION]
    assert len(sent) == (source == 8)
    assert all(record.next == 8 for record in sent)


def test_a_broker_is_interested_if_a_subscriber_lists_it() -> None:
    """[drip §V-B] The subscriber may be in the region of each of its l nearest brokers."""
    broker, record = lone_broker(), registration(1)  # topics 3 to 5
    record.args[messages.NEAREST : messages.NEAREST + 3] = [6, 7, 8]
    on_subscription(broker, 0, record)
    assert interest(broker, 0, 4, 7) == (True, True)
    assert interest(broker, 0, 4, 9) == (True, False)
    assert interest(broker, 0, 6, 7) == (False, False)
