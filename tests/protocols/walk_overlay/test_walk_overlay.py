"""The overlay's events and repairs: everybody who should be told is, and nobody else, ever."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import START
from halfway.problem import Problem
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay import messages as walk_overlay_records
from halfway.protocols.walk_overlay.messages import CHUNK, EVENT, JOIN, LAUNCH, NEVER
from halfway.protocols.walk_overlay.subscriptions import LEVELS, PIECES, cell_of, covering, item_of
from halfway.world.graphs.network import Network
from tests.networks import from_links, line
from tests.protocols.lone import Letter, World, drive, faults
from tests.protocols.walk_overlay.history import (
    BOOK,
    EVENTS,
    RULES,
    SUBSCRIPTIONS,
    History,
    act,
    wants,
)
from tests.protocols.worlds import networks


def wrong(network: Network, seed: int, faulty: bool, acts: int) -> list[Any]:
    """A random history on a network; what went wrong first."""
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
def test_nothing_is_lost_and_nobody_is_told_what_it_does_not_want(
    faulty: bool, network: Network, seed: int, acts: int
) -> None:
    assert wrong(network, seed, faulty, acts) == []


@pytest.mark.slow
@pytest.mark.parametrize("faulty", [False, True])
@settings(max_examples=500)
@given(networks(most=12), st.integers(0, 2**32), st.integers(6, 18))
def test_a_hundred_thousand_histories(faulty: bool, network: Network, seed: int, acts: int) -> None:
    """A hundred histories of each example: what hypothesis draws and shrinks is their world."""
    seeds = range(seed, seed + 100)
    assert [one for one in seeds if wrong(network, one, faulty, acts)] == []


@settings(max_examples=60)
@given(networks(most=12), st.data())
def test_whoever_joins_at_the_same_time_ends_in_one_tree(
    network: Network, data: st.DataObject
) -> None:
    rows = data.draw(st.permutations(range(network.n)))
    history = History(network, data.draw(st.integers(0, 2**32)))
    if network.n < 3:
        return
    history.begin(*rows[:2])
    for row in rows[2:6]:
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


def test_events_take_only_links_behind_which_somebody_wants_them() -> None:
    history = chain()
    history.subscribe(2, 0)
    before = int(history.engine.counters.heard_kind[EVENT])
    assert history.published(0, 0) == ([2], [2])
    assert int(history.engine.counters.heard_kind[EVENT]) - before == 2
    flood = History(line(6), 1, RULES._replace(filtered=False))
    flood.begin(0, 5)
    flood.subscribe(2, 0)
    assert flood.published(0, 0) == ([2], [2])
    assert flood.engine.counters.heard_kind[EVENT] == 5


def test_unsubscribing_takes_the_filters_back_to_where_they_were() -> None:
    history = chain()
    history.subscribe(2, 3)
    held = history.state.heard.copy()
    history.subscribe(4, 1)
    history.subscribe(2, 5)
    assert not np.array_equal(history.state.heard, held)
    history.subscribe(4, 1, wanted=False)
    history.subscribe(2, 5, wanted=False)
    assert np.array_equal(history.state.heard, held)


def test_a_subscription_that_changes_no_filter_costs_no_message() -> None:
    history = chain()
    history.subscribe(5, 1)
    before = int(history.engine.counters.heard_kind[CHUNK])
    history.subscribe(5, 1)
    assert int(history.engine.counters.heard_kind[CHUNK]) == before


def test_a_brokers_death_is_mended_by_a_new_walk() -> None:
    """On a ring the only way left is the other one, part of which may be outside the overlay."""
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


def test_an_heir_finds_out_that_its_root_lives_behind_a_lost_link() -> None:
    ring = from_links(12, [(i, (i + 1) % 12) for i in range(12)])
    for seed in range(4):
        history = History(ring, seed)
        history.begin(0, 4)
        root = int(history.state.members.root[0])
        heir = int(history.state.members.heir[root])
        for row in (0, 4):
            history.subscribe(row, 0)
        history.sever(root, heir)
        assert history.is_a_tree()
        assert history.published(0, 0) == ([4], [4])
        assert history.published(4, 0) == ([0], [0])


def test_an_initiator_that_comes_back_tells_its_old_neighbours_and_joins_anew() -> None:
    history = chain()
    history.subscribe(5, 0)
    history.engine.incarnation[5] += 2  # away for so short a time that nobody has missed it
    history.post(int(START), 5)
    history.settle()
    assert 5 in history.members()
    assert history.is_a_tree()
    assert history.state.members.walks[5] == 2
    assert history.published(0, 0) == ([5], [5])


def test_who_publishes_from_outside_is_told() -> None:
    history = History(line(9), 1)
    history.begin(0, 1)
    assert 8 not in history.members()
    assert history.published(8, 0) == ([], [])


@given(st.integers(0, 2**LEVELS * 8), st.integers(1, 2**LEVELS * 8))
def test_the_cells_of_an_interval_cover_it_and_are_few(low: int, wide: int) -> None:
    steps = 2**LEVELS * 8
    a, b = low / steps, min(low + wide, steps + 8) / steps
    if a >= 1.0 or b <= a:
        return
    cells = covering(a, min(b, 1.0))
    assert 1 <= len(cells) <= PIECES
    for point in range(low, min(low + wide, steps)):
        inside = [int(cell_of(point / steps, level)) == cell for level, cell in cells]
        assert any(inside)


def test_what_lies_outside_the_range_is_in_the_outermost_cells() -> None:
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
        ([walk_overlay.Subscription(0, ((0.5, 0.5),))], []),
        ([], [(0, (1.0,)), (1, (1.0, 2.0))]),
        ([], [(0, (float("nan"),))]),
    ],
)
def test_a_book_that_makes_no_sense_is_refused(subscriptions: Any, events: Any) -> None:
    with pytest.raises(Problem):
        walk_overlay.catalogue(subscriptions, events, 1)


def test_the_oracle_of_matching_tells_edges_apart() -> None:
    """What `wants` says of the test's own grid: intervals are closed below and open above."""
    edge = {e for e in range(len(EVENTS)) if wants(2, e)}
    assert {EVENTS[e][1][0] for e in edge} == {0.2, 0.35}


def world() -> World:
    """Initiators, subscriptions, events and a late join on a small network."""
    network = from_links(7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (2, 6)])
    commands = [Letter(0.0, 0, LAUNCH), Letter(0.1, 3, LAUNCH), Letter(500.0, 6, JOIN)]
    commands += [Letter(1000.0, 6, walk_overlay_kind("SUBSCRIBE"), 3)]
    publish = walk_overlay_kind("PUBLISH")
    commands += [Letter(2000.0 + e, 0, publish, EVENTS[e][0], e) for e in range(8, 14)]
    commands += [Letter(3000.0, 6, walk_overlay_kind("UNSUBSCRIBE"), 3)]
    commands += [Letter(4000.0, 3, walk_overlay_kind("LEAVE"))]

    def fresh(names: Any) -> Any:
        return walk_overlay.state(names, 3, len(SUBSCRIPTIONS), len(EVENTS), 2, 5)

    return World(network, walk_overlay, fresh, RULES, BOOK, commands, 32)


def walk_overlay_kind(name: str) -> int:
    """The number of a kind."""
    return int(getattr(walk_overlay_records, name))


def test_a_lone_node_says_what_its_row_says_and_a_row_writes_only_itself() -> None:
    here = world()
    driven = drive(here)
    assert set(driven.records["kind"]) >= {8, 9, 10, 11, 14, 15, 18, 19, 20, 21, 22}
    assert faults(here, driven, lone_rows=(0, 2, 3, 6)) == []


def test_no_call_emits_more_than_the_protocol_says() -> None:
    here = world()
    state = here.fresh(here.names())
    assert walk_overlay.most_emissions(state, RULES) <= here.most
    assert faults(here, drive(here), slots=walk_overlay.most_emissions(state, RULES)) == []


def test_unknown_kinds_change_nothing() -> None:
    here = world()
    driven = drive(World(**{**vars(here), "letters": [Letter(0.0, 2, 77), Letter(0.0, 2, 200)]}))
    assert (driven.state.members.root == NEVER).all()
    assert len(driven.records) == 2
