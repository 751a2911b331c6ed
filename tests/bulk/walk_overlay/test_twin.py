"""The bulk driver and the message-level walk overlay build the same overlays."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from halfway.bulk.walk_overlay.overlay import Overlays, WalkOverlay
from halfway.core.missing import NONE
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.messages import CONNECTED, JOIN, LOST
from halfway.protocols.walk_overlay.subscription_items import catalogue
from halfway.world.graphs.network import Network
from tests.bulk.walk_overlay.test_overlay import RECIPES
from tests.networks import disk, from_links, line
from tests.protocols.lone import Command, Driven, World, drive
from tests.protocols.rules_of import printed_rules_of

LONG = 1e6  # seconds, after which no record is in flight


def blank(node_ids: Any, widest: int, seed: int) -> Any:
    """The state of nodes without subscriptions, with a link to each neighbour."""
    return walk_overlay.state(
        node_ids, widest, 0, 0, 2, seed, links=widest, branches=2, buffered_events=0
    )


def rules(**given: Any) -> Any:
    """Rules whose walks are slow enough that a meeting's records overtake them."""
    usual = printed_rules_of(
        walk_overlay, catalogue=catalogue([], [], 7), pure=False, alpha=1.0, beta=0.0, branches=1,
        step_pause_s=4.0, bid_timeout_s=0.01, settling_time_s=2.0, most_steps=1_000_000,
        filtered=True, bits=64, hashes=3, key=7,
    )  # fmt: skip
    return usual._replace(**given)


def by_messages(network: Network, initiators: list[int], seed: int, recipe: Any) -> Driven:
    """The same overlay, message by message: two at once a quarter of a step apart, then others."""
    given = dict(recipe)
    given["pure"] = given.pop("system", "") == "random-walk"
    together = given.pop("together", 2)
    slow = rules(**given)
    commands = []
    for w, row in enumerate(initiators):
        at = w * (slow.step_pause_s + slow.bid_timeout_s) / 4 if w < together else LONG * w
        commands.append(Command(at, row, JOIN))
    widest = int(network.degree.max())
    world = World(
        network, walk_overlay, lambda n: blank(n, widest, seed), slow, commands,
        walk_overlay.most_emissions(blank(np.zeros(1, np.int32), widest, 1), slow),
    )  # fmt: skip
    return drive(world, received_records=1 << 20)


def links_of(driven: Driven, network: Network) -> set[tuple[int, int]]:
    """Pairs of overlay neighbours; links must be mutual."""
    ids = driven.state.links.node_id
    found = {(i, int(other)) for i in range(network.n) for other in ids[i] if other != NONE}
    assert found == {(b, a) for a, b in found}
    return {(a, b) for a, b in found if a < b}


def same(driven: Driven, overlay: WalkOverlay) -> None:
    """Check for the same members, the same links, and the same ways back."""
    members, trails = driven.state.members, driven.state.trails
    assert set(np.flatnonzero(members.root != NONE)) == set(overlay.rows)
    assert links_of(driven, overlay.network) == {(min(a, b), max(a, b)) for a, b in overlay.links}
    for w, row in enumerate(overlay.initiators):
        for i, back in zip(overlay.rows[overlay.walk == w], overlay.back[overlay.walk == w],
                           strict=True):  # fmt: skip
            place = np.flatnonzero(trails.initiator[i] == row)
            assert trails.back[i, place].tolist() == [back]
    assert members.walks_seen.max() <= trails.shape[1], "give the nodes more trails"


# Nodes mark only the walks that left them: the bulk driver alone has `marking="reached"`.
BOTH = [recipe for recipe in RECIPES if "marking" not in recipe]
OF_ALGORITHM_2: tuple[dict[str, Any], ...] = ({}, {"system": "random-walk"})


@cache
def both(recipe: int, seed: int) -> tuple[WalkOverlay, Driven]:
    """The overlay of nine initiators by a recipe of BOTH, in bulk and by messages."""
    network = disk(n=70, radius=0.22, seed=seed)
    initiators = np.random.default_rng(seed).permutation(network.n)[:9].tolist()
    overlay = Overlays(network).build(initiators, seed=seed, **BOTH[recipe])
    return overlay, by_messages(network, initiators, seed, BOTH[recipe])


def check_same_walks(recipe: dict[str, Any]) -> None:
    """Check for the same overlays on three networks, each of one root, unless no walk joined."""
    for seed in range(3):
        overlay, driven = both(BOTH.index(recipe), seed)
        if overlay.joined[0]:
            assert overlay.joined.all()
            same(driven, overlay)
            assert len(set(driven.state.members.root[overlay.rows])) == 1


@pytest.mark.parametrize("recipe", OF_ALGORITHM_2)
def test_a_walk_by_messages_adds_the_nodes_that_the_bulk_walk_adds(recipe: Any) -> None:
    """[dwo Alg. 1, Alg. 2] An initiator is an overlay of one node, and its walk adds nodes."""
    check_same_walks(recipe)


@pytest.mark.parametrize("recipe", [recipe for recipe in BOTH if recipe not in OF_ALGORITHM_2])
def test_branches_and_weights_build_the_same_overlay_in_both_drivers(recipe: Any) -> None:
    """[dwo §IV] Walks of one or two branches, and of two weights (2)."""
    check_same_walks(recipe)


@pytest.mark.parametrize("recipe", OF_ALGORITHM_2)
def test_a_walk_by_messages_ends_where_it_intersects_another_walk(recipe: Any) -> None:
    """[dwo §V-B; Alg. 2, line 22] One link joins two walks, and each initiator is connected."""
    for seed in range(3):
        overlay, driven = both(BOTH.index(recipe), seed)
        walk_of = dict(zip(overlay.rows.tolist(), overlay.walk.tolist(), strict=True))
        links = links_of(driven, overlay.network)
        between = {(a, b) for a, b in links if walk_of[a] != walk_of[b]}
        walks = len(set(overlay.walk.tolist()))
        assert len(between) == walks - 1
        met = zip(overlay.met_from.tolist(), overlay.met_at.tolist(), strict=True)
        assert between == {(min(a, b), max(a, b)) for a, b in met if a >= 0}
        connected = driven.reported(CONNECTED)
        assert sorted({row for row, _, _ in connected}) == sorted(overlay.initiators.tolist())


def test_an_initiator_in_the_overlay_needs_no_walk_by_messages() -> None:
    """[dwo Alg. 2, line 4] Node 3 is connected at once: no node has a trail of its walk."""
    driven = by_messages(line(9), [0, 8, 3], 1, {})
    assert [row for row, _, _ in driven.reported(CONNECTED) if row == 3] == [3]
    assert not (driven.state.trails.initiator == 3).any()
    assert links_of(driven, line(9)) == {(i, i + 1) for i in range(8)}


@pytest.mark.parametrize(
    "network", [line(2), line(9), from_links(6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (3, 5)])]
)
def test_both_agree_where_walks_must_turn_back(network: Network) -> None:
    """[dwo §V-B] "goes back in the DRW to search for the nearest non traversed neighbor"."""
    for a in range(network.n):
        for b in range(network.n):
            if a != b:
                overlay = Overlays(network).build([a, b], seed=5)
                same(by_messages(network, [a, b], 5, {}), overlay)


def test_a_walk_alone_in_its_component_reports_lost() -> None:
    network = from_links(7, [(0, 1), (1, 2), (1, 3), (4, 5), (5, 6)])
    driven = by_messages(network, [0, 4], 1, {})
    assert [row for row, _, _ in driven.reported(LOST)] == [0, 4]
    assert driven.reported(CONNECTED) == []
    same(driven, Overlays(network).build([0, 4], seed=1))


def test_a_walk_that_reaches_most_steps_goes_back_and_reports_lost() -> None:
    network = line(30)
    slow = rules(most_steps=5)
    world = World(
        network, walk_overlay, lambda n: blank(n, 2, 3), slow,
        [Command(0.0, 0, JOIN)],
    )  # fmt: skip
    driven = drive(world)
    assert driven.reported(LOST) == [(0, -1, -1)]
    assert np.flatnonzero(driven.state.members.root == 0).tolist() == [0, 1, 2, 3, 4, 5]
