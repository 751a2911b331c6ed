"""The underlay-aware tree over links that fail: detection, repair, and no duplicates."""

from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.adapters.broker_trees import own_rows
from halfway.bulk.broker_trees.broker_overlay import Overlay, UnderlayPath
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.overlay_repair import leave, repair
from halfway.core.compiler.lent import Lender
from halfway.core.message import RECORD, START
from halfway.core.missing import NONE
from halfway.core.neighbourhood import place_of
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE
from halfway.protocols.broker_trees.records.messages import (
    DELIVERED,
    LEAVE,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import new_engine
from halfway.sim.environment.memory import BlankMemory
from halfway.sim.radio.delays import Ideal
from halfway.world.underlays.waxman import Waxman, waxman
from tests.protocols.broker_trees.routes import GivenPaths, plant_paths, plant_tree, routes_of
from tests.protocols.broker_trees.test_siena import FILTERS, MANY, MATCHES, VALUES
from tests.protocols.lone import (
    Command,
    World,
    drive,
    emitted_alone,
    faults,
)
from tests.protocols.rules_of import tree_rules

NODES, BROKERS, SLOTS, CHILDREN, HOP = 24, 9, 60, 12, 1e-3
CLIENTS = np.arange(BROKERS, BROKERS + 5, dtype=np.int32)  # nodes; a broker's row is its number
HERE = BROKERS + len(CLIENTS)  # nodes with an application
MOST = 4 * SLOTS + CHILDREN + 12
LONG = 40.0  # seconds in which all failures are detected and repaired
WORLDS = 4
JOIN_EVERY = 2.0  # seconds between the starts of brokers that learn everything by messages


class Action(NamedTuple):
    """One action of a history; `what` is a filter, an event, a link or unused."""

    kind: str
    row: int  # of a broker, or of a client's node
    what: int


ACTIONS = st.lists(
    st.builds(
        Action,
        st.sampled_from(
            ["subscribe", "subscribe", "unsubscribe", "publish", "publish", "short cut",
             "long cut", "short death", "long death", "short loss", "long loss", "leave"]
        ),
        st.integers(0, HERE - 1),
        st.integers(0, 10_000),
    ),
    min_size=4,
    max_size=16,
)  # fmt: skip


def rules() -> Any:
    """The parameters of the tree in all tests."""
    tree = tree_rules(underlay_siena, Catalogue(FILTERS, VALUES))
    return tree._replace(refresh_s=5.0, join_delay_s=2.0, search_s=0.02)


@cache
def grown(seed: int) -> tuple[Overlay, GivenPaths]:
    """Brokers on the first rows of a small Waxman network, and every path."""
    overlay = Overlay(waxman(Waxman(n=NODES, side=100), seed))
    for row in range(BROKERS):
        join(overlay, row)
    return overlay, routes_of(overlay)


def empty(overlay: Overlay, names: Any, confirm: bool = False) -> underlay_siena.State:
    """The nodes of an overlay before anything has happened."""
    rows = np.array([overlay[k].row for k in range(BROKERS)], np.int32)
    return underlay_siena.state(
        names, rows, int(rows[0]), SLOTS, CHILDREN, circuit_slots=256, known=BROKERS,
        clients=ClientCapacity(CLIENTS, SLOTS, 1, HERE), confirm=confirm,
        attributes=VALUES.shape[1],
    )  # fmt: skip


def plant(state: underlay_siena.State, overlay: Overlay, given: GivenPaths) -> None:
    """Give the brokers of an overlay their parents, and the paths to them."""
    up = [overlay[k].parent for k in range(BROKERS)]
    parents = [NONE if k == NONE else overlay[k].row for k in up]
    rows = np.array([overlay[k].row for k in range(BROKERS)], np.int32)
    plant_tree(state, rows, np.array(parents, np.int32))
    plant_paths(state, given)


class LiveTree:
    """A tree that runs on, action by action.

    Without given paths the brokers start one after another, and learn everything by messages.
    """

    system: ModuleType = underlay_siena
    state: Any
    rules: Any

    def __init__(
        self,
        overlay: Overlay,
        given: GivenPaths | None,
        tau_s: float = 2.0,
        confirm_s: float = 0.0,
    ) -> None:
        self.overlay, network = overlay, overlay.underlay.network
        self.neighbourhood, self.now, self.heard, self.event = network.neighbourhood(), 0.0, 0, 0
        self.rules = rules()._replace(tau_s=tau_s, confirm_timeout_s=confirm_s)
        if given is None:
            self.rules = self.rules._replace(join_delay_s=0.0)
        self.confirm = confirm_s > 0.0
        self.state = empty(self.overlay, np.arange(NODES, dtype=np.int32), self.confirm)
        self.blank = BlankMemory(self.state, own_rows)
        self.number = {overlay[k].row: k for k in range(BROKERS)}
        if given is not None:
            plant(self.state, overlay, given)
        cut = np.zeros(len(network.who), np.uint8)
        self.engine = new_engine(NODES, 8192, 1 << 14)._replace(cut=cut)
        self.lend, self.unchanged = Lender(), no_changes()
        for row in range(HERE):
            at = JOIN_EVERY * row if given is None and row < BROKERS else 0.0
            loop.post(self.engine, at, row, int(START), -1, 0, -1, self.lend)

    def row(self, number: int) -> int:
        """The node of a broker."""
        return self.overlay[number].row

    def parent(self, number: int) -> int:
        """The number of a broker's parent, or NONE, or OUTSIDE."""
        name = int(self.state.parent[self.state.broker_index[self.row(number)]])
        return name if name < 0 else self.number[name]

    def say(self, row: int, kind: int, topic: int = -1, event: int = -1) -> None:
        """Post a command to a node, now."""
        loop.post(self.engine, self.now, row, kind, topic, 0, event, self.lend)

    def cut(self, a: int, b: int, broken: bool) -> None:
        """Cut or restore a link."""
        for one, other in ((a, b), (b, a)):
            self.engine.cut[place_of(self.neighbourhood, one, other)] = broken

    def kill(self, row: int) -> None:
        """A node goes down (odd turns)."""
        self.engine.turns[row] += 1

    def revive(self, row: int) -> None:
        """It comes back."""
        self.engine.turns[row] += 1
        self.say(row, int(START))

    def forget(self, row: int) -> None:
        """It comes back with the memory of a new node, in its next incarnation."""
        self.engine.incarnation[row] += 1
        self.blank.clear(row, int(self.engine.incarnation[row]))

    def settle(self, seconds: float) -> list[tuple[int, int]]:
        """Run for some seconds; returns (row, event) of the notifications."""
        self.now += seconds
        most = self.system.most_emissions(self.state, self.rules)
        why = loop.run(
            self.state, self.rules, self.neighbourhood, self.engine, Ideal(HOP),
            self.neighbourhood, True, self.unchanged, self.now, loop.UNLIMITED, most, self.lend,
        )  # fmt: skip
        assert why in (loop.IDLE, loop.UNTIL)
        assert self.engine.out.tally[1] == 0
        first, self.heard = self.heard, int(self.engine.applications.tally[0])
        log = self.engine.applications
        heard = log.record[first : self.heard].view(RECORD)
        rows = log.row[first : self.heard]
        return sorted(
            (int(row), int(record["event"]))
            for row, record in zip(rows, heard, strict=True)
            if record["kind"] == DELIVERED
        )

    def publish(self, row: int, content: int) -> int:
        """An application publishes; returns the event's id."""
        self.say(row, int(PUBLISH), content, self.event)
        self.event += 1
        return self.event - 1


def fail(action: Action, live: LiveTree) -> None:
    """Something fails, for less or more time than detection takes; no event arrives twice."""
    seconds = 1.5 if action.kind.startswith("short") else LONG
    row = action.row
    near = live.neighbourhood.who[live.neighbourhood.first[row] : live.neighbourhood.last[row]]
    other = int(near[action.what % len(near)])
    if action.kind.endswith(("death", "loss")):
        live.kill(row)
    else:
        live.cut(row, other, True)
    live.settle(seconds / 2)
    live.publish((action.row + 1) % HERE, action.what % len(VALUES))
    heard = live.settle(seconds / 2)
    assert len(heard) == len(set(heard))
    if action.kind.endswith("loss"):
        live.forget(row)
    if action.kind.endswith(("death", "loss")):
        live.revive(row)
    else:
        live.cut(row, other, False)


def is_tree(live: LiveTree) -> bool:
    """Whether all brokers that did not leave are below one root."""
    stay = [k for k in range(BROKERS) if live.parent(k) != OUTSIDE]
    tops = set()
    for below in stay:
        here = below
        for _ in range(BROKERS):
            if live.parent(here) != NONE:
                here = live.parent(here)
        tops.add(here)
    return len(tops) == 1 and live.parent(next(iter(tops))) == NONE


HISTORIES = (st.integers(0, WORLDS - 1), st.lists(st.integers(0, MANY - 1), max_size=HERE), ACTIONS)


@settings(max_examples=30)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_after_a_repair(
    seed: int, initial: list[int], actions: list[Action]
) -> None:
    """[uas §1] "capable of handling single node and link failures": one after another."""
    run_history(seed, initial, actions)


@pytest.mark.slow
@settings(max_examples=1000)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_in_a_thousand_histories(
    seed: int, initial: list[int], actions: list[Action]
) -> None:
    """[uas §2] "ensure the delivery of notifications": after every repair, once."""
    run_history(seed, initial, actions)


@settings(max_examples=30)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_where_brokers_confirm_records(
    seed: int, initial: list[int], actions: list[Action]
) -> None:
    """[uas §4.1] A failure is detected "while it tries to send": records in flight arrive."""
    run_history(seed, initial, actions, confirm_s=0.3)


@settings(max_examples=15)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_in_a_tree_that_is_formed_by_messages(
    seed: int, initial: list[int], actions: list[Action]
) -> None:
    """[uas §2; §4, Algorithm 1] The brokers join one after another, by messages."""
    run_history(seed, initial, actions, given=False)


@pytest.mark.slow
@settings(max_examples=1000)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_in_a_thousand_trees_that_are_formed_by_messages(
    seed: int, initial: list[int], actions: list[Action]
) -> None:
    run_history(seed, initial, actions, given=False)


def run_history(
    seed: int,
    initial: list[int],
    actions: list[Action],
    confirm_s: float = 0.0,
    *,
    given: bool = True,
) -> None:
    """Run a history; after each action there is one tree, which delivers the next event.

    given: whether the brokers begin with a tree and paths.
    """
    overlay, paths = grown(seed)
    live = LiveTree(overlay, paths if given else None, confirm_s=confirm_s)
    wanted: dict[int, set[int]] = {row: set() for row in range(HERE)}
    for row, f in enumerate(initial):
        wanted[row].add(f)
        live.say(row, int(SUBSCRIBE), f)
    live.settle(LONG)
    for action in actions:
        here, f = action.row, action.what % MANY
        if here not in wanted:
            continue
        if action.kind == "subscribe":
            wanted[here].add(f)
            live.say(here, int(SUBSCRIBE), f)
        elif action.kind == "unsubscribe":
            wanted[here].discard(f)
            live.say(here, int(UNSUBSCRIBE), f)
        elif action.kind == "leave" and here < BROKERS and live.parent(here) != NONE:
            del wanted[here]
            live.say(here, int(LEAVE))
        elif action.kind.endswith(("cut", "death", "loss")):
            fail(action, live)
            for f in wanted[here] if action.kind.endswith("loss") else ():
                live.say(here, int(SUBSCRIBE), f)  # the application starts again as well
        live.settle(LONG)
        assert is_tree(live)
        content = action.what % len(VALUES)
        event = live.publish(here if here in wanted else min(wanted), content)
        hear = sorted(k for k, some in wanted.items() if MATCHES[content, [*some]].any())
        assert live.settle(1.0) == [(k, event) for k in hear]
    assert not live.state.children.refused.any()
    assert not live.state.table.refused.any()
    assert not live.state.clients.refused.any()


@pytest.mark.parametrize("seed", range(WORLDS))
@pytest.mark.parametrize("victim", range(BROKERS))
def test_deaths_leave_the_tree_that_the_bulk_overlay_leaves(seed: int, victim: int) -> None:
    """[uas §4.1] "operation of P on behalf of P": a death has the effect of a departure.

    The parents are those of the bulk overlay, those below the root's successor included.
    """
    live = LiveTree(*grown(seed))
    overlay = live.overlay.twin()
    live.settle(LONG)
    overlay.set_row(overlay[victim].row, down=True)
    leave(overlay, victim)
    live.kill(live.row(victim))
    live.settle(LONG)
    for number, broker in overlay.brokers.items():
        assert live.parent(number) == broker.parent


def is_on(path: UnderlayPath | None, a: int, b: int) -> bool:
    """Whether a path takes a link."""
    rows = [] if path is None else path.rows.tolist()
    return any({a, b} == {*pair} for pair in pairwise(rows))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_after_tau_a_child_whose_direct_path_is_dead_joins_its_grandparent(seed: int) -> None:
    """[uas §4.1] before, "the alternate link is used"; as in the bulk overlay."""
    tried = 0
    for number in range(BROKERS):
        live = LiveTree(*grown(seed))
        overlay = live.overlay.twin()
        broker = overlay[number]
        if broker.upper is None or broker.direct is None or broker.second is None:
            continue
        a, b = (int(row) for row in broker.direct.rows[:2])
        others = [overlay[k].direct for k in range(BROKERS) if k != number]
        if any(is_on(path, a, b) for path in (broker.second, broker.upper, *others)):
            continue
        tried += 1
        live.settle(10.0)
        live.cut(a, b, True)
        live.settle(3.9)  # detection takes two intervals at least, and τ is two more
        assert live.parent(number) == broker.parent
        live.settle(LONG)
        overlay.set_link(a, b, down=True)
        repair(overlay)
        assert live.parent(number) == overlay[number].parent == broker.parent
    assert tried


def commands(overlay: Overlay) -> list[Command]:
    """Subscriptions, events, starts, ticks and unknown kinds."""
    row = {k: overlay[k].row for k in range(BROKERS)}
    some: list[tuple[int, int, int, int]] = [
        *((k, int(START), -1, -1) for k in range(HERE)),
        (BROKERS, int(SUBSCRIBE), 3, -1), (BROKERS, int(UNSUBSCRIBE), 3, -1),
        (BROKERS, int(SUBSCRIBE), 9, -1), (BROKERS, int(START), -1, -1),
        (BROKERS, int(PUBLISH), 4, 3),
        (row[3], int(SUBSCRIBE), 3, -1), (row[5], int(SUBSCRIBE), 7, -1),
        (row[0], int(PUBLISH), 4, 0), (row[5], int(PUBLISH), 9, 1), (row[8], int(LEAVE), -1, -1),
        (row[5], int(START), -1, -1), (row[0], int(PUBLISH), 4, 2),
        (row[1], 200, 3, 3), (row[1], 100, 3, 3),
    ]  # fmt: skip
    return [Command(0.5 * k, *given) for k, given in enumerate(some)]


def test_a_lone_node_emits_what_its_row_emits() -> None:
    overlay, paths = grown(0)
    given = rules()

    def fresh(names: Any) -> underlay_siena.State:
        made = empty(overlay, names)
        plant(made, overlay, paths)
        return made

    here = World(
        overlay.underlay.network, underlay_siena, fresh, given, commands(overlay), MOST, until=20.0
    )
    driven = drive(here, checked=False)  # some kinds are unknown
    assert underlay_siena.most_emissions(fresh(here.names()), given) == MOST
    kinds = {int(kind) for kind in driven.records["kind"]}
    assert {0, 2, 4, 6, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24} <= kinds
    row_maps = {
        BROKERS: {row: row for row in range(BROKERS)},
        len(CLIENTS): {int(row): d for d, row in enumerate(CLIENTS)},
    }
    rows = (0, 3, BROKERS, HERE)  # the root, a broker, a client's node, a router
    assert faults(here, driven, lone_rows=rows, slots=MOST, row_maps=row_maps) == []


@pytest.mark.long
def test_a_shifted_clock_changes_no_emitted_byte() -> None:
    """A broker, the root, a client's node and a router whose clocks are hours ahead."""
    overlay, paths = grown(0)
    given = rules()

    def fresh(names: Any) -> underlay_siena.State:
        made = empty(overlay, names)
        plant(made, overlay, paths)
        return made

    here = World(
        overlay.underlay.network, underlay_siena, fresh, given, commands(overlay), MOST, until=20.0
    )
    driven, shift_s = drive(here, checked=False), 12_345.678  # some kinds are unknown
    router = int(np.bincount(driven.rows[driven.rows >= HERE]).argmax())
    for row in (0, 3, BROKERS, router):
        records = driven.records[driven.rows == row]
        later = records.copy()
        later["at"] += shift_s
        assert len(records) > 10
        usual = emitted_alone(here, row, given, records)
        assert emitted_alone(here, row, given, later) == usual
