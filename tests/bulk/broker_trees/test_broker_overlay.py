"""The underlay-aware overlay: joins, single failures, and histories of both."""

import copy
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from halfway.bulk.broker_trees.broker_overlay import (
    NO_BROKER,
    Overlay,
    PathInterpretation,
    Rules,
    connected,
    tops,
)
from halfway.bulk.broker_trees.guarantees import guarantee, has_second, level, meets_premise
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.overlay_repair import leave, repair
from halfway.bulk.broker_trees.single_failures import (
    causes,
    census,
    single_failures,
)
from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.underlays.underlay import Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from tests.networks import from_links

REMEDIES = Rules("around", retry=True, bare_path=True)
PLAIN = [
    Rules(interpretation, retry=False, bare_path=False)
    for interpretation in get_args(PathInterpretation)
]


def wired(network: Network) -> Underlay:
    """An underlay of equal links."""
    return Underlay(network, np.full(len(network.who), 1e-3), np.full(len(network.who), 1e7))


def grown(n: int, brokers: int, seed: int, rules: Rules = REMEDIES) -> Overlay:
    """Brokers that joined on random nodes of a Waxman network."""
    overlay = Overlay(waxman(Waxman(n=n, side=200), seed), rules)
    for row in np.random.default_rng(seed).choice(n, brokers, replace=False):
        join(overlay, int(row))
    return overlay


# Join


def check_paths(overlay: Overlay) -> None:
    """Check the ends of all paths, and what they must not contain."""
    for number, broker in overlay.brokers.items():
        if number == overlay.root or not overlay.is_up(number):
            continue
        parent = overlay[broker.parent]
        assert broker.direct is not None
        assert (broker.direct.rows[0], broker.direct.rows[-1]) == (broker.row, parent.row)
        if broker.second is not None:
            assert (broker.second.rows[0], broker.second.rows[-1]) == (broker.row, parent.row)
            assert broker.second.is_open(overlay.closed)
            assert has_second(broker)
            if broker.alternate != NO_BROKER:
                assert broker.second.rows[broker.bend] == overlay[broker.alternate].row
                assert broker.alternate in overlay.neighbours(broker.parent)
        if broker.upper is not None:
            assert broker.upper.rows[-1] == overlay[parent.parent].row
            assert broker.upper.is_open(overlay.closed)
            assert parent.row not in broker.upper.rows


@pytest.mark.parametrize("rules", [*PLAIN, REMEDIES])
def test_paths_have_their_properties(rules: Rules) -> None:
    """[uas §3.1] "does not contain the chosen broker C": the path to the grandparent."""
    check_paths(grown(150, 30, 1, rules))


@pytest.mark.parametrize("rules", [*PLAIN, REMEDIES])
def test_paths_have_their_properties_again_after_a_repair(rules: Rules) -> None:
    """[uas §4, Algorithm 2] The grandparent and the alternate are set again."""
    overlay = grown(150, 30, 1, rules)
    renewed = 0
    for number in (5, 11, 17):
        before = {k: (b.parent, b.grandparent, b.alternate) for k, b in overlay.brokers.items()}
        overlay.set_row(overlay[number].row, down=True)
        repair(overlay)
        check_paths(overlay)
        for k, broker in overlay.brokers.items():
            parent, *others = before[k]
            kept = broker.parent == parent
            renewed += kept and [broker.grandparent, broker.alternate] != others
    assert renewed > 0


def test_the_parent_is_the_nearest_broker_in_hops() -> None:
    """[uas §4] "a broker node which is nearest … in terms of number of IP hops"."""
    path = wired(from_links(7, [(i, (i + 1) % 7) for i in range(7)]))
    overlay = Overlay(path, REMEDIES)
    for row in (0, 3, 5, 4):
        join(overlay, row)
    assert [overlay[k].parent for k in range(4)] == [NO_BROKER, 0, 0, 1]


def test_as_printed_the_second_broker_finds_no_alternate_and_no_grandparent() -> None:
    overlay = grown(150, 20, 2, Rules("free", retry=False, bare_path=False))
    assert overlay[1].parent == overlay.root
    assert overlay[1].second is None
    assert overlay[1].upper is None


def test_a_parent_that_gains_a_child_offers_an_alternate_again() -> None:
    """[remedy] on a ring of six, the first child of the root can use the second one."""
    ring = wired(from_links(6, [(i, (i + 1) % 6) for i in range(6)]))
    for retry in (False, True):
        overlay = Overlay(ring, Rules("around", retry=retry, bare_path=False))
        for row in (0, 2, 4):
            join(overlay, row)
        assert [overlay[k].parent for k in (1, 2)] == [0, 0]
        assert overlay[2].alternate == 1
        assert overlay[1].alternate == (2 if retry else NO_BROKER)


def test_a_second_path_may_have_no_broker_on_it() -> None:
    """[remedy] on a ring, the root's only child."""
    overlay = Overlay(wired(from_links(5, [(i, (i + 1) % 5) for i in range(5)])), REMEDIES)
    join(overlay, 0)
    join(overlay, 1)
    second = overlay[1].second
    assert overlay[1].alternate == NO_BROKER
    assert second is not None
    assert second.rows.tolist() == [1, 2, 3, 4, 0]


def test_the_direct_path_moves_where_it_blocks_every_other() -> None:
    """[remedy] Suurballe's trap: the shortest path uses both of the disjoint ones."""
    links = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 6), (6, 2), (1, 7), (7, 8), (8, 5)]
    overlay = Overlay(wired(from_links(9, links)), REMEDIES)
    join(overlay, 5)
    join(overlay, 0)
    assert has_second(overlay[1])


def test_invalid_joins_are_refused() -> None:
    overlay = grown(60, 5, 3)
    taken = overlay[2].row
    with pytest.raises(Problem, match="already has a broker"):
        join(overlay, taken)
    with pytest.raises(Problem, match="node 60 does not exist: expected 0 to 59"):
        join(overlay, 60)
    wrong: Any = "home"  # what a plan's parameters may hold
    with pytest.raises(Problem, match="expected one of tested, around, free"):
        Overlay(overlay.underlay, Rules(wrong))
    with pytest.raises(Problem, match="fallback = 'home'"):
        Overlay(overlay.underlay, Rules(fallback=wrong))


# Failures


def failed_one_by_one(overlay: Overlay) -> dict[int, set[int]]:
    """Fail and restore one element after another, by definition: element -> brokers cut off."""
    network, found = overlay.underlay.network, {}
    for row in range(network.n):
        if row == overlay[overlay.root].row:
            continue
        overlay.set_row(row, down=True)
        found[row] = {n for n in overlay.brokers if overlay.is_up(n)} - connected(overlay)
        overlay.set_row(row, down=False)
    link, owner = overlay.underlay.link, overlay.underlay.owner
    for place in np.flatnonzero(owner < network.who):
        a, b = int(owner[place]), int(network.who[place])
        overlay.set_link(a, b, down=True)
        found[network.n + int(link[place])] = set(overlay.brokers) - connected(overlay)
        overlay.set_link(a, b, down=False)
    return {element: some for element, some in found.items() if some}


@pytest.mark.parametrize("rules", [*PLAIN, REMEDIES])
def test_the_enumeration_equals_failures_one_by_one(rules: Rules) -> None:
    overlay = grown(120, 25, 4, rules)
    fast, slow = single_failures(overlay), failed_one_by_one(overlay)
    found: dict[int, set[int]] = {}
    for number, element in zip(fast.broker.tolist(), fast.element.tolist(), strict=True):
        found.setdefault(element, set()).add(number)
    assert found == slow
    assert {e: len(some) for e, some in slow.items()} == {
        int(e): int(fast.lost[e]) for e in np.flatnonzero(fast.lost)
    }


@pytest.mark.parametrize("seed", range(4))
def test_with_the_remedies_no_single_failure_but_the_roots_cuts_off_a_live_broker(
    seed: int,
) -> None:
    """[uas §4.2] the lemma's conclusion, on an underlay without cut nodes."""
    overlay = grown(400, 60, seed)
    assert census(overlay).whole == (0, 0, 0, 60)
    assert not single_failures(overlay).lost.any()


def test_as_printed_single_failures_cut_off_many() -> None:
    for rules in PLAIN:
        overlay = grown(400, 60, 5, rules)
        failures = single_failures(overlay)
        assert failures.lost.any()
        why = causes(overlay, failures)
        assert sum(why.values()) == failures.lost.sum()
        assert why["the underlay is cut"] == 0
        assert why["no second path"] > 0


def test_the_lemmas_premise_is_met_by_few() -> None:
    """[uas §4.2] three disjoint paths need three links, and a grandparent."""
    overlay = grown(400, 60, 6)
    found = [b for b in overlay.brokers.values() if meets_premise(overlay, b)]
    assert 0 < len(found) < 60
    degree = overlay.underlay.network.degree
    assert all(degree[b.row] >= 3 for b in found)
    assert all(b.parent != overlay.root for b in found)


def test_a_cut_of_the_underlay_is_named_as_the_cause() -> None:
    """Two triangles that share a node: no path reaches the broker beyond it."""
    links = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]
    overlay = Overlay(wired(from_links(5, links)), REMEDIES)
    join(overlay, 0)
    join(overlay, 3)
    assert level(overlay, 1) == 1
    failures = single_failures(overlay)
    assert causes(overlay, failures) == Counter({"the underlay is cut": 1})
    assert failures.element.tolist() == [2]


def test_a_dead_direct_path_leaves_unmodified_siena_without_the_broker() -> None:
    """[uas §4.1] "the alternate link is used": all stay connected, unlike in SIENA."""
    overlay = grown(150, 30, 7)
    broker = overlay[5]
    assert broker.direct is not None
    a, b = broker.direct.rows[:2]
    overlay.set_link(int(a), int(b), down=True)
    assert tops(overlay, aware=False)[5] == 5
    assert overlay.root in tops(overlay, aware=False).values()
    assert connected(overlay) == set(overlay.brokers)


# Leave, repair, histories


def test_children_of_a_broker_that_leaves_join_its_parent() -> None:
    """[uas §4, Algorithm 2] "C.Connect_To(B.Parent)"."""
    overlay = grown(150, 30, 8)
    number = next(k for k in overlay.brokers if k != overlay.root and overlay.children(k))
    children, parent = overlay.children(number), overlay[number].parent
    leave(overlay, number)
    assert number not in overlay.brokers
    assert all(overlay[child].parent == parent for child in children)
    assert all(b.alternate != number for b in overlay.brokers.values())


def test_the_root_has_a_successor() -> None:
    """We let its first child succeed, because the paper leaves the root's death open."""
    overlay = grown(150, 30, 9)
    successor = overlay.children(overlay.root)[0]
    overlay.set_row(overlay[overlay.root].row, down=True)
    assert connected(overlay) == set()
    repair(overlay)
    assert overlay.root == successor
    assert connected(overlay) == set(overlay.brokers)


def test_two_alternates_of_each_other_do_not_join_each_other() -> None:
    """Both direct paths die at once; one may join the other, but not both each other."""
    ring = wired(from_links(6, [(i, (i + 1) % 6) for i in range(6)]))
    overlay = Overlay(ring, Rules("around", True, False, "alternate"))
    for row in (0, 2, 4):
        join(overlay, row)
    assert (overlay[1].alternate, overlay[2].alternate) == (2, 1)
    overlay.set_link(1, 2, down=True)
    overlay.set_link(4, 5, down=True)
    repair(overlay)
    for number in overlay.brokers:
        list(overlay.ancestors(number))  # raises on a cycle


def reachable(overlay: Overlay) -> set[int]:
    """Live brokers that the underlay still joins to the root."""
    network, closed = overlay.underlay.network, overlay.closed
    start = overlay[overlay.root].row
    seen, waiting = {start}, [start]
    while waiting:
        row = waiting.pop()
        for place in range(network.start[row], network.start[row + 1]):
            other = int(network.who[place])
            if not closed.places[place] and not closed.rows[other] and other not in seen:
                seen.add(other)
                waiting.append(other)
    return {k for k in overlay.brokers if overlay.is_up(k) and overlay[k].row in seen}


class Histories(RuleBasedStateMachine):
    """Joins, leaves, failures, repairs: no cycle, no broken guarantee, no broker left out."""

    def __init__(self) -> None:
        super().__init__()
        underlay = waxman(Waxman(n=40, side=100), 11)
        self.overlay = Overlay(underlay, REMEDIES)
        self.down: list[tuple[int, ...]] = []  # a row, or the two rows of a link
        for row in (3, 17, 29, 8):
            join(self.overlay, row)

    @rule(row=st.integers(0, 39))
    def join(self, row: int) -> None:
        taken = {b.row for b in self.overlay.brokers.values()}
        if row not in taken and not self.overlay.closed.rows[row]:
            before = connected(self.overlay)
            try:
                number = join(self.overlay, row)
            except Problem:
                assert self.down  # only failures can make this impossible
            else:
                assert connected(self.overlay) >= before | {number}

    @precondition(lambda self: len(self.overlay.brokers) > 2)
    @rule(pick=st.integers(0, 1000))
    def leave(self, pick: int) -> None:
        some = sorted(self.overlay.brokers)
        leave(self.overlay, some[pick % len(some)])

    @precondition(lambda self: not self.down)
    @rule(row=st.integers(0, 39))
    def one_node_fails(self, row: int) -> None:
        """From a repaired overlay: the guarantee of level 3 holds at once, before any repair."""
        repair(self.overlay)
        promised = {k for k in self.overlay.brokers if guarantee(self.overlay, k) == 3}
        is_root = self.overlay[self.overlay.root].row == row
        self.overlay.set_row(row, down=True)
        self.down.append((row,))
        if not is_root:
            live = {k for k in promised if self.overlay.is_up(k)}
            assert live <= connected(self.overlay)

    @precondition(lambda self: not self.down)
    @rule(pick=st.integers(0, 1000))
    def one_link_fails(self, pick: int) -> None:
        repair(self.overlay)
        promised = {k for k in self.overlay.brokers if guarantee(self.overlay, k) == 3}
        self.cut(pick)
        assert promised <= connected(self.overlay)

    def cut(self, pick: int) -> None:
        network = self.overlay.underlay.network
        place = pick % len(network.who)
        a, b = int(self.overlay.underlay.owner[place]), int(network.who[place])
        self.overlay.set_link(a, b, down=True)
        self.down.append((a, b))

    @rule(pick=st.integers(0, 1000))
    def another_link_fails(self, pick: int) -> None:
        self.cut(pick)

    @rule(row=st.integers(0, 39))
    def another_node_fails(self, row: int) -> None:
        self.overlay.set_row(row, down=True)
        self.down.append((row,))

    @precondition(lambda self: self.down)
    @rule(pick=st.integers(0, 1000))
    def something_comes_back(self, pick: int) -> None:
        what = self.down.pop(pick % len(self.down))
        if len(what) == 2:
            self.overlay.set_link(what[0], what[1], down=False)
        else:
            self.overlay.set_row(what[0], down=False)
        for other in self.down:  # it may have failed twice
            if len(other) == 2:
                self.overlay.set_link(other[0], other[1], down=True)
            else:
                self.overlay.set_row(other[0], down=True)

    @rule()
    def time_passes(self) -> None:
        repair(self.overlay)
        if self.overlay.is_up(self.overlay.root):
            assert connected(self.overlay) == reachable(self.overlay)

    @invariant()
    def there_is_no_cycle_and_one_root(self) -> None:
        roots = [b for b in self.overlay.brokers.values() if b.parent == NO_BROKER]
        assert [b.number for b in roots] == [self.overlay.root]
        for number in self.overlay.brokers:
            assert self.overlay.root in {number, *self.overlay.ancestors(number)}


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from([*PLAIN, REMEDIES]))
def test_a_single_failure_cuts_off_no_broker_of_guarantee_3(seed: int, rules: Rules) -> None:
    """[uas §4.2] "every node remains connected to the root node": those of guarantee 3."""
    overlay = grown(50, 15, seed, rules)
    failures = single_failures(overlay)
    stranded = set(failures.broker.tolist())
    safe = {number for number in overlay.brokers if guarantee(overlay, number) == 3}
    assume(safe)
    assert not safe & stranded


def test_an_overlay_can_be_copied_for_another_history() -> None:
    overlay = grown(60, 10, 12)
    other = overlay.twin()
    before = copy.deepcopy([vars(b) for b in other.brokers.values()])
    overlay.set_row(overlay[4].row, down=True)
    repair(overlay)
    assert other.is_up(4)
    assert [b["parent"] for b in before] == [b.parent for b in other.brokers.values()]


@pytest.mark.slow
def test_ten_thousand_histories() -> None:
    """The same histories, many more: 10,000 of up to 25 steps."""
    many = settings(max_examples=10_000, stateful_step_count=25, derandomize=True)
    run_state_machine_as_test(Histories, settings=many)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_the_lemmas_conclusion_holds_on_twenty_overlays_of_the_papers_size(seed: int) -> None:
    """[uas §4.2] 10,000 nodes and 20,000 links each, each of which fails alone."""
    overlay = Overlay(waxman(Waxman(), seed), REMEDIES)
    for row in np.random.default_rng(seed).choice(10_000, 100, replace=False):
        join(overlay, int(row))
    failures = single_failures(overlay)
    assert len(failures.lost) == 30_000
    assert not failures.lost.any()
