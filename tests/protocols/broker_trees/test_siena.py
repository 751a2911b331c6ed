"""SIENA's tree of brokers: exact delivery, and no more subscriptions upward than needed."""

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.filters import Filters, filters, match_matrix
from halfway.core.message import RECORD
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.circuits import SORTS, find
from halfway.protocols.broker_trees.records.messages import (
    CLIENT,
    DELIVERED,
    DETACH,
    PUBLISH,
    SUBSCRIBE,
    SUBSCRIBE_UP,
    UNSUBSCRIBE,
    digest,
)
from halfway.protocols.broker_trees.tables.subscription_table import FREE, Catalogue
from halfway.protocols.parts.reliable_hop import ACK, ACK_TIMEOUT
from tests.core.filter_covering import covering
from tests.networks import from_links
from tests.protocols.broker_trees.routes import GivenPaths, plant_path, plant_paths, plant_tree
from tests.protocols.lone import Command, Driven, World, drive, faults
from tests.protocols.rules_of import rules_of

SLOTS = 24
BOUNDS = (0.0, 1.0, 2.0, 3.0)
FILTERS: Filters = filters(
    [{a: (low, high)} for a in (0, 1) for low in BOUNDS for high in BOUNDS if low <= high]
    + [{0: (low, low + 1.0), 1: (0.0, high)} for low in BOUNDS for high in BOUNDS]
    + [{}]
)
MANY = len(FILTERS.first) - 1
VALUES = np.array(list(itertools.product((0.0, 1.0, 1.5, 3.0, 9.0, np.nan), repeat=2)))
NAMES = [int(digest(FILTERS, f, VALUES.shape[1])) for f in range(MANY)]
COVERS, MATCHES = covering(FILTERS), match_matrix(FILTERS, VALUES)


class Step(NamedTuple):
    """What one client does; a move is a detachment here and subscriptions elsewhere."""

    kind: int
    row: int
    client: int
    what: int  # a filter, or an event


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from([SUBSCRIBE, SUBSCRIBE, UNSUBSCRIBE, PUBLISH, PUBLISH, DETACH]).map(int),
        st.integers(0, 7),
        st.integers(0, 2),
        st.integers(0, 10_000),
    ),
    max_size=25,
)


@st.composite
def trees(draw: st.DrawFn) -> np.ndarray:
    """Parents of up to eight brokers; the root has none."""
    n = draw(st.integers(2, 8))
    return np.array([-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))], np.int32)


def node(step: Step, brokers: int) -> int:
    """The row whose application acts: a broker's, or that of the node behind the relay."""
    row = step.row % (brokers + 1)
    return row if row < brokers else brokers + 1


def world(
    parents: np.ndarray, steps: list[Step], *, slots: int = SLOTS, retries: int = 0, each: int = 3
) -> World:
    """Brokers, and behind the first a relay and a client's node. All consequences of a step end
    before the next one."""
    k = len(parents)
    tree = [(i, int(p)) for i, p in enumerate(parents) if p >= 0]
    network = from_links(k + 2, [*((p, i) for i, p in tree), (0, k), (k, k + 1)])
    given = GivenPaths(list(range(k)), {pair: pair for pair in tree}, {})
    commands = []
    for second, step in enumerate(steps):
        event = step.what % len(VALUES)
        topic = event if step.kind == PUBLISH else step.what % MANY
        row = node(step, k)
        number = second if step.kind == PUBLISH else -1
        commands.append(Command(float(second), row, step.kind, topic, number, step.client))

    def fresh(names: Any) -> siena.SienaState:
        brokers, clients = np.arange(k, dtype=np.int32), np.array([k + 1], np.int32)
        capacity = ClientCapacity(clients, slots, each, 12)
        made = siena.state(
            names, brokers, 0, slots, retries=retries, clients=capacity, attributes=VALUES.shape[1]
        )
        plant_tree(made, brokers, parents)
        plant_paths(made, given)
        row = {int(name): i for i, name in enumerate(names)}
        plant_path(made, row, (k + 1, k, 0), (SORTS, k + 1))
        made.clients.broker[:], made.clients.number[:], made.clients.attached[:] = 0, SORTS, 1
        return made

    rules = rules_of(siena, catalogue=Catalogue(FILTERS, VALUES), retries=retries)
    most = siena.most_emissions(fresh(np.arange(k + 2, dtype=np.int32)), rules)
    return World(network, siena, fresh, rules, commands, most)


def brute_force(
    parents: np.ndarray, steps: list[Step]
) -> tuple[list[tuple[int, int, int, int]], dict[tuple[int, int], set[int]]]:
    """(second, row, client, event: a second) of each notification, and subscriptions at the end."""
    wanted: dict[tuple[int, int], set[int]] = {}
    expected = []
    for second, step in enumerate(steps):
        key, f = (node(step, len(parents)), step.client), step.what % MANY
        if step.kind == SUBSCRIBE:
            wanted.setdefault(key, set()).add(f)
        elif step.kind == UNSUBSCRIBE:
            wanted.get(key, set()).discard(f)
        elif step.kind == DETACH:
            wanted.pop(key, None)
        else:
            event = step.what % len(VALUES)
            expected += [
                (second, *who, second)
                for who, some in wanted.items()
                if MATCHES[event, [*some]].any()
            ]
    return sorted(expected), wanted


def notified(driven: Driven) -> list[tuple[int, int, int, int]]:
    """The notifications of a run, likewise."""
    return sorted(
        (int(record["at"]), int(row), int(record["target"]), int(record["event"]))
        for row, record in zip(driven.report_rows, driven.reports, strict=True)
        if record["kind"] == DELIVERED
    )


@given(trees(), STEPS)
def test_tables_with_covering_deliver_exactly_what_brute_force_delivers(
    parents: np.ndarray, steps: list[Step]
) -> None:
    """[uas §2] "delivery of notifications or publications to appropriate subscribers": exactly.

    [Carzaniga et al. §4.2] An event goes to the parent, and to the children that match.
    """
    driven = drive(world(parents, steps))
    expected, _ = brute_force(parents, steps)
    assert notified(driven) == expected
    assert not driven.state.table.refused.any()


@given(trees(), STEPS)
def test_a_parent_holds_the_maximal_filters_of_each_child_and_no_others(
    parents: np.ndarray, steps: list[Step]
) -> None:
    """[Carzaniga et al. §3.3, §4.2] No filter is held that another one covers."""
    driven = drive(world(parents, steps))
    _, wanted = brute_force(parents, steps)
    below: list[set[int]] = [set() for _ in parents]
    for (row, _client), some in wanted.items():
        above = row if row < len(parents) else 0
        while above >= 0:
            below[above] |= some
            above = int(parents[above])
    held = driven.state.table
    for child, parent in enumerate(parents):
        if parent < 0:
            continue
        mine = held.filter[parent][held.via[parent] == child]
        mine = mine[mine != FREE].tolist()
        assert set(mine) <= {NAMES[f] for f in below[child]}
        mine = [NAMES.index(name) for name in mine]
        for f in below[child]:
            assert sum(bool(COVERS[g, f]) for g in mine) >= 1
        for f, g in itertools.permutations(mine, 2):
            assert not COVERS[f, g], "two entries where one would do"


def test_covered_subscriptions_stay_below() -> None:
    """[Carzaniga et al. §4.2] only what is not covered travels further up."""
    wide, narrow = 3, 2  # [0, 3] and [0, 2] on attribute 0
    assert COVERS[wide, narrow]
    parents = np.array([-1, 0, 1], np.int32)
    steps = [Step(int(SUBSCRIBE), 2, 0, wide), Step(int(SUBSCRIBE), 2, 1, narrow)]
    driven = drive(world(parents, steps))
    assert len(driven.received(SUBSCRIBE_UP)) == 2  # the wide one at brokers 1 and 0
    back = [*steps, Step(int(UNSUBSCRIBE), 2, 0, wide), Step(int(PUBLISH), 0, 0, 0)]
    assert notified(drive(world(parents, back))) == [(3, 2, 1, 3)]


def test_a_client_that_moves_gets_what_is_published_where_it_then_is() -> None:
    parents = np.array([-1, 0, 0], np.int32)
    everything = MANY - 1
    steps = [
        Step(int(SUBSCRIBE), 1, 7, everything),
        Step(int(PUBLISH), 2, 0, 4),
        Step(int(DETACH), 1, 7, 0),
        Step(int(PUBLISH), 2, 0, 5),  # between the two brokers: lost to it
        Step(int(SUBSCRIBE), 2, 7, everything),
        Step(int(PUBLISH), 0, 0, 6),
    ]
    assert notified(drive(world(parents, steps))) == [(1, 1, 7, 1), (5, 2, 7, 5)]


def test_a_full_table_refuses_and_counts() -> None:
    steps = [Step(int(SUBSCRIBE), 1, 0, f) for f in range(5)]
    driven = drive(world(np.array([-1, 0], np.int32), steps, slots=3))
    assert driven.state.table.refused.tolist() == [0, 2]


@settings(max_examples=8)
@given(trees(), STEPS)
def test_a_lone_broker_emits_what_its_row_emits(parents: np.ndarray, steps: list[Step]) -> None:
    here = world(parents, [step._replace(client=0) for step in steps], each=1)
    state = here.fresh(here.names())
    assert siena.most_emissions(state, here.rules) == here.most
    k = len(parents)
    row_maps = {k: {row: row for row in range(k)}, 1: {k + 1: 0}}
    assert (
        faults(here, drive(here), lone_rows=(0, 1, k, k + 1), slots=here.most, row_maps=row_maps)
        == []
    )


def test_a_node_behind_a_relay_is_served_as_if_it_were_at_its_broker() -> None:
    """[uas §2] clients "are connected through an overlay network of broker nodes"."""
    parents = np.array([-1, 0, 1], np.int32)
    everything = MANY - 1
    steps = [Step(int(SUBSCRIBE), 3, 2, everything), Step(int(PUBLISH), 2, 0, 4)]
    driven = drive(world(parents, steps))
    assert notified(driven) == [(1, 4, 2, 1)]
    assert driven.reports["hops"].tolist() == [4]  # 2, 1, 0, the relay 3, the node 4


@settings(max_examples=10)
@given(trees(), STEPS)
def test_reliable_hops_deliver_the_same_once(parents: np.ndarray, steps: list[Step]) -> None:
    driven = drive(world(parents, steps, retries=2))
    assert notified(driven) == brute_force(parents, steps)[0]
    assert (driven.received(ACK) >= 0).sum() == (driven.records["sequence"] > 0).sum() / 3


def test_every_kind_of_hop_is_retransmitted_until_it_fails() -> None:
    """SUBSCRIBE is kind 0, which is a kind like the others; the relay is down."""
    parents, steps = np.array([-1, 0], np.int32), [Step(int(k), 2, 0, 1) for k in range(4)]
    driven = drive(replace(world(parents, steps, retries=2), down=(2,)))
    assert driven.received(ACK_TIMEOUT).tolist() == [3] * 3 * len(steps)
    assert not driven.state.hops.record.sequence.any()
    assert driven.state.lost.tolist() == [0, 0, 0, len(steps)]


def test_a_record_on_a_circuit_that_is_a_ring_ends_and_is_counted() -> None:
    """Two nodes whose places lead to each other."""
    here = world(np.array([-1, 0], np.int32), [Step(int(PUBLISH), 2, 0, 5)])
    ring = here.fresh

    def fresh(names: Any) -> siena.SienaState:
        made = ring(names)
        there = made.circuits.of[2, find(made.circuits, 2, 3, SORTS)]
        there.next = 3  # the relay sends back what came from the client
        back = made.circuits.of[3, find(made.circuits, 3, 3, SORTS)]
        assert back.next == 2
        return made

    driven = drive(replace(here, fresh=fresh))
    assert driven.state.lost.sum() == 1
    assert notified(driven) == []


def test_records_without_a_path_to_a_broker_are_counted() -> None:
    here = world(np.array([-1, 0], np.int32), [])
    commands = [Command(0.0, 2, int(SUBSCRIBE), 3), Command(1.0, 2, int(PUBLISH), 3, 3)]
    driven = drive(replace(here, commands=commands))  # the relay has no path of its own
    assert driven.state.lost.tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize("row", [1, 3])  # a broker, and a client's node behind the relay
@pytest.mark.parametrize("kind", [SUBSCRIBE, UNSUBSCRIBE, PUBLISH])
def test_a_command_whose_number_is_not_in_the_catalogue_is_ignored(kind: int, row: int) -> None:
    """The range of the number has room for a digest, so the check at the door accepts it."""
    last = (len(VALUES) if kind == PUBLISH else MANY) - 1
    here, event = world(np.array([-1, 0], np.int32), []), 3 if kind == PUBLISH else -1

    def emitted(number: int) -> int:
        commands = [Command(0.0, row, int(kind), number, event)]
        if kind == UNSUBSCRIBE:  # the UNSUBSCRIBE ends its only filter
            commands.insert(0, Command(0.0, row, int(SUBSCRIBE), last, -1))
        return len(drive(replace(here, commands=commands)).records) - len(commands)

    subscribed = emitted(2**31 - 1)
    assert emitted(last + 1) == subscribed
    assert emitted(last) > subscribed


def test_unknown_kinds_are_ignored() -> None:
    commands = [Command(0.0, 0, 200, 3, 3), Command(0.0, 1, 201, 3, 3)]
    here = world(np.array([-1, 0], np.int32), [])
    driven = drive(replace(here, commands=commands), checked=False)
    assert len(driven.records) == 2
    assert len(driven.reports) == 0
    assert (driven.state.table.filter == FREE).all()


def test_the_place_of_a_client_is_that_of_the_argument_of_commands() -> None:
    driven = drive(world(np.array([-1, 0], np.int32), [Step(int(SUBSCRIBE), 1, 2, 3)]))
    assert driven.records[0]["args"][CLIENT] == 2
    assert driven.records.dtype.itemsize == RECORD.itemsize
