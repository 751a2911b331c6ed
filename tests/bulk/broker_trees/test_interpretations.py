"""Interpretations of what paper 5 leaves open: alternates, neighbours, fallbacks, detection."""

import networkx as nx
import numpy as np
import pytest

from halfway.bulk.broker_trees import join as joins
from halfway.bulk.broker_trees.broker_overlay import (
    NO_BROKER,
    Fallback,
    Overlay,
    Proximity,
    Rules,
    linked,
    next_hop_up,
)
from halfway.bulk.broker_trees.delivery_ratio import (
    FaultModel,
    delivered_share,
    draw_faults,
    fail_element,
)
from halfway.bulk.broker_trees.guarantees import has_second
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.overlay_repair import repair
from halfway.problem import Problem
from halfway.world.underlays.underlay import Underlay
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.content import content
from tests.networks import from_links

PRINTED = Rules(retry=False, bare_path=False)


def grown(seed: int, rules: Rules, brokers: int = 40) -> Overlay:
    """Brokers that joined on random nodes of a small Waxman network."""
    overlay = Overlay(waxman(Waxman(n=200, side=200), seed), rules)
    for row in np.random.default_rng(seed).choice(200, brokers, replace=False):
        join(overlay, int(row))
    return overlay


@pytest.mark.parametrize(("proximity", "expected"), [("leg", 2), ("hops", 1)])
def test_the_alternate_is_the_nearest_in_hops_where_the_rules_say_so(
    proximity: Proximity, expected: int
) -> None:
    """[uas §4] "based on the proximity in terms of number of IP hops": node 3 is two hops from node
    2 by way of the direct path's router 1, but four hops around it; node 4 is three hops away."""
    links = [(0, 1), (1, 2), (1, 3), (2, 5), (5, 6), (6, 9), (9, 3), (2, 7), (7, 8), (8, 4), (3, 0)]
    network = from_links(10, [*links, (4, 0)])
    ones = np.full(len(network.who), 1e-3)
    rules = PRINTED._replace(proximity=proximity)
    overlay = Overlay(Underlay(network, ones, 1e10 * ones), rules)
    for row in (0, 3, 4, 2):
        join(overlay, row)
    assert overlay[3].parent == 0
    assert overlay[3].alternate == expected


def test_all_links_are_neighbours_where_the_rules_say_so() -> None:
    """[uas §4] Neighbors() by all links: both ends know a link, and y ends with one of them."""
    more = 0
    for seed in range(4):
        tree = grown(seed, PRINTED)
        overlay = grown(seed, PRINTED._replace(neighbours="links"))
        for number, broker in overlay.brokers.items():
            near = overlay.neighbours(number)
            assert set(near) >= {*tree.neighbours(number)}
            assert all(number in overlay.neighbours(other) for other in near)
            if broker.second is None:
                continue
            assert has_second(broker)
            last = broker.second.rows[broker.bend :].tolist()
            ends = overlay[broker.alternate], overlay[broker.parent]
            links = [rows.tolist() for end in ends for _, rows in linked(end)]
            assert last in links or last[::-1] in links
        seconds = [sum(b.second is not None for b in o.brokers.values()) for o in (overlay, tree)]
        assert seconds[0] >= seconds[1]
        more += seconds[0] - seconds[1]
    assert more > 0


def test_a_join_probes_the_neighbours_of_its_parent_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """[uas §4] "the node joining involves probing all the neighbors of the parent Broker"."""
    probed: list[int] = []
    plain = joins._link_to_parent

    def probing(overlay: Overlay, broker: joins.Broker, alternate: int) -> joins.Rows:
        probed.append(alternate)
        return plain(overlay, broker, alternate)

    monkeypatch.setattr(joins, "_link_to_parent", probing)
    overlay = Overlay(waxman(Waxman(n=200, side=200), 3), PRINTED)
    total = 0
    for row in np.random.default_rng(3).choice(200, 40, replace=False):
        probed.clear()
        number = join(overlay, int(row))
        near = set(overlay.neighbours(overlay[number].parent)) if number else set()
        assert set(probed) <= near - {number}
        assert len(probed) == len(set(probed))
        total += len(probed)
    assert total > 40


@pytest.mark.parametrize("fallback", ["grandparent", "alternate"])
def test_a_child_joins_its_alternate_first_where_the_rules_say_so(fallback: Fallback) -> None:
    """[uas §4.1] "the child node has to join its grand parent or the alternate"."""
    moved = 0
    for seed in range(4):
        rules = PRINTED._replace(fallback=fallback)
        overlay = grown(seed, rules)
        for broker in overlay.brokers.values():
            up, other = broker.grandparent, broker.alternate
            if NO_BROKER in (up, other) or up == other or broker.direct is None:
                continue
            after = overlay.twin()
            a, b = broker.direct.rows[:2].tolist()
            after.set_link(a, b, down=True)
            repair(after)
            expected = other if fallback == "alternate" else up
            if after[broker.number].parent == expected:
                moved += 1
            else:  # the cut has taken the other paths as well
                served = [one for one in (up, other) if one == after[broker.number].parent]
                assert not served or broker.upper is None or not broker.upper.is_open(after.closed)
    assert moved > 10


@pytest.mark.parametrize("where", ["used", "brokers"])
def test_until_a_failure_is_detected_events_on_dead_paths_are_lost(where: FaultModel) -> None:
    """Brute force over pairs of brokers: before the fault, until the detection, and after it."""
    lost = 0
    for seed in range(6):
        overlay, drawn = grown(seed, PRINTED, 20), content(20, 60, 400, "all", seed)
        faults = draw_faults(overlay, where, 1, seed)
        share = [
            delivered_share(
                overlay.twin(), "underlay-siena", drawn, faults, repairs=False, detection=late
            )
            for late in (0.0, 0.2)
        ]
        failed = overlay.twin()
        fail_element(failed, faults[0])
        hops = {number: next_hop_up(overlay, broker) for number, broker in overlay.brokers.items()}
        again = {n: next_hop_up(failed, b) for n, b in failed.brokers.items() if failed.is_up(n)}
        arrived = 0
        for event, at in enumerate(drawn.at):
            forest = nx.Graph()
            forest.add_nodes_from(again if at >= 0.5 else hops)
            for number, hop in (hops if at < 0.7 else again).items():
                if hop is None:
                    continue
                ends_up = failed.is_up(number) and failed.is_up(hop[0])
                if at < 0.5 or (ends_up and hop[1].is_open(failed.closed)):
                    forest.add_edge(number, hop[0])
            source = int(drawn.publisher[event])
            if source in forest:
                reached = nx.node_connected_component(forest, source)
                arrived += int(drawn.wanted[event, list(reached)].sum())
        assert share[1] == pytest.approx(arrived / drawn.wanted.sum())
        assert share[1] <= share[0]
        lost += share[1] < share[0]
    assert lost > 0


def test_a_detection_after_the_repair_is_refused() -> None:
    overlay, drawn = grown(1, PRINTED, 20), content(20, 60, 50, "all", 1)
    faults = draw_faults(overlay, "used", 3, 1)
    with pytest.raises(Problem, match=r"detection = 0.02: expected 0 or more, below 0.01"):
        delivered_share(overlay, "underlay-siena", drawn, faults, detection=0.02)
