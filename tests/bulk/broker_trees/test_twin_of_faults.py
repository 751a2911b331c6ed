"""Faults one after another [uas Fig. 5]: the bulk model and the messages deliver the same share.

As in the figure, the faults occur evenly over a run and stay. Both trees run, with and without
repairs, under all models of faults.
"""

from typing import get_args

import networkx as nx
import numpy as np
import pytest

from halfway.bulk.broker_trees.broker_overlay import Overlay
from halfway.bulk.broker_trees.delivery_ratio import (
    Element,
    FaultModel,
    delivered_share,
    draw_faults,
)
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.records.messages import SUBSCRIBE
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.world.workload.content import Content
from tests.bulk.broker_trees.test_twin import SHAPES, Load, fail, grown, underlay_links
from tests.protocols.broker_trees.routes import routes_of
from tests.protocols.broker_trees.test_siena import FILTERS, MANY, MATCHES, VALUES
from tests.protocols.broker_trees.test_underlay_siena import (
    BROKERS,
    CLIENTS,
    HERE,
    LONG,
    NODES,
    SLOTS,
    LiveTree,
    plant,
)
from tests.protocols.rules_of import rules_of

FAULTS = 4


def drawn(seed: int) -> Load:
    """A filter for each broker's client; each publishes before the first fault and after each."""
    random, turns = np.random.default_rng(seed), FAULTS + 1
    some = [MANY - 1, *random.integers(0, MANY, BROKERS - 1).tolist()]
    values = random.integers(0, len(VALUES), turns * BROKERS).tolist()
    wanted = MATCHES[values][:, some].astype(np.int64)
    at = np.repeat((np.arange(turns) + 0.9) / turns, BROKERS)
    home = np.arange(BROKERS)
    content = Content(home, FILTERS, VALUES[values], np.tile(home, turns), at, wanted)
    return Load(content, some, values)


def share_of_messages(live: LiveTree, load: Load, faults: list[Element]) -> float:
    """The delivered share message by message; each turn is published after the detection."""
    for number, f in enumerate(load.filters):
        live.say(live.row(number), int(SUBSCRIBE), f)
    live.settle(10.0)
    heard: list[tuple[int, int]] = []
    for turn, events in enumerate(np.split(np.arange(len(load.values)), FAULTS + 1)):
        for event in events:
            live.publish(live.row(int(load.content.publisher[event])), load.values[event])
        heard += live.settle(5.0)
        if turn < FAULTS:
            fail(live, faults[turn])
            live.settle(LONG)
    assert len(heard) == len(set(heard))
    return len(heard) / int(load.content.wanted.sum())


class UnmodifiedTree(LiveTree):
    """The tree of unmodified SIENA, on the same direct paths; its brokers refresh nothing."""

    system = siena

    def __init__(self, overlay: Overlay) -> None:
        given = routes_of(overlay)
        super().__init__(overlay, given)
        rows = np.array([overlay[k].row for k in range(BROKERS)], np.int32)
        self.state = siena.state(
            np.arange(NODES, dtype=np.int32), rows, int(rows[0]), SLOTS, circuit_slots=256,
            clients=ClientCapacity(CLIENTS, SLOTS, 1, HERE), attributes=VALUES.shape[1],
        )  # fmt: skip
        plant(self.state, overlay, given._replace(second={}))
        self.rules = rules_of(siena, catalogue=Catalogue(FILTERS, VALUES), refresh_s=1e6)


def connected_share(overlay: Overlay, shape: str, load: Load, faults: list[Element]) -> float:
    """The share whose publishers and subscribers the underlay connects: the flat oracle."""
    graph, arrived = underlay_links(shape), 0
    turns = np.split(np.arange(len(load.values)), FAULTS + 1)
    for events, fault in zip(turns, [None, *faults], strict=True):
        if fault is not None and fault[0] == fault[1]:
            graph.remove_node(fault[0])
        elif fault is not None and graph.has_edge(*fault):
            graph.remove_edge(*fault)
        for part in nx.connected_components(graph):
            here = np.array([k for k in range(BROKERS) if overlay[k].row in part], np.int64)
            some = events[np.isin(load.content.publisher[events], here)]
            arrived += int(load.content.wanted[np.ix_(some, here)].sum())
    return arrived / int(load.content.wanted.sum())


@pytest.mark.parametrize("where", get_args(FaultModel))
def test_unmodified_siena_loses_the_same_on_both_levels(where: FaultModel) -> None:
    lost = 0
    for shape in SHAPES:
        overlay, load = grown(shape), drawn(1)
        faults = draw_faults(overlay, where, FAULTS, 1)
        bulk = delivered_share(overlay.twin(), "siena", load.content, faults)
        assert share_of_messages(UnmodifiedTree(overlay), load, faults) == bulk
        lost += bulk < connected_share(overlay, shape, load, faults)
    assert lost > 0


@pytest.mark.parametrize("tau_s", [2.0, np.inf])
@pytest.mark.parametrize("where", get_args(FaultModel))
@pytest.mark.long
def test_the_underlay_aware_tree_loses_the_same_on_both_levels(
    where: FaultModel, tau_s: float
) -> None:
    """With repairs after `tau_s`, and without them.

    Brokers also ask the root and its successor, which the bulk model leaves to repairs. So the
    messages may deliver more where two fragments could still reach each other.
    """
    more = []
    for shape in SHAPES:
        overlay, load = grown(shape), drawn(2)
        faults = draw_faults(overlay, where, FAULTS, 2)
        bulk = delivered_share(
            overlay.twin(), "underlay-siena", load.content, faults, repairs=tau_s < np.inf
        )
        messages = share_of_messages(LiveTree(overlay, routes_of(overlay), tau_s), load, faults)
        assert bulk <= messages <= connected_share(overlay, shape, load, faults)
        more.append(messages - bulk)
    assert more.count(0.0) >= 6
    assert np.mean(more) < 0.03
