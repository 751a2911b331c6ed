"""What a system has to know of the subscriptions at its node: topics, and all topics."""

from typing import Any

import pytest

from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.events.routed_topics import routed_filter, routed_topic
from halfway.live.limits import DEFAULT
from halfway.live.mesh import Event
from halfway.live.systems.face import Command, NodeParameters
from halfway.live.systems.live_systems import face_of

_PARAMETERS = NodeParameters(1, 5, 9, DEFAULT)


def ignore(_: Event) -> None:
    """Take an event."""


def subscriptions(system: str, topics: int = 8) -> tuple[Subscriptions, list[Command]]:
    """No subscriptions of a node, and the commands that it was given."""
    run: list[Command] = []
    return Subscriptions(face_of(system, {}, _PARAMETERS), bytes(32), topics, run.append), run


@pytest.mark.parametrize(
    ("topic_filter", "routed"),
    [("a", "a"), ("a/b", "a/b"), ("a/b/c", "a/b"), ("a/b/#", "a/b"), ("a/b/+/d", "a/b"),
     ("a/#", "#"), ("a/+", "#"), ("+/b/c", "#"), ("#", "#")],
)  # fmt: skip
def test_a_routed_system_knows_two_levels(topic_filter: str, routed: str) -> None:
    assert routed_filter(topic_filter) == routed
    assert routed_topic("a/b/c/d") == "a/b"


def test_a_broadcast_system_subscribes_to_the_topics_that_a_wildcard_meets() -> None:
    some, run = subscriptions("flooding")
    wild = some.add("a/+", ignore)
    assert run == []
    for topic in ("a/b", "c", "a/b"):
        some.meet(some.hash_of(topic), topic)
    number = some.number_of(some.hash_of("a/b"))
    assert [command.topic for command in run] == [number]
    exact = some.add("a/b", ignore)
    assert len(run) == 1
    assert wild is not None
    some.remove(wild)
    assert len(run) == 1  # the other filter needs the topic
    assert exact is not None
    some.remove(exact)
    assert [command.kind for command in run[1:]] == [252]
    some.remove(exact)
    assert len(run) == 2


def test_topics_that_came_before_the_filter_count() -> None:
    some, run = subscriptions("flooding")
    some.meet(some.hash_of("a/b"), "a/b")
    some.add("#", ignore)
    assert len(run) == 1
    assert not some.wants_all


def test_a_routed_system_subscribes_to_each_topic_once() -> None:
    some, run = subscriptions("walk-overlay")
    made: list[Any] = [some.add(f, ignore) for f in ("a/b/c", "a/b/#", "x/#")]
    assert [command.topic for command in run] == [0, 1]  # entries of the catalogue
    assert some.wants_all
    for one in made:
        some.remove(one)
    assert len(run) == 4
    assert not some.wants_all
    some.add("new", ignore)
    assert run[-1].topic == 0  # the entry is free again


def test_a_full_table_of_topics_refuses_a_subscription() -> None:
    some, _ = subscriptions("rumor-routing", topics=2)
    assert some.add("a", ignore)
    assert some.add("b", ignore)
    assert some.add("c", ignore) is None
    assert len(some) == 2


def test_a_wildcard_goes_on_when_more_topics_come_than_there_are_numbers() -> None:
    some, run = subscriptions("flooding", topics=4)
    kinds = face_of("flooding", {}, _PARAMETERS).node.kinds
    some.add("#", ignore)
    some.add("kept/topic", ignore)
    subscribed = set[int]()
    for k in range(40):
        some.meet(some.hash_of(f"t/{k % 9}"), f"t/{k % 9}")
        number = some.number_of(some.hash_of(f"t/{k % 9}"))
        for command in run:
            is_begin = command.kind == kinds.number("subscribe")
            (subscribed.add if is_begin else subscribed.discard)(command.topic)
        run.clear()
        assert number in subscribed  # the system delivers the event
        assert some.number_of(some.hash_of("kept/topic")) == 0  # a named topic keeps its number
