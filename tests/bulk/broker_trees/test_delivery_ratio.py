"""Figure 5's runs: deliveries under faults, against brute force over pairs of brokers."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.bulk.broker_trees.broker_overlay import NO_BROKER, Overlay, Rules, next_hop_up
from halfway.bulk.broker_trees.delivery_ratio import (
    delivered_share,
    draw_faults,
    fail_element,
    moved,
)
from halfway.bulk.broker_trees.join import join
from halfway.problem import Problem
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.content import content

BROKERS = 20


def grown(seed: int) -> Overlay:
    """Brokers that joined on random nodes of a small Waxman network."""
    overlay = Overlay(waxman(Waxman(n=120, side=100), seed), Rules())
    for row in np.random.default_rng(seed).choice(120, BROKERS, replace=False):
        join(overlay, int(row))
    return overlay


def talk(overlay: Overlay, system: str) -> set[tuple[int, int]]:
    """Pairs of brokers connected by live hops, by search over the hops."""
    near: dict[int, set[int]] = {k: set() for k in overlay.brokers if overlay.is_up(k)}
    for number in list(near):
        broker = overlay[number]
        hop = next_hop_up(overlay, broker)
        if system == "siena" and hop is not None and hop[1] is not broker.direct:
            hop = None
        if hop is not None:
            near[number].add(hop[0])
            near[hop[0]].add(number)
    found = set()
    for start in near:
        seen, waiting = {start}, [start]
        while waiting:
            new = near[waiting.pop()] - seen
            seen |= new
            waiting += new
        found |= {(start, other) for other in seen}
    return found


@settings(max_examples=20)
@given(
    st.integers(0, 30),
    st.sampled_from(["links", "nodes", "used", "brokers"]),
    st.sampled_from(["siena", "underlay-siena"]),
)
def test_events_are_delivered_among_connected_brokers(seed: int, where: str, system: str) -> None:
    overlay, drawn = grown(seed), content(BROKERS, 60, 50, "all", seed)
    faults = draw_faults(overlay, where, 4, seed)  # type: ignore[arg-type]
    share = delivered_share(overlay.twin(), system, drawn, faults, repairs=False)  # type: ignore[arg-type]
    arrived = 0
    for event, at in enumerate(drawn.at):
        now = overlay.twin()
        for k, fault in enumerate(faults):
            if (k + 1) / 5 <= at:
                fail_element(now, fault)
        pairs = talk(now, system)
        for broker in range(BROKERS):
            if (int(drawn.publisher[event]), broker) in pairs:
                arrived += int(drawn.wanted[event, broker])
    assert share == pytest.approx(arrived / drawn.wanted.sum())


def test_the_underlay_aware_tree_never_delivers_less() -> None:
    for seed in range(6):
        overlay, drawn = grown(seed), content(BROKERS, 60, 200, "selective", seed)
        faults = draw_faults(overlay, "used", 8, seed)
        plain = delivered_share(overlay.twin(), "siena", drawn, faults)
        aware = delivered_share(overlay.twin(), "underlay-siena", drawn, faults, repairs=False)
        assert plain <= aware


def test_without_faults_everything_arrives() -> None:
    drawn = content(BROKERS, 60, 50, "selective", 1)
    for system in ("siena", "underlay-siena"):
        assert delivered_share(grown(1), system, drawn, []) == 1.0


def test_fewer_faults_are_a_prefix_of_more() -> None:
    """[uas §5] "increasing number of link and node failures": distinct elements, never the root."""
    overlay = grown(2)
    for where in ("links", "nodes", "used", "brokers"):
        more = draw_faults(overlay, where, 12, 7)
        assert draw_faults(overlay, where, 5, 7) == more[:5]
        assert len(set(more)) == 12
        assert all(overlay[overlay.root].row != a for a, b in more if a == b)


def test_a_dead_broker_leaves_and_its_children_are_served_again() -> None:
    """[uas §4.1] "operation of P on behalf of P": a dead broker leaves."""
    overlay = grown(3)
    number = next(k for k in overlay.brokers if k != overlay.root and overlay.children(k))
    row = overlay[number].row
    drawn = content(BROKERS, 200, 400, "all", 3)
    share = delivered_share(overlay, "underlay-siena", drawn, [(row, row)], tau=0.0)
    there = drawn.home == number
    late = drawn.at >= 0.5
    lost = late.sum() * there.sum()
    lost += (late & (drawn.publisher == number)).sum() * (200 - there.sum())
    assert number not in overlay.brokers
    assert overlay.root != NO_BROKER
    assert share == pytest.approx(1 - lost / drawn.wanted.sum())


def test_clients_that_move_lose_only_what_comes_before_the_repair() -> None:
    overlay = grown(3)
    number = next(k for k in overlay.brokers if k != overlay.root and overlay.children(k))
    row = overlay[number].row
    drawn = content(BROKERS, 200, 400, "all", 3)
    tau = 0.1
    share = delivered_share(overlay, "underlay-siena", drawn, [(row, row)], tau=tau, clients="move")
    here, others = (drawn.home == number).sum(), (drawn.home != number).sum()
    within = (drawn.at >= 0.5) & (drawn.at < 0.5 + tau)
    # All children fail over at once; the dead broker's clients neither hear nor are heard.
    lost = within.sum() * here + (within & (drawn.publisher == number)).sum() * others
    assert here
    assert lost
    assert share == pytest.approx(1 - lost / drawn.wanted.sum())


def test_clients_move_to_the_nearest_broker_that_reaches_the_root() -> None:
    overlay = grown(3)
    rows = {number: broker.row for number, broker in overlay.brokers.items()}
    drawn, leaf = content(BROKERS, 200, 40, "selective", 3), BROKERS - 1
    overlay.set_row(rows[leaf], down=True)
    after = moved(overlay, drawn, rows)
    graph = nx.Graph()
    network = overlay.underlay.network
    graph.add_edges_from((a, int(b)) for a in range(network.n) for b in network.neighbours(a))
    hops = {k: nx.shortest_path_length(graph, rows[leaf], rows[k]) for k in rows if k != leaf}
    to = min(hops, key=lambda k: (hops[k], k))
    assert (after.home[drawn.home == leaf] == to).all()
    assert (after.home == drawn.home)[drawn.home != leaf].all()
    assert not (after.publisher == leaf).any()
    assert (after.wanted.sum(axis=1) == drawn.wanted.sum(axis=1)).all()
    assert (after.wanted[:, to] == drawn.wanted[:, to] + drawn.wanted[:, leaf]).all()
    assert moved(overlay, after, rows).home.tolist() == after.home.tolist()


def test_unknown_arguments_are_refused() -> None:
    overlay = grown(4)
    with pytest.raises(Problem, match="where = 'sky': expected one of links, nodes"):
        draw_faults(overlay, "sky", 1, 1)  # type: ignore[arg-type]
    with pytest.raises(Problem, match="count = 20: expected at most 19 faults"):
        draw_faults(overlay, "brokers", 20, 1)
    with pytest.raises(Problem, match="system = 'tree': expected one of siena"):
        delivered_share(overlay, "tree", content(BROKERS, 2, 2, "all", 1), [])  # type: ignore[arg-type]
