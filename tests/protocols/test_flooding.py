"""Flooding reaches exactly the publisher's component, and delivers to each subscriber once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import flooding
from halfway.protocols.parts.application import DELIVERED, PUBLISH, SUBSCRIBE
from halfway.world.graphs.network import Network
from tests.networks import line
from tests.protocols.lone import HOP, Command, Driven, World, drive
from tests.protocols.received import rows_with
from tests.protocols.worlds import component, networks

EVENTS, TOPICS = 3, 2


def flooded(network: Network, commands: list[Command], repeat_delay_s: float = 0.01) -> Driven:
    """A run of flooding."""
    return drive(
        World(
            network, flooding, lambda names: flooding.state(names, EVENTS, TOPICS),
            flooding.Rules(repeat_delay_s), commands, most=2,
        )
    )  # fmt: skip


@given(networks(connected=False), st.data())
def test_every_subscriber_of_the_component_receives_an_event_once(
    network: Network, data: st.DataObject
) -> None:
    rows = st.integers(0, network.n - 1)
    publishers = data.draw(st.lists(rows, min_size=EVENTS, max_size=EVENTS))
    subscriptions = data.draw(st.sets(st.tuples(rows, st.integers(0, TOPICS - 1))))
    commands = [Command(0.0, row, SUBSCRIBE, topic) for row, topic in sorted(subscriptions)]
    commands += [
        Command(0.5, row, PUBLISH, event % TOPICS, event) for event, row in enumerate(publishers)
    ]
    run = flooded(network, commands)
    reached = [component(network, row) for row in publishers]
    assert run.reported(DELIVERED) == sorted(
        (row, topic, event)
        for event, publisher in enumerate(publishers)
        for row, topic in subscriptions
        if topic == event % TOPICS and row in reached[event] and row != publisher
    )
    for event, nodes in enumerate(reached):
        assert set(rows_with(run.state.seen, event)) == nodes
    # Each node repeats it once, so each node receives it from every neighbour.
    expected = sum(int(network.degree[row]) for nodes in reached for row in nodes)
    assert len(run.received(flooding.FLOOD)) == expected


def test_an_event_published_twice_is_repeated_once() -> None:
    run = flooded(line(4), [Command(at, 0, PUBLISH, 0, 1) for at in (0.0, 7.0)])
    assert len(run.received(flooding.FLOOD)) == 6


def test_a_late_subscriber_receives_later_events_only() -> None:
    commands = [
        Command(0.0, 0, PUBLISH, 0, 0),
        Command(5.0, 3, SUBSCRIBE, 0),
        Command(9.0, 0, PUBLISH, 0, 1),
    ]
    assert flooded(line(4), commands).reported(DELIVERED) == [(3, 0, 1)]


def test_each_hop_takes_the_repeat_delay_and_the_radio_delay() -> None:
    commands = [Command(0.0, 5, SUBSCRIBE, 0), Command(1.0, 0, PUBLISH, 0, 0)]
    run = flooded(line(6), commands, repeat_delay_s=0.25)
    assert run.reports["hops"] == 5
    np.testing.assert_allclose(run.reports["at"], 1.0 + 5 * (0.25 + HOP))


def test_an_event_below_the_window_of_its_publisher_is_not_repeated() -> None:
    commands = [Command(0.0, 5, SUBSCRIBE, 0)]
    commands += [Command(1.0 + event, 0, PUBLISH, 0, event) for event in range(80)]
    commands += [Command(90.0, 0, PUBLISH, 0, 7)]
    here = World(
        line(6), flooding, lambda n: flooding.state(n, 1, 1), flooding.Rules(0.01), commands, most=2
    )
    assert drive(here).reported(DELIVERED) == [(5, 0, event) for event in range(80)]
