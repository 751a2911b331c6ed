"""Brokers that are not given the root: they learn it when they enter, or found a tree."""

from types import ModuleType

import numpy as np
import pytest

from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import ANNOUNCE, ENTER, JOIN, REFRESH, SEARCH
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import BrokerPeriod
from tests.networks import line
from tests.protocols.broker_trees.test_roots import OTHER, OWN, Broker

TREES = [siena, underlay_siena]
LOWER, HIGHER = 3, 50  # ids of other roots


def outside(module: ModuleType) -> Broker:
    """A broker that has not entered its tree yet, and was not given the root."""
    broker = Broker(module, int(NONE))
    broker.state.parent[0] = OUTSIDE
    return broker


@pytest.mark.parametrize("module", TREES)
def test_a_broker_that_hears_of_no_broker_founds_a_tree(module: ModuleType) -> None:
    broker = outside(module)
    sent = [one for one in broker.hear(ENTER, OWN) if one.kind == ANNOUNCE]
    assert broker.state.parent.tolist() == [NONE]
    assert broker.state.root.tolist() == [OWN]
    assert [(one.next, one.args[messages.ROOT]) for one in sent] == [(EVERYONE, OWN)]


@pytest.mark.parametrize("module", TREES)
def test_a_broker_learns_the_root_from_the_nearest_broker(module: ModuleType) -> None:
    broker = outside(module)
    broker.hear(ANNOUNCE, OTHER, hops=1, number=1, root=HIGHER)
    sent = broker.hear(ENTER, OWN)
    assert broker.state.parent.tolist() == [SEEKING]
    assert broker.state.root.tolist() == [HIGHER]
    assert {int(one.target) for one in sent if one.kind in (JOIN, SEARCH)} == {OTHER}
    if module is underlay_siena:
        assert broker.state.founder.tolist() == [HIGHER]


@pytest.mark.parametrize("module", TREES)
def test_a_broker_that_was_given_the_root_keeps_it(module: ModuleType) -> None:
    broker = Broker(module, HIGHER)
    broker.state.parent[0] = OUTSIDE
    broker.hear(ENTER, OWN)
    assert broker.state.parent.tolist() == [SEEKING]
    assert broker.state.root.tolist() == [HIGHER]


def test_a_root_of_siena_joins_the_tree_of_a_root_with_a_lower_id() -> None:
    root = Broker(siena, OWN)
    root.hear(ANNOUNCE, OTHER, hops=1, number=1, root=HIGHER)
    root.hear(REFRESH, OWN)
    assert root.state.parent.tolist() == [NONE]
    root.hear(ANNOUNCE, OTHER, hops=1, number=2, root=LOWER)
    sent = root.hear(REFRESH, OWN)
    assert root.state.parent.tolist() == [SEEKING]
    assert root.state.root.tolist() == [LOWER]
    assert {int(one.target) for one in sent if one.kind in (JOIN, SEARCH)} == {OTHER}


def run_of(enter_s: list[float]) -> Simulation:
    """A run on a chain of brokers that enter at these times, and that are not given the root."""
    n = len(enter_s)
    brokers = tuple(BrokerPeriod(row, at) for row, at in enumerate(enter_s))
    late = [(40.0 + at, row, 0) for at, row in enumerate((0, n - 1))]
    run = Simulation(
        "siena",
        line(n),
        workload=Listed([(row, 0) for row in range(n)], late, brokers=brokers),
        seed=1,
        seconds=50.0,
        radio=IdealRadio(delay_s=0.001),
        stretch=False,
        options={"refresh_s": 1.0, "join_delay_s": 0.5},
        nodes=NodeSettings(ids=np.arange(9, 9 - n, -1, dtype=np.int32)),
        inspection=Inspection(check=True),
    )
    run.instance.state.root[:] = NONE
    run.run()
    return run


@pytest.mark.parametrize("enter_s", [[0.5, 2, 3, 4, 3, 2, 0.5], [0.5, 0.5], [0.5, 1, 2, 3, 4]])
def test_trees_of_siena_that_were_founded_apart_become_one(enter_s: list[float]) -> None:
    """Both ends of the chain found a tree at the same time, and the ends of both trees meet."""
    run = run_of(enter_s)
    state, lowest = run.instance.state, 9 - len(enter_s) + 1
    founder = lowest if enter_s[-1] == enter_s[0] else 9
    assert set(state.root.tolist()) == {founder}
    assert (state.parent == NONE).sum() == 1
    assert (state.parent != SEEKING).all()
    outcome = run.outcome()
    assert outcome.delivered == outcome.expected > 0
