"""Flooding reaches exactly the component, and tells each subscriber there exactly once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import flooding
from halfway.world.graphs.network import Network
from tests.networks import line
from tests.protocols.lone import HOP, Driven, Letter, World, drive
from tests.protocols.worlds import component, networks

EVENTS, TOPICS = 3, 2


def flooded(network: Network, commands: list[Letter], wait: float = 0.01) -> Driven:
    """A run of flooding."""
    return drive(
        World(
            network, flooding, lambda names: flooding.state(names, EVENTS, TOPICS),
            flooding.Rules(wait), commands, most=2,
        )
    )  # fmt: skip


@given(networks(connected=False), st.data())
def test_every_subscriber_of_the_component_is_told_once(
    network: Network, data: st.DataObject
) -> None:
    row = st.integers(0, network.n - 1)
    publishers = data.draw(st.lists(row, min_size=EVENTS, max_size=EVENTS))
    wishes = data.draw(st.sets(st.tuples(row, st.integers(0, TOPICS - 1))))
    commands = [Letter(0.0, who, flooding.SUBSCRIBE, topic) for who, topic in sorted(wishes)]
    commands += [
        Letter(0.5, who, flooding.PUBLISH, event % TOPICS, event)
        for event, who in enumerate(publishers)
    ]
    run = flooded(network, commands)
    reached = [component(network, who) for who in publishers]
    assert run.commands(flooding.DELIVERED) == sorted(
        (who, topic, event)
        for event, publisher in enumerate(publishers)
        for who, topic in wishes
        if topic == event % TOPICS and who in reached[event] and who != publisher
    )
    for event, rows in enumerate(reached):
        assert set(np.flatnonzero(run.state.seen[:, event] == event)) == rows
    # Everybody says it once, so everybody hears it from each neighbour.
    heard = sum(int(network.degree[who]) for rows in reached for who in rows)
    assert len(run.received(flooding.FLOOD)) == heard


def test_an_event_published_twice_is_said_once() -> None:
    run = flooded(line(4), [Letter(at, 0, flooding.PUBLISH, 0, 1) for at in (0.0, 7.0)])
    assert len(run.received(flooding.FLOOD)) == 6


def test_a_late_subscriber_is_told_of_later_events_only() -> None:
    commands = [
        Letter(0.0, 0, flooding.PUBLISH, 0, 0),
        Letter(5.0, 3, flooding.SUBSCRIBE, 0),
        Letter(9.0, 0, flooding.PUBLISH, 0, 1),
    ]
    assert flooded(line(4), commands).commands(flooding.DELIVERED) == [(3, 0, 1)]


def test_each_hop_costs_the_wait_and_the_way() -> None:
    commands = [Letter(0.0, 5, flooding.SUBSCRIBE, 0), Letter(1.0, 0, flooding.PUBLISH, 0, 0)]
    run = flooded(line(6), commands, wait=0.25)
    assert run.told["hops"] == 5
    np.testing.assert_allclose(run.told["at"], 1.0 + 5 * (0.25 + HOP))


def test_a_small_window_still_tells_every_event_that_is_over_before_its_place_is_taken() -> None:
    commands = [Letter(0.0, 5, flooding.SUBSCRIBE, 0)]
    commands += [Letter(1.0 + event, 0, flooding.PUBLISH, 0, event) for event in range(50)]
    commands += [Letter(90.0, 2, flooding.PUBLISH, 0, 7)]  # an old one is not revived
    rules, book = flooding.Rules(0.01), flooding.Book(1)
    here = World(
        line(6), flooding, lambda n: flooding.state(n, 1, 1), rules, book, commands, most=2
    )
    assert drive(here).commands(flooding.DELIVERED) == [(5, 0, event) for event in range(50)]
