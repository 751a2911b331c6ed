"""The bulk model of the underlay-aware tree and the messages: the same share of deliveries."""

from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest

from halfway.bulk.broker_trees.broker_overlay import Overlay, tops
from halfway.bulk.broker_trees.delivery_ratio import (
    Element,
    FaultModel,
    delivered_share,
    draw_faults,
    fail_element,
)
from halfway.bulk.broker_trees.guarantees import has_second
from halfway.bulk.broker_trees.join import join, nearest
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND, is_nearer
from halfway.protocols.broker_trees.paths.nearby import nearest_but, none_nearby
from halfway.protocols.broker_trees.records.messages import SUBSCRIBE
from halfway.world.underlays.routes import shortest
from halfway.world.workload.content import Content
from tests.bulk.broker_trees.test_broker_overlay import wired
from tests.interpreted import uncompiled
from tests.networks import from_links
from tests.protocols.broker_trees.routes import path_of, routes_of
from tests.protocols.broker_trees.test_siena import FILTERS, MANY, MATCHES, VALUES
from tests.protocols.broker_trees.test_underlay_siena import (
    BROKERS,
    LONG,
    NODES,
    LiveTree,
)

SHAPES = {
    "star": nx.star_graph(NODES - 1),
    "chain": nx.path_graph(NODES),
    "random tree 1": nx.random_labeled_tree(NODES, seed=1),
    "random tree 2": nx.random_labeled_tree(NODES, seed=2),
    "ring": nx.cycle_graph(NODES),
    "hubs and a bridge": nx.barbell_graph(NODES // 2, 0),
    "power law": nx.barabasi_albert_graph(NODES, 1, seed=4),
    "chords": nx.newman_watts_strogatz_graph(NODES, 2, 0.5, seed=3),
}


class Load(NamedTuple):
    """A content workload for both levels: its content, and the ids of its filters and values."""

    content: Content
    filters: list[int]  # of each broker's client
    values: list[int]  # of each event


def underlay_links(shape: str) -> nx.Graph:
    """The links of an underlay of that shape, whose nodes have a random order."""
    order = np.random.default_rng(5).permutation(NODES).tolist()
    return nx.relabel_nodes(SHAPES[shape], dict(enumerate(order)))


def grown(shape: str) -> Overlay:
    """Brokers that joined on the first rows of an underlay of that shape."""
    overlay = Overlay(wired(from_links(NODES, underlay_links(shape).edges)))
    for row in range(BROKERS):
        join(overlay, row)
    return overlay


def drawn(seed: int) -> Load:
    """A filter for each broker's client; each publishes one event before and one after 0.5."""
    random = np.random.default_rng(seed)
    some = [MANY - 1, *random.integers(0, MANY, BROKERS - 1).tolist()]
    values = random.integers(0, len(VALUES), 2 * BROKERS).tolist()
    wanted = MATCHES[values][:, some].astype(np.int64)
    at = np.concatenate([np.full(BROKERS, 0.1), np.full(BROKERS, 0.9)])
    home = np.arange(BROKERS)
    content = Content(home, FILTERS, VALUES[values], np.tile(home, 2), at, wanted)
    return Load(content, some, values)


def fail(live: LiveTree, fault: Element) -> None:
    """Kill a node, or cut a link."""
    a, b = fault
    if a == b:
        live.kill(a)
    else:
        live.cut(a, b, True)


def share_of_messages(overlay: Overlay, load: Load, fault: Element, *, given: bool = True) -> float:
    """The delivered share message by message; the second half is published after detection.

    given: whether the brokers are given the tree and its paths, or learn them by messages.
    """
    live = LiveTree(overlay, routes_of(overlay) if given else None, tau_s=np.inf)
    for number, f in enumerate(load.filters):
        live.say(live.row(number), int(SUBSCRIBE), f)
    live.settle(10.0 if given else LONG)
    heard: list[tuple[int, int]] = []
    for half in np.split(np.arange(2 * BROKERS), 2):
        for event in half:
            live.publish(live.row(int(load.content.publisher[event])), load.values[event])
        heard += live.settle(5.0)
        if half[0] == 0:
            fail(live, fault)
            live.settle(LONG)
    assert len(heard) == len(set(heard))
    return len(heard) / int(load.content.wanted.sum())


def share_in_flight(overlay: Overlay, load: Load, fault: Element, confirm_s: float) -> float:
    """The delivered share where an event is published every 20 ms, before and after a cut link."""
    live = LiveTree(overlay, routes_of(overlay), tau_s=np.inf, confirm_s=confirm_s)
    for number, f in enumerate(load.filters):
        live.say(live.row(number), int(SUBSCRIBE), f)
    live.settle(10.0)
    heard: list[tuple[int, int]] = []
    for event in range(2 * BROKERS):
        if event == BROKERS:
            live.cut(*fault, True)
        live.publish(live.row(int(load.content.publisher[event])), load.values[event])
        heard += live.settle(0.02)
    heard += live.settle(LONG)
    assert len(heard) == len(set(heard))
    return len(heard) / int(load.content.wanted.sum())


@pytest.mark.parametrize("shape", ["ring", "chords", "hubs and a bridge"])
def test_with_confirmations_a_cut_link_loses_no_event_in_flight(shape: str) -> None:
    """[uas §4.1] "while it tries to send": the other path is used at once, as in the bulk model.

    PINGs detect the same failures, but later: events are lost until then.
    """
    overlay = grown(shape)
    faults = [f for f in draw_faults(overlay, "used", 20, 3) if f[0] != f[1]]
    lost = 0
    for k, fault in enumerate(faults):
        some = drawn(k)
        bulk = delivered_share(
            overlay.twin(), "underlay-siena", some.content, [fault], repairs=False
        )
        pings, confirmed = (share_in_flight(overlay, some, fault, s) for s in (0.0, 0.3))
        assert confirmed >= bulk
        assert confirmed == bulk or not fragments_apart(overlay, shape, fault)
        assert pings <= confirmed
        lost += pings < bulk
    assert len(faults) > 3
    assert lost > 0


def fragments_apart(overlay: Overlay, shape: str, fault: Element) -> bool:
    """Whether no two fragments of the broker tree can reach each other past the fault."""
    failed = overlay.twin()
    fail_element(failed, fault)
    graph = underlay_links(shape)
    graph.remove_edges_from([fault])
    if fault[0] == fault[1]:
        graph.remove_node(fault[0])
    roots = [
        {top for k, top in tops(failed).items() if overlay[k].row in rows}
        for rows in nx.connected_components(graph)
    ]
    return all(len(some) <= 1 for some in roots)


@pytest.mark.parametrize("where", ["links", "nodes", "used"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.long
def test_without_repairs_the_bulk_model_delivers_what_the_messages_deliver(
    shape: str, where: FaultModel
) -> None:
    """[uas §5, Figure 5] After each of twelve failures, unless two fragments could still reach each
    other.

    Then the messages deliver at least as much: brokers also ask the root and its successor, which
    the bulk model leaves to repairs.
    """
    overlay = grown(shape)
    equal = 0
    for k, fault in enumerate(draw_faults(overlay, where, 12, 3)):
        some = drawn(k)
        bulk = delivered_share(
            overlay.twin(), "underlay-siena", some.content, [fault], repairs=False
        )
        messages = share_of_messages(overlay, some, fault)
        if fragments_apart(overlay, shape, fault):
            equal += 1
            assert messages == bulk
        else:
            assert messages >= bulk
    assert equal >= 10


def learnt(overlay: Overlay) -> LiveTree:
    """The tree of the same brokers, which start in the same order and learn all by messages."""
    live = LiveTree(overlay, None)
    live.settle(LONG)
    return live


@pytest.mark.parametrize("shape", SHAPES)
def test_brokers_that_start_in_turn_form_the_tree_of_the_bulk_overlay(shape: str) -> None:
    """[uas §4, Algorithm 1] the same parents and grandparents, and the same direct paths."""
    overlay = grown(shape)
    live = learnt(overlay)
    state = live.state
    for number, broker in overlay.brokers.items():
        b = int(state.broker_index[broker.row])
        assert live.parent(number) == broker.parent
        if broker.direct is None or broker.second is None:
            continue
        parent = overlay[broker.parent].row
        x, y = (path_of(state, broker.row, parent, sort) for sort in (DIRECT, SECOND))
        if len(x) == broker.direct.hops + 1:  # the bulk model moves x where no y is beside it
            assert x == broker.direct.rows.tolist()
        assert int(state.grandparent[b]) == overlay[broker.parent].parent or broker.grandparent < 0
        if has_second(broker) and beside_exists(shape, x):
            assert not {*x[1:-1]} & {*y[1:-1]}


@pytest.mark.parametrize("shape", SHAPES)
def test_both_levels_choose_the_same_parent_and_of_equally_near_brokers_the_first(
    shape: str,
) -> None:
    """[uas §4, Algorithm 1] "The choice is based on the proximity … in terms of number of IP hops".

    A node and the bulk model call one decision, `is_nearer`. The node has heard of the brokers in
    any order.
    """
    overlay, random, ties = grown(shape), np.random.default_rng(7), 0
    for row in range(NODES):
        tree = shortest(overlay.underlay.network, overlay.hop, row, overlay.closed)
        hops = tree.weight[:BROKERS].astype(np.int32)
        heard = none_nearby(1, BROKERS)
        order = random.permutation(BROKERS)
        heard.broker[0], heard.hops[0] = order, hops[order]
        chosen = nearest(overlay, tree, list(range(BROKERS)))
        assert uncompiled(nearest_but)(heard, 0, -1) == chosen == int(hops.argmin())
        ties += int((hops == hops.min()).sum() > 1)
    assert ties > 0


@pytest.mark.parametrize("shape", SHAPES)
def test_by_messages_the_alternate_is_the_nearest_other_child_of_the_parent(shape: str) -> None:
    """[uas §4] "proximity … in terms of number of IP hops", by the decision of the bulk model."""
    overlay = grown(shape)
    live = learnt(overlay)
    state, graph = live.state, underlay_links(shape)
    for number, broker in overlay.brokers.items():
        b = int(state.broker_index[broker.row])
        far = nx.single_source_shortest_path_length(graph, broker.row)
        others = [
            one.row
            for k, one in overlay.brokers.items()
            if k != number and live.parent(k) == live.parent(number)
        ]
        best = -1
        if state.grandparent[b] >= 0:
            for row in others:
                if best < 0 or uncompiled(is_nearer)(far[row], row, far[best], best):
                    best = row
        assert state.alternate[b] == best


def beside_exists(shape: str, x: list[int]) -> bool:
    """Whether the underlay has a path between the same ends that shares nothing else with x."""
    graph = underlay_links(shape)
    graph.remove_nodes_from(x[1:-1])
    if len(x) == 2:
        graph.remove_edge(*x)
    return bool(nx.has_path(graph, x[0], x[-1]))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_learnt_tree_delivers_after_a_failure_what_the_bulk_model_delivers(shape: str) -> None:
    """[uas Fig. 5] the brokers find their own paths; they may find others than the bulk model."""
    overlay = grown(shape)
    bulk, messages = [], []
    for k, fault in enumerate(draw_faults(overlay, "used", 8, 3)):
        some = drawn(k)
        bulk.append(
            delivered_share(overlay.twin(), "underlay-siena", some.content, [fault], repairs=False)
        )
        messages.append(share_of_messages(overlay, some, fault, given=False))
    assert np.mean(messages) >= np.mean(bulk)
