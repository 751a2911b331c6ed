"""The underlay-aware tree over links that really die: found out, repaired, nothing doubled."""

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.adapters.broker_tree_routes import routes_of
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.overlay import Overlay, UnderlayPath
from halfway.bulk.broker_trees.repair import leave, mend
from halfway.core.message import MESSAGE, START
from halfway.protocols.broker_trees import underlay_siena as underlay_tree
from halfway.protocols.broker_trees.messages import GONE, LEAVE
from halfway.protocols.broker_trees.source_routes import NOBODY, Routes
from halfway.protocols.broker_trees.subscription_table import (
    NOTIFIED,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from halfway.sim.engine import loop as engines
from halfway.sim.environment.changes import none
from halfway.sim.environment.neighbour_lists import place_of
from halfway.sim.radio.delays import Ideal
from halfway.world.underlays.waxman import Waxman, waxman
from tests.protocols.broker_trees.test_siena import FILTERS, MANY, MATCHES, VALUES
from tests.protocols.lone import Letter, World, drive, faults

NODES, BROKERS, SLOTS, KIN, WINDOW, HOP = 24, 9, 60, 12, 4096, 1e-3
CLIENTS = np.arange(BROKERS, BROKERS + 5, dtype=np.int32)  # nodes; a broker's row is its number
HERE = BROKERS + len(CLIENTS)  # nodes with an application
RULES = underlay_tree.Rules(period_s=1.0, misses=2, tau_s=2.0)
MOST = 2 * SLOTS + KIN + 8
LONG = 40.0  # seconds in which everything is found out and repaired
WORLDS = 4


class Deed(NamedTuple):
    """One thing that happens; `what` is a filter, an event, a link or nothing."""

    kind: str
    row: int  # of a broker, or of a client's node
    what: int


DEEDS = st.lists(
    st.builds(
        Deed,
        st.sampled_from(
            ["subscribe", "subscribe", "unsubscribe", "publish", "publish", "short cut",
             "long cut", "short death", "long death", "leave"]
        ),
        st.integers(0, HERE - 1),
        st.integers(0, 10_000),
    ),
    min_size=4,
    max_size=16,
)  # fmt: skip


@cache
def grown(seed: int) -> tuple[Overlay, Routes]:
    """Brokers on the first rows of a small Waxman network, and every path."""
    overlay = Overlay(waxman(Waxman(n=NODES, side=100), seed))
    for row in range(BROKERS):
        join(overlay, row)
    return overlay, routes_of(overlay, CLIENTS, BROKERS)


def fresh(overlay: Overlay, names: Any) -> underlay_tree.State:
    """The brokers of an overlay before anything has happened."""
    up = [overlay[k].parent for k in range(BROKERS)]
    parents = [NOBODY if k == NOBODY else overlay[k].row for k in up]
    rows = np.array([overlay[k].row for k in range(BROKERS)], np.int32)
    above = np.array(parents, np.int32)
    return underlay_tree.state(
        names, rows, above, SLOTS, KIN, WINDOW, clients=CLIENTS, wishes=SLOTS
    )


class Lived:
    """A world that goes on, deed by deed."""

    def __init__(self, seed: int) -> None:
        self.overlay, led = grown(seed)
        network = self.overlay.underlay.network
        self.neighbourhood, self.now, self.heard, self.event = network.neighbourhood(), 0.0, 0, 0
        self.catalogue = underlay_tree.Catalogue(FILTERS, VALUES, led)
        self.state = fresh(self.overlay, np.arange(NODES, dtype=np.int32))
        cut = np.zeros(len(network.who), np.uint8)
        self.engine = engines.engine(NODES, 8192, 1 << 14)._replace(cut=cut)
        for row in range(HERE):
            self.say(row, int(START))

    def row(self, number: int) -> int:
        """The node of a broker."""
        return self.overlay[number].row

    def parent(self, number: int) -> int:
        """The number of a broker's parent, or NOBODY, or GONE."""
        name = int(self.state.parent[self.state.seat[self.row(number)]])
        return name if name < 0 else int(self.catalogue.routes.number[name])

    def say(self, row: int, kind: int, topic: int = -1, event: int = -1) -> None:
        """A letter to a node, now."""
        engines.post(self.engine, self.now, row, kind, topic, 0, event)

    def cut(self, a: int, b: int, broken: bool) -> None:
        """A link dies or is mended."""
        for one, other in ((a, b), (b, a)):
            self.engine.cut[place_of(self.neighbourhood, one, other)] = broken

    def kill(self, row: int) -> None:
        """A node goes down (odd lives)."""
        self.engine.incarnation[row] += 1

    def revive(self, row: int) -> None:
        """It comes back."""
        self.engine.incarnation[row] += 1
        self.say(row, int(START))

    def settle(self, seconds: float) -> list[tuple[int, int]]:
        """Let everything happen; returns (row, event) of the notifications."""
        self.now += seconds
        why = engines.run(
            self.state, RULES, self.neighbourhood, self.catalogue, self.engine, Ideal(HOP), self.neighbourhood, True,
            none(), self.now, engines.NEVER, MOST,
        )  # fmt: skip
        assert why in (engines.IDLE, engines.UNTIL)
        assert self.engine.out.tally[1] == 0
        first, self.heard = self.heard, int(self.engine.applications.tally[0])
        log = self.engine.applications
        told = log.record[first : self.heard].view(MESSAGE)
        rows = log.row[first : self.heard]
        return sorted(
            (int(row), int(letter["event"]))
            for row, letter in zip(rows, told, strict=True)
            if letter["kind"] == NOTIFIED
        )

    def publish(self, row: int, content: int) -> int:
        """An application publishes; returns the event's id."""
        self.say(row, int(PUBLISH), content, self.event)
        self.event += 1
        return self.event - 1


def fail(deed: Deed, lived: Lived) -> None:
    """Something dies, for a shorter or longer time than it takes to notice; nobody hears twice."""
    seconds = 1.5 if deed.kind.startswith("short") else LONG
    row = deed.row
    near = lived.neighbourhood.who[lived.neighbourhood.first[row] : lived.neighbourhood.last[row]]
    other = int(near[deed.what % len(near)])
    if deed.kind.endswith("death"):
        lived.kill(row)
    else:
        lived.cut(row, other, True)
    lived.settle(seconds / 2)
    lived.publish((deed.row + 1) % HERE, deed.what % len(VALUES))
    told = lived.settle(seconds / 2)
    assert len(told) == len(set(told))
    if deed.kind.endswith("death"):
        lived.revive(row)
    else:
        lived.cut(row, other, False)


def is_tree(lived: Lived) -> bool:
    """Whether everybody who did not leave is below one root."""
    stay = [k for k in range(BROKERS) if lived.parent(k) != GONE]
    tops = set()
    for below in stay:
        here = below
        for _ in range(BROKERS):
            if lived.parent(here) != NOBODY:
                here = lived.parent(here)
        tops.add(here)
    return len(tops) == 1 and lived.parent(next(iter(tops))) == NOBODY


HISTORIES = (st.integers(0, WORLDS - 1), st.lists(st.integers(0, MANY - 1), max_size=HERE), DEEDS)


@settings(max_examples=30)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_after_a_repair(
    seed: int, wishes: list[int], deeds: list[Deed]
) -> None:
    live_through(seed, wishes, deeds)


@pytest.mark.slow
@settings(max_examples=1000)
@given(*HISTORIES)
def test_nothing_is_lost_or_doubled_in_a_thousand_histories(
    seed: int, wishes: list[int], deeds: list[Deed]
) -> None:
    live_through(seed, wishes, deeds)


def live_through(seed: int, wishes: list[int], deeds: list[Deed]) -> None:
    """A history; after each deed there is one tree, and whoever wants the next event hears it."""
    lived = Lived(seed)
    wants: dict[int, set[int]] = {row: set() for row in range(HERE)}
    for row, f in enumerate(wishes):
        wants[row].add(f)
        lived.say(row, int(SUBSCRIBE), f)
    lived.settle(1.0)
    for deed in deeds:
        here, f = deed.row, deed.what % MANY
        if here not in wants:
            continue
        if deed.kind == "subscribe":
            wants[here].add(f)
            lived.say(here, int(SUBSCRIBE), f)
        elif deed.kind == "unsubscribe":
            wants[here].discard(f)
            lived.say(here, int(UNSUBSCRIBE), f)
        elif deed.kind == "leave" and here < BROKERS and lived.parent(here) != NOBODY:
            del wants[here]
            lived.say(here, int(LEAVE))
        elif deed.kind.endswith(("cut", "death")):
            fail(deed, lived)
        lived.settle(LONG)
        assert is_tree(lived)
        content = deed.what % len(VALUES)
        event = lived.publish(here if here in wants else min(wants), content)
        hear = sorted(k for k, some in wants.items() if MATCHES[content, [*some]].any())
        assert lived.settle(1.0) == [(k, event) for k in hear]
    assert not lived.state.kin.refused.any()
    assert not lived.state.table.refused.any()
    assert not lived.state.access.refused.any()


@pytest.mark.parametrize("seed", range(WORLDS))
@pytest.mark.parametrize("victim", range(BROKERS))
def test_deaths_leave_the_tree_that_the_bulk_overlay_leaves(seed: int, victim: int) -> None:
    """The twin: the same parents as the whole-overlay code, the root's successor's as well."""
    lived = Lived(seed)
    overlay = lived.overlay.twin()
    lived.settle(LONG)
    overlay.set_row(overlay[victim].row, down=True)
    leave(overlay, victim)
    lived.kill(lived.row(victim))
    lived.settle(LONG)
    for number, broker in overlay.brokers.items():
        assert lived.parent(number) == broker.parent


def is_on(way: UnderlayPath | None, a: int, b: int) -> bool:
    """Whether a path takes a link."""
    rows = [] if way is None else way.rows.tolist()
    return any({a, b} == {*pair} for pair in pairwise(rows))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_after_tau_a_child_whose_direct_path_is_dead_joins_its_grandparent(seed: int) -> None:
    """[uas §4.1] before, "the alternate link is used"; as the whole-overlay code has it."""
    tried = 0
    for number in range(BROKERS):
        lived = Lived(seed)
        overlay = lived.overlay.twin()
        broker = overlay[number]
        if broker.upper is None or broker.direct is None or broker.second is None:
            continue
        a, b = (int(row) for row in broker.direct.rows[:2])
        others = [overlay[k].direct for k in range(BROKERS) if k != number]
        if any(is_on(way, a, b) for way in (broker.second, broker.upper, *others)):
            continue
        tried += 1
        lived.settle(10.0)
        lived.cut(a, b, True)
        lived.settle(3.9)  # found out after two periods at least, and τ is two more
        assert lived.parent(number) == broker.parent
        lived.settle(LONG)
        overlay.set_link(a, b, down=True)
        mend(overlay)
        assert lived.parent(number) == overlay[number].parent == broker.parent
    assert tried


def commands(overlay: Overlay) -> list[Letter]:
    """Subscriptions, events, boots, ticks and what nobody knows."""
    row = {k: overlay[k].row for k in range(BROKERS)}
    some: list[tuple[int, int, int, int]] = [
        *((k, int(START), -1, -1) for k in range(HERE)),
        (BROKERS, int(SUBSCRIBE), 3, -1), (BROKERS, int(UNSUBSCRIBE), 3, -1),
        (BROKERS, int(SUBSCRIBE), 9, -1), (BROKERS, int(START), -1, -1),
        (BROKERS, int(PUBLISH), 4, 3),
        (row[3], int(SUBSCRIBE), 3, -1), (row[5], int(SUBSCRIBE), 7, -1),
        (row[0], int(PUBLISH), 4, 0), (row[5], int(PUBLISH), 9, 1), (row[8], int(LEAVE), -1, -1),
        (row[5], int(START), -1, -1), (row[0], int(PUBLISH), 4, 2),
        (row[1], 200, 3, 3), (row[1], 254, 3, 3),
    ]  # fmt: skip
    return [Letter(0.5 * k, *given) for k, given in enumerate(some)]


def test_a_lone_node_says_what_its_row_says() -> None:
    overlay, led = grown(0)
    network, rules = overlay.underlay.network, RULES._replace(until_s=20.0)
    catalogue = underlay_tree.Catalogue(FILTERS, VALUES, led)
    here = World(
        network, underlay_tree, lambda names: fresh(overlay, names), rules, catalogue,
        commands(overlay), MOST,
    )  # fmt: skip
    driven = drive(here)
    assert underlay_tree.most_emissions(fresh(overlay, here.names()), rules) == MOST
    kinds = {int(kind) for kind in driven.records["kind"]}
    assert {0, 2, 4, 6, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24} <= kinds
    seats = {
        BROKERS: {row: row for row in range(BROKERS)},
        len(CLIENTS): {int(row): d for d, row in enumerate(CLIENTS)},
    }
    rows = (0, 3, BROKERS, HERE)  # the root, a broker, a client's node, a router
    assert faults(here, driven, lone_rows=rows, slots=MOST, seats=seats) == []
