"""The walk overlay's events and repairs: every due delivery, and no other, in any history."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import START
from halfway.core.missing import NONE
from halfway.problem import Problem
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.messages import (
    CHUNK,
    CONTENT_EVENT,
    JOIN,
    LEAVE,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from halfway.protocols.walk_overlay.subscription_items import (
    LEVELS,
    PIECES,
    Subscription,
    catalogue,
    cell_of,
    covering,
    item_of,
)
from halfway.world.graphs.network import Network
from tests.networks import from_links, line
from tests.protocols.lone import Command, World, drive, faults
from tests.protocols.walk_overlay.history import (
    ATTRIBUTES,
    EVENTS,
    RULES,
    SUBSCRIPTIONS,
    History,
    act,
    wants,
)
from tests.protocols.worlds import networks


def wrong(network: Network, seed: int, faulty: bool, acts: int) -> list[Any]:
    """The first violation in a random history on a network."""
    random_state = np.random.default_rng(seed)
    history = History(network, seed)
    history.begin(*map(int, random_state.choice(network.n, 2, replace=False)))
    for _ in range(acts):
        if found := act(history, random_state, faulty):
            return found
    return []


@pytest.mark.parametrize("faulty", [False, True])
@settings(max_examples=120)
@given(networks(most=12), st.integers(0, 2**32), st.integers(1, 20))
def test_every_due_delivery_is_made_and_no_other(
    faulty: bool, network: Network, seed: int, acts: int
) -> None:
    """[dwo §III] "point-to-point communication between publishers and subscribers": any history."""
    assert wrong(network, seed, faulty, acts) == []


@pytest.mark.slow
@pytest.mark.parametrize("faulty", [False, True])
@settings(max_examples=500)
@given(networks(most=12), st.integers(0, 2**32), st.integers(6, 18))
def test_a_hundred_thousand_histories(faulty: bool, network: Network, seed: int, acts: int) -> None:
    """[dwo §III] A hundred histories of each example; hypothesis draws and shrinks their network
    and seed.
    """
    seeds = range(seed, seed + 100)
    assert [one for one in seeds if wrong(network, one, faulty, acts)] == []


@settings(max_examples=60)
@given(networks(most=12), st.data())
def test_concurrent_joins_end_in_one_tree(network: Network, data: st.DataObject) -> None:
    """[dwo Alg. 1] No node knows who comes first: a root founds an overlay after a time without
    one.
    """
    rows = data.draw(st.permutations(range(network.n)))
    rules = RULES._replace(founding_time_s=data.draw(st.sampled_from([30.0, 100.0])))
    history = History(network, data.draw(st.integers(0, 2**32)), rules)
    for row in rows[:6]:
        history.post(JOIN, row, at=data.draw(st.integers(0, 12)) / 4)
    history.settle()
    assert set(rows[:6]) <= history.members()
    assert history.is_a_tree()


def chain() -> History:
    """0 to 5 in a row, the ends are initiators."""
    history = History(line(6), 1)
    history.begin(0, 5)
    assert history.members() == set(range(6))
    return history


def test_events_cross_only_links_with_a_subscriber_behind_them() -> None:
    """[dwo §I, §III] "use filters to specify the value of subscriptions attributes": 2 hops."""
    history = chain()
    history.subscribe(2, 0)
    before = int(history.engine.counters.received_kind[CONTENT_EVENT])
    assert history.published(0, 0) == ([2], [2])
    assert int(history.engine.counters.received_kind[CONTENT_EVENT]) - before == 2
    flood = History(line(6), 1, RULES._replace(filtered=False))
    flood.begin(0, 5)
    flood.subscribe(2, 0)
    assert flood.published(0, 0) == ([2], [2])
    assert flood.engine.counters.received_kind[CONTENT_EVENT] == 5


def test_unsubscribing_restores_the_filters() -> None:
    """[dwo §I] "a boolean function that depends on the set of subscriptions": not on past ones."""
    history = chain()
    history.subscribe(2, 3)
    filters = history.state.received.copy()
    history.subscribe(4, 1)
    history.subscribe(2, 5)
    assert not np.array_equal(history.state.received, filters)
    history.subscribe(4, 1, add=False)
    history.subscribe(2, 5, add=False)
    assert np.array_equal(history.state.received, filters)


def test_a_subscription_that_changes_no_filter_costs_no_message() -> None:
    """[dwo §III] "filters only manage information about subscriptions": equal ones need no new
    filter.
    """
    history = chain()
    history.subscribe(5, 1)
    before = int(history.engine.counters.received_kind[CHUNK])
    history.subscribe(5, 1)
    assert int(history.engine.counters.received_kind[CHUNK]) == before


def test_a_new_walk_repairs_the_overlay_after_a_broker_dies() -> None:
    """On a ring only the other direction is left, part of which may be outside the overlay."""
    ring = from_links(12, [(i, (i + 1) % 12) for i in range(12)])
    grown = 0
    for seed in range(6):
        history = History(ring, seed)
        history.begin(0, 4)
        inside = history.members()
        broker = 2 if 2 in inside else 8
        history.subscribe(4, 0)
        assert history.published(0, 0) == ([4], [4])
        history.die(broker)
        assert history.published(0, 0) == ([4], [4])
        assert history.is_a_tree()
        grown += len(history.members() - inside) > 0
    assert grown > 0


def test_a_successor_finds_its_live_root_again_after_their_link_is_lost() -> None:
    ring = from_links(12, [(i, (i + 1) % 12) for i in range(12)])
    for seed in range(4):
        history = History(ring, seed)
        history.begin(0, 4)
        root = int(history.state.members.root[0])
        successor = int(history.state.members.successor[root])
        for row in (0, 4):
            history.subscribe(row, 0)
        history.sever(root, successor)
        assert history.is_a_tree()
        assert history.published(0, 0) == ([4], [4])
        assert history.published(4, 0) == ([0], [0])


def test_an_initiator_that_restarts_joins_again() -> None:
    history = chain()
    history.subscribe(5, 0)
    history.engine.turns[5] += 2  # down so shortly that no neighbour has noticed
    history.post(int(START), 5)
    history.settle()
    assert 5 in history.members()
    assert history.is_a_tree()
    assert history.state.members.walks[5] == 2
    assert history.published(0, 0) == ([5], [5])


def test_an_event_published_outside_the_overlay_is_reported_as_unmatched() -> None:
    history = History(line(9), 1)
    history.begin(0, 1)
    assert 8 not in history.members()
    assert history.published(8, 0) == ([], [])


@given(st.integers(0, 2**LEVELS * 8), st.integers(1, 2**LEVELS * 8))
def test_few_cells_cover_an_interval(low: int, wide: int) -> None:
    steps = 2**LEVELS * 8
    a, b = low / steps, min(low + wide, steps + 8) / steps
    if a >= 1.0 or b <= a:
        return
    cells = covering(a, min(b, 1.0))
    assert 1 <= len(cells) <= PIECES
    for point in range(low, min(low + wide, steps)):
        inside = [int(cell_of(point / steps, level)) == cell for level, cell in cells]
        assert any(inside)


def test_values_outside_the_range_are_in_the_outermost_cells() -> None:
    assert [int(cell_of(value, 3)) for value in (-4.0, 0.0, 0.99, 1.0, 7.0)] == [0, 0, 7, 7, 7]


def test_items_differ_by_key_topic_attribute_level_and_cell() -> None:
    seen = {
        int(item_of(np.uint64(key), topic, attribute, level, cell))
        for key in (1, 2) for topic in (0, 1) for attribute in (0, 1)
        for level in (2, 3) for cell in (0, 1)
    }  # fmt: skip
    assert len(seen) == 32


@pytest.mark.parametrize(
    ("subscriptions", "events"),
    [
        ([Subscription(0, ((0.5, 0.5),))], []),
        ([], [(0, (1.0,)), (1, (1.0, 2.0))]),
        ([], [(0, (float("nan"),))]),
    ],
)
def test_an_invalid_catalogue_is_refused(subscriptions: Any, events: Any) -> None:
    with pytest.raises(Problem):
        catalogue(subscriptions, events, 1)


def test_intervals_of_the_oracle_are_closed_below_and_open_above() -> None:
    edge = {e for e in range(len(EVENTS)) if wants(2, e)}
    assert {EVENTS[e][1][0] for e in edge} == {0.2, 0.35}


def world() -> World:
    """Initiators, subscriptions, events and a late join on a small network."""
    network = from_links(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 6)])
    commands = [Command(0.0, 0, JOIN), Command(0.1, 3, JOIN), Command(500.0, 6, JOIN)]
    commands += [Command(1000.0, 6, SUBSCRIBE, 3)]
    commands += [Command(2000.0 + e, 0, PUBLISH, EVENTS[e][0], e, e) for e in range(8, 14)]
    commands += [Command(3000.0, 6, UNSUBSCRIBE, 3), Command(4000.0, 3, LEAVE)]

    def fresh(node_ids: Any) -> Any:
        own, publishers = len(SUBSCRIPTIONS), len(EVENTS)
        return walk_overlay.state(
            node_ids, 3, own, publishers, 2, 5, links=3, branches=2, buffered_events=0,
            attributes=ATTRIBUTES,
        )  # fmt: skip

    return World(network, walk_overlay, fresh, RULES, commands, 32)


def test_a_lone_node_emits_what_its_row_emits_and_a_row_writes_only_itself() -> None:
    here = world()
    driven = drive(here)
    assert set(driven.records["kind"]) >= {8, 9, 10, 11, 14, 15, 18, 19, 21, 22, 33}
    assert faults(here, driven, lone_rows=(0, 2, 3, 6)) == []


def test_no_call_emits_more_than_most_emissions() -> None:
    here = world()
    state = here.fresh(here.names())
    assert walk_overlay.most_emissions(state, RULES) <= here.most
    assert faults(here, drive(here), slots=walk_overlay.most_emissions(state, RULES)) == []


def test_unknown_kinds_change_nothing() -> None:
    here = world()
    commands = [Command(0.0, 2, 77), Command(0.0, 2, 200)]
    driven = drive(World(**{**vars(here), "commands": commands}), checked=False)
    assert (driven.state.members.root == NONE).all()
    assert len(driven.records) == 2
