"""The underlay-aware tree: histories of failures against a tree in plain words, nothing doubled."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import MESSAGE
from halfway.protocols import underlay_tree
from halfway.protocols.subscriptions import NOBODY, NOTIFIED, PUBLISH, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.underlay_tree import DEAD, DOWN, LEAVE, UP
from halfway.sim import engine as engines
from halfway.sim.broker_overlay import Overlay
from halfway.sim.broker_overlay import Rules as OverlayRules
from halfway.sim.changes import none
from halfway.sim.overlay_join import join
from halfway.sim.overlay_repair import leave
from halfway.sim.radio import Ideal
from halfway.world.underlay import Underlay
from tests.networks import from_links
from tests.protocols.lone import Letter, World, drive, faults
from tests.protocols.test_broker_tree import BOOK, MANY, MATCHES, VALUES

SLOTS, KIN, HOP, TAU, STEP = 32, 12, 1e-3, 1.0, 10.0
MOST = 2 * SLOTS + 2 * KIN + 5
EVERYONE = [list(pair) for pair in itertools.combinations(range(9), 2)]


class Deed(NamedTuple):
    """One thing that happens; `what` is a filter, an event, or nothing."""

    kind: str
    broker: int
    what: int


DEEDS = st.lists(
    st.builds(
        Deed,
        st.sampled_from(
            ["subscribe", "subscribe", "unsubscribe", "publish", "publish", "link", "long link",
             "death", "leave"]
        ),
        st.integers(0, 8),
        st.integers(0, 10_000),
    ),
    min_size=6,
    max_size=25,
)  # fmt: skip


class Trees(NamedTuple):
    """Parents and alternates of nine brokers."""

    parents: np.ndarray
    alternates: np.ndarray


@st.composite
def trees(draw: st.DrawFn) -> Trees:
    """A random tree in which a broker has an alternate among its parent's neighbours, or none."""
    parents = [NOBODY, *(draw(st.integers(0, i - 1)) for i in range(1, 9))]
    alternates = [NOBODY]
    for i in range(1, 9):
        near = [k for k in range(9) if parents[k] == parents[i] and k != i]
        near += [parents[parents[i]]] if parents[i] > 0 else []
        alternates.append(draw(st.sampled_from(near)) if near else NOBODY)
    return Trees(np.array(parents, np.int32), np.array(alternates, np.int32))


class Plain:
    """The tree, its detours and its wishes in plain words."""

    def __init__(self, tree: Trees) -> None:
        self.parent = dict(enumerate(tree.parents.tolist()))
        self.alternate = dict(enumerate(tree.alternates.tolist()))
        self.wants: dict[int, set[int]] = {k: set() for k in range(9)}
        self.gone: set[int] = set()

    def remove(self, broker: int) -> None:
        """Its children are adopted by its parent."""
        for child, parent in self.parent.items():
            if parent == broker:
                self.parent[child], self.alternate[child] = self.parent[broker], NOBODY
        self.gone.add(broker)
        del self.parent[broker], self.wants[broker]
        for other, alternate in self.alternate.items():
            if alternate == broker:
                self.alternate[other] = NOBODY

    def told(self, event: int) -> list[int]:
        """Who must hear of an event."""
        return sorted(k for k, some in self.wants.items() if MATCHES[event, [*some]].any())


class Lived:
    """The same history, message by message."""

    def __init__(self, tree: Trees) -> None:
        network = from_links(9, itertools.combinations(range(9), 2))
        self.around, self.now, self.heard = network.around(), 0.0, 0
        names = np.arange(9, dtype=np.int32)
        self.state = underlay_tree.state(names, tree.parents, tree.alternates, SLOTS, KIN)
        self.engine = engines.engine(9, 4096, 4096)

    def say(self, row: int, kind: int, topic: int = -1, event: int = -1) -> None:
        """A letter to a broker, now."""
        engines.post(self.engine, self.now, row, kind, topic, 0, event)

    def settle(self, seconds: float = STEP) -> list[tuple[int, int]]:
        """Let everything happen; returns (broker, event) of the notifications."""
        self.now += seconds
        rules = underlay_tree.Rules(TAU)
        why = engines.run(
            self.state, rules, self.around, BOOK, self.engine, Ideal(HOP), self.around, False,
            none(), self.now, engines.NEVER, 9 * MOST,
        )  # fmt: skip
        assert why in (engines.IDLE, engines.UNTIL)
        assert self.engine.out.tally[1] == 0
        first, self.heard = self.heard, int(self.engine.applications.tally[0])
        log = self.engine.applications
        letters = log.record[first : self.heard].view(MESSAGE)
        rows = log.row[first : self.heard]
        return sorted(
            (int(row), int(letter["event"]))
            for row, letter in zip(rows, letters, strict=True)
            if letter["kind"] == NOTIFIED
        )


def happen(deed: Deed, plain: Plain, lived: Lived) -> None:
    """One deed in both worlds; afterwards every live broker is served and nobody twice."""
    here = deed.broker
    if here in plain.gone:
        return
    parent = plain.parent[here]
    if deed.kind in ("subscribe", "unsubscribe"):
        kind = SUBSCRIBE if deed.kind == "subscribe" else UNSUBSCRIBE
        lived.say(here, kind, deed.what % MANY)
        (plain.wants[here].add if kind == SUBSCRIBE else plain.wants[here].discard)(
            deed.what % MANY
        )
    elif deed.kind == "publish":
        event = deed.what % len(VALUES)
        lived.say(here, PUBLISH, event=event)
        assert lived.settle() == [(k, event) for k in plain.told(event)]
    elif parent != NOBODY and deed.kind in ("link", "long link"):
        if plain.alternate[here] == NOBODY or plain.alternate[here] in plain.gone:
            return
        lived.say(here, DOWN, parent)
        lived.say(parent, DOWN, here)
        event = deed.what % len(VALUES)
        lived.settle(TAU / 2)
        lived.say(here, PUBLISH, event=event)  # over the alternate
        assert lived.settle(TAU / 4) == [(k, event) for k in plain.told(event)]
        if deed.kind == "link":
            lived.say(here, UP, parent)
            lived.say(parent, UP, here)
        elif plain.parent[parent] != NOBODY:
            plain.parent[here], plain.alternate[here] = plain.parent[parent], NOBODY
        else:  # nobody above the root: the detour stays until the path is back
            lived.settle()
            lived.say(here, UP, parent)
            lived.say(parent, UP, here)
    elif parent != NOBODY and deed.kind == "leave":
        plain.remove(here)
        lived.say(here, LEAVE)
    elif parent != NOBODY and deed.kind == "death":
        children = [k for k, above in plain.parent.items() if above == here]
        plain.remove(here)
        lived.engine.life[here] += 1  # odd: down
        for child in children:  # each of them notices, and so does the parent
            lived.say(child, DEAD, here)
        lived.say(parent, DEAD, here)
    lived.settle()


@settings(max_examples=40)
@given(trees(), DEEDS)
def test_nothing_is_lost_or_doubled_after_a_repair(tree: Trees, deeds: list[Deed]) -> None:
    plain, lived = Plain(tree), Lived(tree)
    for deed in deeds:
        happen(deed, plain, lived)
        for broker, parent in plain.parent.items():
            assert lived.state.parent[broker] == parent
    assert not lived.state.kin.refused.any()
    assert not lived.state.table.refused.any()
    for broker in plain.parent:
        children = {k for k, above in plain.parent.items() if above == broker}
        assert set(lived.state.kin.child[broker].tolist()) - {NOBODY} == children


@pytest.mark.parametrize("victim", range(1, 9))
def test_deaths_leave_the_tree_that_the_bulk_overlay_leaves(victim: int) -> None:
    """The twin: the same parents as the whole-overlay code, after the same death."""
    network = from_links(9, itertools.combinations(range(9), 2))
    underlay = Underlay(network, np.full(72, 1e-3), np.full(72, 1e7))
    overlay = Overlay(underlay, OverlayRules())
    chain = [NOBODY, 0, 1, 1, 2, 2, 4, 0, 7]
    for row in range(9):
        join(overlay, row)
        overlay[row].parent = chain[row]
    alternates = np.full(9, NOBODY, np.int32)
    lived = Lived(Trees(np.array(chain, np.int32), alternates))
    children = overlay.children(victim)
    leave(overlay, victim)
    lived.engine.life[victim] += 1  # odd: down
    for child in children:
        lived.say(child, DEAD, victim)
    lived.say(chain[victim], DEAD, victim)
    lived.settle()
    for number, broker in overlay.brokers.items():
        assert lived.state.parent[number] == broker.parent


def letters() -> list[Letter]:
    """Every kind of deed once."""
    some: list[tuple[int, int, int, int]] = [
        (3, int(SUBSCRIBE), 3, -1), (5, int(SUBSCRIBE), 7, -1), (0, int(PUBLISH), -1, 4),
        (5, int(DOWN), 2, -1), (2, int(DOWN), 5, -1), (5, int(PUBLISH), -1, 9),
        (4, int(DEAD), 2, -1), (5, int(DEAD), 2, -1), (1, int(DEAD), 2, -1),
        (5, int(underlay_tree.ROUTED), 3, -1), (3, int(LEAVE), -1, -1), (0, int(PUBLISH), -1, 4),
        (1, 200, 3, 3), (1, 255, 3, 3),
    ]  # fmt: skip
    return [Letter(2.0 * k, *given) for k, given in enumerate(some)]


def test_a_lone_broker_says_what_its_row_says() -> None:
    parents = np.array([NOBODY, 0, 1, 1, 2, 2, 4, 0, 7], np.int32)
    alternates = np.array([NOBODY, 7, 3, 2, 5, 4, 2, 1, 0], np.int32)
    network = from_links(9, itertools.combinations(range(9), 2))

    def fresh(names: Any) -> underlay_tree.UnderlayTreeState:
        return underlay_tree.state(names, parents, alternates, SLOTS, KIN)

    here = World(network, underlay_tree, fresh, underlay_tree.Rules(TAU), BOOK, letters(), MOST)
    assert underlay_tree.most_emissions(fresh(here.names()), here.rules) == MOST
    driven = drive(here)
    kinds = {*range(3), 4, 6, 8, *range(10, 13), *range(13, 21)} - {1, 19}
    assert kinds <= {int(kind) for kind in driven.records["kind"]}
    assert faults(here, driven, lone_rows=(0, 1, 5), slots=MOST) == []
