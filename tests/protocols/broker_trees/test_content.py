"""Filters and values in records: several records a filter, and no node reads another's numbers."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.filters import Filters, filters, match_matrix
from halfway.core.message import MOST_ATTRIBUTES, RECORD
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.circuits import SORTS
from halfway.protocols.broker_trees.records.messages import (
    DELIVERED,
    FIRST,
    NOTIFY,
    PUBLISH,
    SUBSCRIBE,
    SUBSCRIBE_UP,
    digest,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue, empty_table
from tests.networks import line
from tests.protocols.broker_trees.routes import GivenPaths, plant_path, plant_paths, plant_tree
from tests.protocols.lone import Command, World, drive, emitted_alone
from tests.protocols.rules_of import rules_of

ATTRIBUTES = 5  # two records a filter
NODES, BROKERS = 4, 3  # a chain of brokers, and a client's node behind the last

LEVELS = st.sampled_from([0.0, 1.0, 2.0, 3.0])
CONSTRAINTS = st.dictionaries(
    st.integers(0, ATTRIBUTES - 1), st.tuples(LEVELS, LEVELS).map(sorted).map(tuple), max_size=4
)
EVENTS = st.lists(st.one_of(LEVELS, st.just(np.nan)), min_size=ATTRIBUTES, max_size=ATTRIBUTES)


def chain(some: Filters, values: np.ndarray) -> World:
    """The chain: the client's node subscribes to every filter; the root publishes every event."""
    given = GivenPaths([0, 1, 2], {(1, 0): (1, 0), (2, 1): (2, 1)}, {})
    brokers, parents = np.arange(BROKERS, dtype=np.int32), np.array([-1, 0, 1], np.int32)
    many = len(some.first) - 1

    def fresh(names: Any) -> siena.SienaState:
        capacity = ClientCapacity(np.array([3], np.int32), 8, 8, 2)
        made = siena.state(names, brokers, 0, 24, clients=capacity, attributes=ATTRIBUTES)
        plant_tree(made, brokers, parents)
        plant_paths(made, given)
        plant_path(made, {int(name): i for i, name in enumerate(names)}, (3, 2), (SORTS, 3))
        made.clients.broker[:], made.clients.number[:], made.clients.attached[:] = 2, SORTS, 1
        return made

    commands = [Command(float(f), 3, int(SUBSCRIBE), f, -1, f) for f in range(many)]
    commands += [Command(100.0 + e, 0, int(PUBLISH), e, e) for e in range(len(values))]
    rules = rules_of(siena, catalogue=Catalogue(some, values))
    return World(line(NODES), siena, fresh, rules, commands, most=3 * 24 + 6)


@settings(max_examples=40)
@given(st.lists(CONSTRAINTS, min_size=1, max_size=6), st.lists(EVENTS, min_size=1, max_size=6))
def test_filters_of_several_records_match_as_the_filters_do(
    wanted: list[dict[int, tuple[float, float]]], events: list[list[float]]
) -> None:
    """[Carzaniga et al. §3] a filter is a conjunction of constraints on any attributes."""
    some, values = filters(wanted), np.array(events)
    driven = drive(chain(some, values))
    expected = [
        (e, f) for e, row in enumerate(match_matrix(some, values)) for f in np.flatnonzero(row)
    ]
    reports = driven.reports[driven.reports["kind"] == DELIVERED]
    assert sorted(zip(reports["event"], reports["target"], strict=True)) == expected
    for report in reports:
        got = report["reals"][:ATTRIBUTES]
        assert np.array_equal(got, values[report["event"]], equal_nan=True)
    up = driven.records[driven.records["kind"] == SUBSCRIBE]
    assert {*up["args"][up["args"][:, 1] > 0, FIRST]} == {0, 3}


def test_a_broker_reads_no_number_of_another_nodes_application() -> None:
    """Each node has its own catalogue, so a broker's may be empty."""
    some = filters([{0: (0.0, 1.0), 4: (1.0, 2.0)}, {0: (0.5, 1.0)}, {}])
    values = np.array([[0.5, 0.0, 0.0, 0.0, 1.5], [3.0] * ATTRIBUTES])
    here = chain(some, values)
    driven = drive(here)
    nothing = Catalogue(filters([]), np.zeros((0, ATTRIBUTES)))
    alone = here.rules._replace(catalogue=nothing)
    for row in (1, 2):
        records = driven.records[driven.rows == row]
        usual = emitted_alone(here, row, here.rules, records)
        assert emitted_alone(here, row, alone, records) == usual
        assert any(usual)


def test_a_filter_of_which_one_record_is_lost_takes_no_event_and_is_not_forwarded() -> None:
    here = chain(filters([{}]), np.zeros((1, ATTRIBUTES)))
    driven = drive(here)
    parts = driven.records[(driven.records["kind"] == SUBSCRIBE) & (driven.rows == 2)]
    events = driven.records[(driven.records["kind"] == NOTIFY) & (driven.rows == 2)]
    assert len(parts) == 2
    for some, forwarded, notified in (([0], 0, 0), ([1], 0, 0), ([0, 0], 0, 0), ([1, 0], 2, 1)):
        records = [*parts[some], *events]
        emitted = itertools.chain(*emitted_alone(here, 2, here.rules, records))
        sent = [np.frombuffer(each, RECORD)[0]["kind"] for each in emitted]
        assert sent.count(SUBSCRIBE_UP) == forwarded
        assert sent.count(NOTIFY) == notified


def test_filters_have_one_digest_by_content() -> None:
    some = filters([{0: (0.0, 1.0)}, {0: (0.0, 1.0)}, {1: (0.0, 1.0)}, {}, {7: (0.0, 1.0)}])
    names = [int(digest(some, f, ATTRIBUTES)) for f in range(5)]
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert min(names) >= 0


def test_events_have_no_more_attributes_than_a_record_carries() -> None:
    assert empty_table(1, 1, MOST_ATTRIBUTES).low.shape == (1, 1, MOST_ATTRIBUTES)
    with pytest.raises(ValueError, match="attributes = 7: expected 1 to 6"):
        empty_table(1, 1, MOST_ATTRIBUTES + 1)
    with pytest.raises(ValueError, match="attributes = 0"):
        empty_table(1, 1, 0)


def test_an_attribute_that_no_event_has_is_never_matched() -> None:
    here = chain(filters([{ATTRIBUTES: (0.0, 9.0)}, {}]), np.zeros((1, ATTRIBUTES)))
    driven = drive(here)
    assert driven.reports["target"][driven.reports["kind"] == DELIVERED].tolist() == [1]
